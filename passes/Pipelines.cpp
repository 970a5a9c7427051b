// The pipeline of each stage.
#include "passes/Pipelines.h"

#include "dialect/Device/Device.h"
#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Passes.h"
#include "passes/lower/cpu/CpuPipeline.h"
#include "passes/lower/gpu/GpuPipeline.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

#include <functional>
#include <vector>

using namespace mlir;

namespace nnterp {

static void verifyStage(OpPassManager &pm, const char *stage) {
  VerifyStageOptions options;
  options.stage = stage;
  pm.addPass(createVerifyStage(options));
}

void populatePlanPipeline(OpPassManager &pm) {
  verifyStage(pm, "import");
  // Sources may cross blocks, so blocks are dissolved before the plan is applied.
  pm.addPass(createDissolveBlocks());
  pm.addPass(createMakeWorlds());
  pm.addPass(createApplyPlan());
  verifyStage(pm, "plan");
}

void populateCheckedPipeline(OpPassManager &pm) {
  pm.addPass(createCheckDeadEdits());
  verifyStage(pm, "checked");
}

void populateSimplifiedPipeline(OpPassManager &pm) {
  pm.addPass(createTapsToResults());
  // Points are not pure: they go first, then what only they kept.
  pm.addPass(createErasePoints());
  pm.addPass(createPruneUnused());
  pm.addPass(createShareWorlds());
  pm.addPass(createKeepPositions());
  verifyStage(pm, "simplified");
}

void populateKernelsPipeline(OpPassManager &pm, Target target) {
  if (target == Target::gpu)
    pm.addPass(createWholeCaches());
  // Before kernels are formed: what is the same in two blocks must look the same.
  pm.addPass(createOutlineBlocks());
  pm.addNestedPass<func::FuncOp>(createFormKernels());
  verifyStage(pm, "kernels");
}

void populateBufferizedStagePipeline(OpPassManager &pm, Target target) {
  pm.addNestedPass<func::FuncOp>(createOpenKernels());
  if (target == Target::gpu)
    pm.addNestedPass<func::FuncOp>(createChooseDeviceKernels());
  LowerPlainOptions plain;
  plain.device = target == Target::gpu;
  pm.addNestedPass<func::FuncOp>(createLowerPlain(plain));
  if (target == Target::gpu) {
    pm.addNestedPass<func::FuncOp>(createSettleViews());
    pm.addNestedPass<func::FuncOp>(createFuseEpilogues());
    pm.addNestedPass<func::FuncOp>(createInlineLoops());
    pm.addNestedPass<func::FuncOp>(createFuseGathers());
  }
  populateBufferizedPipeline(pm, /*parallelLoops=*/target == Target::gpu);
  verifyStage(pm, "bufferized");
}

void populateLaunchesStagePipeline(OpPassManager &pm) {
  populateLaunchPipeline(pm);
  verifyStage(pm, "launches");
}

void populateLlvmStagePipeline(OpPassManager &pm, Target target) {
  if (target == Target::gpu)
    populateDevicePipeline(pm);
  populateLlvmPipeline(pm);
  verifyStage(pm, "llvm");
}

void registerForPipelines(DialectRegistry &registry) {
  registry
      .insert<device::DeviceDialect, hybrid::HybridDialect, NnterpDialect, affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, NVVM::NVVMDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect>();
  device::registerBufferization(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerSubsetOpInterfaceExternalModels(registry);
  memref::registerAllocationOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void registerPipelines() {
  using Populate = std::function<void(OpPassManager &)>;
  for (Target target : {Target::cpu, Target::gpu}) {
    std::vector<std::pair<const char *, Populate>> stages = {
        {"plan", populatePlanPipeline},
        {"checked", populateCheckedPipeline},
        {"simplified", populateSimplifiedPipeline},
        {"kernels", [target](OpPassManager &pm) { populateKernelsPipeline(pm, target); }},
        {"bufferized", [target](OpPassManager &pm) { populateBufferizedStagePipeline(pm, target); }}};
    if (target == Target::gpu)
      stages.push_back({"launches", populateLaunchesStagePipeline});
    stages.push_back({"llvm", [target](OpPassManager &pm) { populateLlvmStagePipeline(pm, target); }});
    for (size_t last = target == Target::gpu ? 3 : 0; last < stages.size(); ++last) {
      std::string stage = stages[last].first;
      PassPipelineRegistration<>((target == Target::gpu ? "nnterp-gpu-to-" : "nnterp-to-") + stage,
                                 "From an imported graph to stage " + stage +
                                     (target == Target::gpu ? " of a program for a GPU" : ""),
                                 [stages, last](OpPassManager &pm) {
                                   for (size_t i = 0; i <= last; ++i)
                                     stages[i].second(pm);
                                 });
    }
  }
}

} // namespace nnterp
