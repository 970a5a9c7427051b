// Refuses an edit that reaches nothing the run writes.
#include "passes/Passes.h"

#include "dialect/Nnterp/Nnterp.h"
#include "passes/Liveness.h"
#include "passes/plan/ValueCycle.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_CHECKDEADEDITS
#include "passes/Passes.h.inc"

namespace {

struct CheckDeadEditsPass : impl::CheckDeadEditsBase<CheckDeadEditsPass> {
  void runOnOperation() override {
    auto plans = getOperation().getOps<PlanOp>();
    if (plans.empty())
      return;
    llvm::DenseSet<int64_t> reaching;
    for (Operation *op : neededOps(getOperation()))
      op->walk([&](Operation *nested) { reaching.insert(entryOf(nested)); });
    llvm::DenseSet<int64_t> reported;
    for (PlanOp plan : plans)
      for (PlanEditOp edit : plan.getBody().getOps<PlanEditOp>())
        if (!reaching.contains(edit.getEntry()) && reported.insert(edit.getEntry()).second)
          report(edit);
  }

  void report(PlanEditOp edit) {
    StringRef at = edit.getAt();
    auto error = edit.emitError() << "NNT0806: the edit at '" << at << "' reaches no output of this run";
    if (at.ends_with("past_keys") || at.ends_with("past_values") || at.ends_with("conv_state") ||
        at.ends_with("state_output"))
      error.attachNote() << "it is read by later tokens only, and this run generates none that would";
    else
      error.attachNote() << "tap a value that depends on it, such as 'logits' or the value itself";
    signalPassFailure();
  }
};

} // namespace
} // namespace nnterp
