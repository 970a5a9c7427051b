// LLVM's optimiser and code generators as this project runs them, for the host and for GPUs.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CodeGen.h"

#include <memory>
#include <optional>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
class Triple;
} // namespace llvm
namespace mlir {
class Operation;
}

namespace nnterp {

/// A machine that evaluates floating point as written: nothing is contracted. Null with LLVM's reason in `error`.
std::unique_ptr<llvm::TargetMachine> makeMachine(const llvm::Triple &triple, llvm::StringRef cpu, llvm::StringRef features,
                                                 std::optional<llvm::Reloc::Model> relocation, std::string &error);

/// A module of the LLVM dialect (a builtin.module or gpu.module whose dialects have their translations) as LLVM IR for the machine; null
/// with what MLIR says about it in `error`.
std::unique_ptr<llvm::Module> translateModule(mlir::Operation *module, llvm::LLVMContext &context, llvm::StringRef name,
                                              const llvm::TargetMachine &machine, std::string &error);

/// Optimises for the machine. No library function is known or invented but memcpy, memmove and memset.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine);

/// Writes an object or assembly text; false when the machine cannot.
bool compileModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &output);

} // namespace nnterp
