// Gives views that somebody does not read element by element memory of their own.
#include "passes/Passes.h"

#include "dialect/Device/Device.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/lower/gpu/Elementwise.h"
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_SETTLEVIEWS
#include "passes/Passes.h.inc"

namespace {

/// Whether a loop nest takes an entry of its destination at its own index alone.
bool updates(Operation *op, Value view) {
  auto loops = dyn_cast<linalg::GenericOp>(op);
  return loops && isElementwise(loops) && loops.getNumDpsInits() == 1 && loops.getDpsInitOperand(0)->get() == view;
}

struct SettleViewsPass : impl::SettleViewsBase<SettleViewsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([](device::ViewOp view) {
      while (view.compose()) {
      }
    });
    getOperation().walk([&](device::ViewOp view) {
      settle(view);
      view.readThrough(rewriter);
      if (view->use_empty())
        view.erase();
    });
  }

private:
  static void settle(device::ViewOp view) {
    Value copy;
    for (OpOperand &use : llvm::make_early_inc_range(view->getUses())) {
      Operation *user = use.getOwner();
      if (isa<tensor::ExtractOp, tensor::DimOp, GatherOp>(user))
        continue;
      if (auto kernel = dyn_cast<device::KernelOp>(user); kernel && device::readsElements(kernel, use))
        continue;
      if (updates(user, view.getResult())) {
        updateElsewhere(cast<linalg::GenericOp>(user), view);
        continue;
      }
      if (!copy)
        copy = copied(view);
      use.set(copy);
    }
  }

  static Value freshLike(plain::PlainBuilder &b, device::ViewOp view) {
    auto type = cast<RankedTensorType>(view.getType());
    return tensor::EmptyOp::create(b, type, b.sizesLike(type, view.getResult()));
  }

  /// An update of a view writes to fresh memory and takes the old entries through the view.
  static void updateElsewhere(linalg::GenericOp loops, device::ViewOp view) {
    plain::PlainBuilder b(loops.getLoc(), loops);
    Value fresh = freshLike(b, view);
    loops.getDpsInitOperand(0)->set(fresh);
    Block &body = loops.getRegion().front();
    b.setInsertionPointToStart(&body);
    SmallVector<Value> own;
    for (unsigned axis = 0; axis < loops.getNumLoops(); ++axis)
      own.push_back(linalg::IndexOp::create(b, axis));
    body.getArgument(0).replaceAllUsesWith(b.extract(view.getResult(), own));
  }

  static Value copied(device::ViewOp view) {
    plain::PlainBuilder b(view.getLoc(), view->getContext());
    b.setInsertionPointAfter(view);
    auto type = cast<RankedTensorType>(view.getType());
    return b.tabulate(type, b.sizesLike(type, view.getResult()),
                      [&](ValueRange at) { return b.extract(view.getResult(), at); });
  }
};

} // namespace
} // namespace nnterp
