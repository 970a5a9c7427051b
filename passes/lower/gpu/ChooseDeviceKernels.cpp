// Chooses builders for the ops that have them; the others are left to the plain lowering.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_CHOOSEDEVICEKERNELS
#include "passes/Passes.h.inc"

namespace {
struct ChooseDeviceKernelsPass : impl::ChooseDeviceKernelsBase<ChooseDeviceKernelsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<hybrid::HybridDialect>(op->getDialect()))
        ops.push_back(op);
    });
    // From the last to the first: a kernel may stand for an op and for those that it reads, which then nobody needs.
    for (Operation *op : llvm::reverse(ops)) {
      if (isOpTriviallyDead(op))
        op->erase();
      else
        choose(op);
    }
  }

  static void choose(Operation *op) {
    using namespace device;
    PlainBuilder b(NameLoc::get(StringAttr::get(op->getContext(), op->getName().stripDialect()), op->getLoc()), op);
    b.device = true;
    for (auto area :
         {chooseAttention, chooseDelta, chooseMemory, chooseMixture, chooseViews, chooseNorms, chooseProducts})
      if (std::optional<Results> results = area(b, op)) {
        op->replaceAllUsesWith(*results);
        op->erase();
        return;
      }
  }
};
} // namespace
} // namespace nnterp
