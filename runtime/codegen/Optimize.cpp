// Runs LLVM's passes.
#include "runtime/codegen/Optimize.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

namespace nnterp {

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
