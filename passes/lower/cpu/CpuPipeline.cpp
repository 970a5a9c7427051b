// The CPU pipelines: which passes lead from tensors to the LLVM dialect, and why in this order.
#include "passes/lower/cpu/CpuPipeline.h"

#include "passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace nnterp {

static void cleanUp(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

void populateBufferizedPipeline(OpPassManager &pm, bool parallelLoops) {
  pm.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  cleanUp(pm);
  pm.addPass(createCanonicalizerPass());
  // What a function returns is the destination it was given; deallocation would otherwise clone it.
  pm.addPass(bufferization::createDropEquivalentBufferResultsPass());
  // Memory of a loop's body is allocated once, in front of the loop.
  pm.addNestedPass<func::FuncOp>(bufferization::createBufferLoopHoistingPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  cleanUp(pm);
  // Memory goes back behind its last reader, not at the function's end: what is held at once does not grow with depth.
  pm.addNestedPass<func::FuncOp>(bufferization::createOptimizeAllocationLivenessPass());
  pm.addNestedPass<func::FuncOp>(createCopyToLoops());
  if (parallelLoops)
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToParallelLoopsPass());
  else
    pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  cleanUp(pm);
}

void populateLlvmPipeline(OpPassManager &pm) {
  // On functions alone: in a program for a GPU, kernels stand beside them and are lowered on their own.
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createExpandMath());
  function.addPass(memref::createExpandStridedMetadataPass());
  function.addPass(createLowerAffinePass());
  function.addPass(createSCFToControlFlowPass());
  // Conversions of bfloat16 would be calls on machines without them, and some machines' own flush denormals.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  function.addPass(arith::createArithExpandOpsPass(expand));
  cleanUp(function);
  pm.addPass(createLowerSlots());
  pm.addPass(createLowerLaunches()); // of a program for a GPU; others have none
  // Before the general conversion, which would call malloc. Slots have defined the functions this one calls.
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  memory.useAlignedAlloc = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  cleanUp(pm.nest<LLVM::LLVMFuncOp>());
}

} // namespace nnterp
