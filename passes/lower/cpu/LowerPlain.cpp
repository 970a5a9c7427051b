// Lowers hybrid and nnterp ops to loops over tensors, to be read: the oracle for faster kernels.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace nnterp {
#define GEN_PASS_DEF_LOWERPLAIN
#include "passes/Passes.h.inc"
} // namespace nnterp

using namespace mlir;
using namespace nnterp;
using namespace nnterp::plain;

static std::optional<Results> lower(PlainBuilder &b, Operation *op) {
  for (auto area :
       {lowerBasics, lowerDelta, lowerMemory, lowerAttention, lowerImages, lowerMixture, lowerPlan, lowerRouting})
    if (std::optional<Results> results = area(b, op))
      return results;
  return std::nullopt;
}

namespace {
struct LowerPlainPass : nnterp::impl::LowerPlainBase<LowerPlainPass> {
  using LowerPlainBase::LowerPlainBase;

  void runOnOperation() override {
    // Outer ops first: a delta rule moves the ops of its region into its loop, where they are lowered in their turn.
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa_and_nonnull<hybrid::HybridDialect, NnterpDialect>(op->getDialect()) &&
          !op->hasTrait<OpTrait::IsTerminator>())
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(lowerOne(op)))
        return signalPassFailure();
  }

  LogicalResult lowerOne(Operation *op) {
    // A direction of length zero is reported through the frame.
    if (isa<ProjectOutOp>(op)) {
      auto types = getOperation().getArgumentTypes();
      if (types.empty() || !isa<LLVM::LLVMPointerType>(types.front()))
        return op->emitOpError("expects the run's frame as the function's first argument");
    }
    if (auto gather = dyn_cast<GatherOp>(op); device && gather && !gather.getTables().empty())
      return success(); // may become part of a kernel: nnterp-fuse-gathers
    // Kernels are named after the op they were made from.
    PlainBuilder b(NameLoc::get(StringAttr::get(op->getContext(), op->getName().stripDialect()), op->getLoc()), op);
    b.device = device;
    if (std::optional<Results> results = lower(b, op)) {
      op->replaceAllUsesWith(*results);
      op->erase();
      return success();
    }
    // What fetches memory and reports to the run is for a later pass.
    if (isa<SlotOp, ProgressOp, FailOp>(op))
      return success();
    return op->emitOpError("has no plain lowering");
  }
};
} // namespace
