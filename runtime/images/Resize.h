// Bicubic resizing with antialiasing, bit for bit as torch does it for bytes on a CPU (spec/qwen3_5_moe.md 5.4, step 3).
#pragma once

#include "runtime/images/Picture.h"

#include <vector>

namespace nnterp {

/// What one axis of `in` samples becomes one of `out` by: sample i is a sum of the samples from begin[i] on, each times a weight.
struct ResizeAxis {
  std::vector<int32_t> begin, count;
  std::vector<int16_t> weights; ///< `stride` per sample of the result, in units of 2^-precision
  int stride = 0, precision = 0;
};

ResizeAxis resizeAxis(int64_t in, int64_t out);

/// First along the width, rounded to bytes, then along the height; an axis that keeps its size is left alone.
Picture resized(Picture picture, int64_t width, int64_t height);

} // namespace nnterp
