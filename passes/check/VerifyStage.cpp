// Checks the contract of a stage: what may and what must not be in the IR when it is reached.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_VERIFYSTAGE
#include "passes/Passes.h.inc"

namespace {

enum Order { unknown = -1, import, plan, checked, simplified, kernels, bufferized, launches, llvmStage };

Order orderOf(StringRef stage) {
  return llvm::StringSwitch<Order>(stage)
      .Case("import", import)
      .Case("plan", plan)
      .Case("checked", checked)
      .Case("simplified", simplified)
      .Case("kernels", kernels)
      .Case("bufferized", bufferized)
      .Case("launches", launches)
      .Case("llvm", llvmStage)
      .Default(unknown);
}

struct VerifyStagePass : impl::VerifyStageBase<VerifyStagePass> {
  using VerifyStageBase::VerifyStageBase;

  void runOnOperation() override {
    Order order = orderOf(stage);
    if (order == unknown) {
      getOperation().emitError() << "unknown stage '" << stage << "'";
      return signalPassFailure();
    }
    llvm::StringSet<> names; // of the functions' values, each on its own
    WalkResult result = getOperation().walk([&](Operation *op) -> WalkResult {
      if (isa<hybrid::HybridDialect, NnterpDialect>(op->getDialect()))
        for (NamedAttribute attr : op->getDiscardableAttrs())
          if (!attr.getName().getValue().contains('.'))
            return op->emitError() << "stage " << stage << ": unknown attribute '" << attr.getName().getValue() << "'";
      if (auto point = dyn_cast<PointOp>(op))
        if (order < simplified && !names.insert(nameInFunction(point)).second)
          return op->emitError() << "stage " << stage << ": two points are named '" << point.getAt() << "'";
      if (const char *reason = objection(op, order))
        return op->emitError() << "stage " << stage << ": '" << op->getName() << "' " << reason;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  static std::string nameInFunction(PointOp point) {
    auto function = point->getParentOfType<func::FuncOp>();
    return ((function ? function.getName() : StringRef()) + ":" + point.getAt()).str();
  }

  /// Why an op must not be here, or null.
  static const char *objection(Operation *op, Order order) {
    if (order == import && isa<EditOp, ProjectOutOp, DropOp, RerouteOp, RaiseOp, ForceOp, TapOp>(op))
      return "appears only when a plan is applied";
    if (order >= plan && isa<hybrid::BlockOp>(op))
      return "must be dissolved";
    if (order >= simplified && isa<hybrid::RememberOp>(op))
      return "must be a result of its function";
    if (order >= simplified &&
        isa<PointOp, TapOp, PlanOp, PlanWorldOp, PlanBufferOp, PlanEditOp, PlanTapOp, PlanKeepOp>(op))
      return "must be gone";
    if (order == kernels) {
      bool model = isa<hybrid::HybridDialect>(op->getDialect()) && !isa<hybrid::KernelOp, hybrid::YieldOp>(op);
      if (model && !op->getParentOfType<hybrid::KernelOp>())
        return "must stand in a hybrid.kernel";
      if (isa<hybrid::WeightOp, BufferOp, hybrid::MemoryOp>(op))
        return "must be a slot of the descriptor table";
    }
    if (order >= bufferized) {
      if (isa<hybrid::HybridDialect>(op->getDialect()))
        return "must be lowered";
      if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
        return "has a tensor for a result";
    }
    if (order == launches && isa<memref::LoadOp, memref::StoreOp>(op) && !op->getParentOfType<gpu::GPUFuncOp>())
      return "stands on the host, which cannot read the device's memory";
    if (order == llvmStage && !isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()) &&
        !isa<ModuleOp, gpu::GPUModuleOp>(op))
      return "must be in the llvm dialect";
    return nullptr;
  }
};

} // namespace
} // namespace nnterp
