// From the LLVM dialect to the bytes of a shared object.
#pragma once

#include "runtime/codegen/Tiers.h"

#include <string>

namespace mlir {
class ModuleOp;
}

namespace nnterp {

class Diagnostics;

/// Optimises and compiles a module of the LLVM dialect for a tier and links it; `soBytes` is what dlopen reads.
///
/// Floating point is evaluated as written: nothing is contracted or reordered. The object refers to no symbol outside
/// itself but memcpy, memmove and memset; anything else is an error (NNT1111), as it would be found by luck. A module
/// that LLVM cannot compile is NNT1110, a linker that is missing or fails NNT1112.
/// `deviceCode`: the kernels of a program for a GPU, which the object carries as `nnterp_device_code`; else empty.
bool emitSharedObject(mlir::ModuleOp module, const Tier &tier, const std::string &deviceCode, std::string &soBytes,
                      Diagnostics &diags);

/// The module as LLVM IR text for that tier, before optimisation; empty when it cannot be translated.
std::string llvmIrText(mlir::ModuleOp module, const Tier &tier);

} // namespace nnterp
