// Projects only the positions that are read.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/Liveness.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_KEEPPOSITIONS
#include "passes/Passes.h.inc"

namespace {

/// Whether an op takes whole positions [.., .., channels] of a projection and nothing else of it. A gathered region may
/// stay in its function only: its extents are not the model's.
bool takesPositions(Operation *op) {
  if (isa<hybrid::LastTokenOp>(op))
    return true;
  auto gather = dyn_cast<GatherOp>(op);
  return gather && !gather.getTables().empty() &&
         llvm::all_of(gather.getTableAxes(), [](int64_t axis) { return axis < 2; }) &&
         llvm::all_of(gather->getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
}

struct KeepPositionsPass : impl::KeepPositionsBase<KeepPositionsPass> {
  void runOnOperation() override {
    for (Block *body : modelBodies(getOperation()))
      for (auto linear : llvm::make_early_inc_range(body->getOps<hybrid::LinearOp>()))
        if (!linear.getBias() && !linear->use_empty() && llvm::all_of(linear->getUsers(), takesPositions))
          takeFirst(linear);
  }

  static void takeFirst(hybrid::LinearOp linear) {
    for (Operation *user : llvm::make_early_inc_range(linear->getUsers())) {
      OpBuilder b(user);
      IRMapping map;
      map.map(linear.getResult(), linear.getInput());
      Operation *taken = b.clone(*user, map);
      auto type = cast<RankedTensorType>(user->getResult(0).getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.back() = cast<RankedTensorType>(linear.getInput().getType()).getShape().back();
      taken->getResult(0).setType(RankedTensorType::get(shape, type.getElementType()));
      auto projected = hybrid::LinearOp::create(b, linear.getLoc(), taken->getResult(0), linear.getWeight(), Value());
      copyMarks(linear, projected);
      user->replaceAllUsesWith(projected);
      user->erase();
    }
    linear.erase();
  }
};

} // namespace
} // namespace nnterp
