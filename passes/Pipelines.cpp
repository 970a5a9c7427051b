// The pipeline of each stage.
#include "passes/Pipelines.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Passes.h"
#include "passes/lower/cpu/CpuPipeline.h"

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
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

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

void populateKernelsPipeline(OpPassManager &pm) {
  // Before kernels are formed: what is the same in two blocks must look the same.
  pm.addPass(createOutlineBlocks());
  pm.addNestedPass<func::FuncOp>(createFormKernels());
  verifyStage(pm, "kernels");
}

void populateBufferizedStagePipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createOpenKernels());
  pm.addNestedPass<func::FuncOp>(createLowerPlain());
  populateBufferizedPipeline(pm);
  verifyStage(pm, "bufferized");
}

void populateLlvmStagePipeline(OpPassManager &pm) {
  populateLlvmPipeline(pm);
  verifyStage(pm, "llvm");
}

void registerForPipelines(DialectRegistry &registry) {
  registry
      .insert<hybrid::HybridDialect, NnterpDialect, affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect,
              LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect, tensor::TensorDialect>();
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
  registerLLVMDialectTranslation(registry);
}

void registerPipelines() {
  using Populate = void (*)(OpPassManager &);
  static const struct {
    const char *stage;
    Populate populate;
  } stages[] = {{"plan", populatePlanPipeline},
                {"checked", populateCheckedPipeline},
                {"simplified", populateSimplifiedPipeline},
                {"kernels", populateKernelsPipeline},
                {"bufferized", populateBufferizedStagePipeline},
                {"llvm", populateLlvmStagePipeline}};
  for (size_t last = 0; last < std::size(stages); ++last)
    PassPipelineRegistration<>(std::string("nnterp-to-") + stages[last].stage,
                               std::string("From an imported graph to stage ") + stages[last].stage,
                               [last](OpPassManager &pm) {
                                 for (size_t i = 0; i <= last; ++i)
                                   stages[i].populate(pm);
                               });
}

} // namespace nnterp
