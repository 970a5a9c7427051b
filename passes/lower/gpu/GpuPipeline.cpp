// The GPU pipelines: which passes lead from loops to kernels, and why in this order.
#include "passes/lower/gpu/GpuPipeline.h"

#include "passes/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace nnterp {

void populateLaunchPipeline(OpPassManager &pm) {
  pm.addPass(createMakeLaunches());
  // What the host read for kernels they now read themselves.
  OpPassManager &function = pm.nest<func::FuncOp>();
  function.addPass(createCanonicalizerPass());
  function.addPass(createCSEPass());
}

void populateDevicePipeline(OpPassManager &pm) {
  OpPassManager &kernel = pm.nest<gpu::GPUModuleOp>();
  kernel.addPass(createExpandMath());
  kernel.addPass(createDeviceMath());
  // Less for the conversion to do; what else there is to simplify, LLVM does as well.
  kernel.addPass(createCSEPass());
  kernel.addPass(memref::createExpandStridedMetadataPass());
  kernel.addPass(createLowerAffinePass());
  kernel.addPass(createSCFToControlFlowPass());
  ConvertGpuOpsToNVVMOpsOptions options;
  options.indexBitwidth = 64;
  kernel.addPass(createConvertGpuOpsToNVVMOps(options));
  kernel.addPass(createReconcileUnrealizedCastsPass());
}

} // namespace nnterp
