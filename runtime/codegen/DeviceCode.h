// From kernels in the LLVM and NVVM dialects to PTX.
#pragma once

#include "runtime/abi/Manifest.h"

#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
}

namespace nnterp {

/// What kernels are compiled for: the oldest GPUs with mma.sync on bfloat16. Newer ones run the same text.
inline constexpr const char *chipName = "sm_80";

/// The kernels of a module, in the order in which launches number them.
std::vector<KernelSpec> kernelSpecs(mlir::ModuleOp module);

/// Compiles every kernel on its own, so that its text does not depend on the others, and removes it from the module; `ptx` is one
/// module of all. Errors: NNT1110 when LLVM cannot compile a kernel, NNT1111 when one calls a library.
bool emitDeviceCode(mlir::ModuleOp module, std::string &ptx, Diagnostics &diags);

} // namespace nnterp
