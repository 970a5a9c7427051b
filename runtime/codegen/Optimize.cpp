// Translates to LLVM IR and runs LLVM's passes.
#include "runtime/codegen/Optimize.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Target/LLVMIR/Export.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace nnterp {

std::unique_ptr<llvm::TargetMachine> makeMachine(const llvm::Triple &triple, llvm::StringRef cpu,
                                                 llvm::StringRef features, std::optional<llvm::Reloc::Model> relocation,
                                                 std::string &error) {
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, relocation, std::nullopt, llvm::CodeGenOptLevel::Default));
}

std::unique_ptr<llvm::Module> translateModule(mlir::Operation *module, llvm::LLVMContext &context, llvm::StringRef name,
                                              const llvm::TargetMachine &machine, std::string &error) {
  mlir::ScopedDiagnosticHandler handler(module->getContext(), [&](mlir::Diagnostic &diagnostic) {
    error += (error.empty() ? "" : "; ") + diagnostic.str();
    return mlir::success();
  });
  std::unique_ptr<llvm::Module> result = mlir::translateModuleToLLVMIR(module, context, name);
  if (result) {
    result->setTargetTriple(machine.getTargetTriple());
    result->setDataLayout(machine.createDataLayout());
  }
  return result;
}

/// Tells LLVM that no library function exists but those, so that it neither knows nor invents calls of others.
static llvm::TargetLibraryInfoImpl libraryInfo(const llvm::Triple &triple) {
  llvm::TargetLibraryInfoImpl info(triple);
  info.disableAllFunctions();
  for (llvm::LibFunc function : {llvm::LibFunc_memcpy, llvm::LibFunc_memmove, llvm::LibFunc_memset})
    info.setAvailable(function);
  return info;
}

void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraph;
  llvm::ModuleAnalysisManager modules;
  // Plain loops gain little from unrolling and vectorizing (their sums are in order), but these took half of compiling.
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.LoopInterleaving = tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::TargetLibraryInfoImpl library = libraryInfo(machine.getTargetTriple());
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

bool compileModule(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                   llvm::SmallVectorImpl<char> &output) {
  llvm::raw_svector_ostream stream(output);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(libraryInfo(machine.getTargetTriple())));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  return true;
}

} // namespace nnterp
