// The key of a compiled program: equal keys, equal program.
#pragma once

#include "runtime/abi/Tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// "0.1.0": of the whole tool; in manifests, keys and output files.
std::string_view toolVersion();

/// Everything a program depends on.
struct ProgramKey {
  struct TensorInfo {
    std::string name;
    Shape shape;
    DType dtype;
  };

  std::string config;                ///< canonical text of the configuration
  std::vector<TensorInfo> inventory; ///< the checkpoint's tensors as the graph sees them
  std::string structure;             ///< canonical text of the plan's structure
  std::string target = "cpu";
  std::string tier;         ///< instruction tier
  DType dtype = DType::f32; ///< model dtype
  std::string compiler;     ///< which build of the compiler

  /// 32 hexadecimal digits. The tool's version and that of the ABI go in as well; the order of the inventory does not.
  std::string hex() const;
};

} // namespace nnterp
