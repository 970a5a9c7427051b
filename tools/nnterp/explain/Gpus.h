// What GPUs can do at most, from their makers' data sheets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

struct Gpu {
  std::string_view name;  ///< "H200"
  std::string_view chip;  ///< what ptxas calls it, "sm_90"
  double matrixFlops;     ///< per second: bfloat16 products with float32 sums, dense
  double plainFlops;      ///< per second: float32
  double bandwidth;       ///< bytes per second of its memory
};

const std::vector<Gpu> &gpus();
/// Null when there is none of that name; letters' case does not matter.
const Gpu *gpuByName(std::string_view name);

/// The time in which no GPU of the kind can do less: its operations and its memory's traffic overlap perfectly.
struct Roofline {
  double seconds = 0;
  bool memory = false; ///< the memory is what takes longer
};
Roofline roofline(const Gpu &gpu, double flops, double bytes, bool matrixUnits);

} // namespace nnterp
