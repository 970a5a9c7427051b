// LLVM's optimiser and code generators as this project runs them, for the host and for GPUs.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CodeGen.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace nnterp {

/// Optimises for the machine. No library function is known or invented but memcpy, memmove and memset.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Writes an object or assembly text; false when the machine cannot.
bool compileModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &output);

} // namespace nnterp
