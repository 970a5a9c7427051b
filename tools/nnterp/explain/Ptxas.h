// What NVIDIA's assembler says about kernels, where it is installed.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace nnterp {

struct KernelResources {
  int64_t registers = 0;                      ///< per thread
  int64_t stack = 0, spillStores = 0, spillLoads = 0; ///< bytes per thread
  int64_t shared = 0;                         ///< bytes per block, without dynamic ones
};

/// By kernel, from the output of `ptxas -v`.
std::map<std::string, KernelResources> parsePtxas(const std::string &output);

/// ptxas of PATH, else of $CUDA_HOME or $CUDA_PATH, else beside the nvcc of PATH; "" when there is none.
std::string findPtxas();

/// Assembles PTX for a chip. Nothing, with a reason in `why`, when there is no ptxas or it refuses the text.
std::optional<std::map<std::string, KernelResources>> assemble(const std::string &ptx, const std::string &chip, std::string &why);

} // namespace nnterp
