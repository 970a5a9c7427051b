// Removes points: what a plan does not use costs nothing.
#include "passes/Passes.h"

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_ERASEPOINTS
#include "passes/Passes.h.inc"

namespace {
struct ErasePointsPass : impl::ErasePointsBase<ErasePointsPass> {
  void runOnOperation() override {
    getOperation().walk([](PointOp op) {
      op.getResult().replaceAllUsesWith(op.getValue());
      op.erase();
    });
  }
};
} // namespace
} // namespace nnterp
