// The size of an image in patches.
#pragma once

#include <cstdint>

namespace nnterp {

/// Frames, rows and columns of patches: a row of image_grid_thw. An image has one frame.
struct ImageGrid {
  int64_t t = 1, h = 0, w = 0;

  int64_t patches() const { return t * h * w; }
  /// How many tokens stand for it, where `merge` x `merge` patches become one.
  int64_t tokens(int64_t merge) const { return patches() / (merge * merge); }
  bool operator==(const ImageGrid &o) const { return t == o.t && h == o.h && w == o.w; }
};

} // namespace nnterp
