// The table of GPUs. NVIDIA's data sheets: A100 80 GB SXM (2021), H100 SXM (2023), H200 SXM (2024), HGX B200 (2025) per
// GPU, GeForce RTX 4090 (Ada architecture whitepaper, 2022). Rates with structured sparsity, where a sheet gives only
// those, are halved.
#include "tools/nnterp/explain/Gpus.h"

#include <algorithm>
#include <cctype>

namespace nnterp {

const std::vector<Gpu> &gpus() {
  static const std::vector<Gpu> table = {
      {"A100", "sm_80", 312e12, 19.5e12, 2.039e12},      {"H100", "sm_90", 989.5e12, 67e12, 3.35e12},
      {"H200", "sm_90", 989.5e12, 67e12, 4.8e12},        {"B200", "sm_100", 2250e12, 75e12, 8e12},
      {"RTX4090", "sm_89", 165.2e12, 82.6e12, 1.008e12},
  };
  return table;
}

const Gpu *gpuByName(std::string_view name) {
  auto same = [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; };
  for (const Gpu &gpu : gpus())
    if (std::equal(name.begin(), name.end(), gpu.name.begin(), gpu.name.end(), same))
      return &gpu;
  return nullptr;
}

Roofline roofline(const Gpu &gpu, double flops, double bytes, bool matrixUnits) {
  const double computing = flops / (matrixUnits ? gpu.matrixFlops : gpu.plainFlops), moving = bytes / gpu.bandwidth;
  return {std::max(computing, moving), moving > computing};
}

} // namespace nnterp
