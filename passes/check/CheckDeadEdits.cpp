// Refuses an edit that reaches no tap.
#include "passes/Passes.h"

#include "dialect/Nnterp/Nnterp.h"
#include "passes/Producers.h"
#include "passes/plan/ValueCycle.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_CHECKDEADEDITS
#include "passes/Passes.h.inc"

namespace {

/// The ops of a block that taps need, nested ops standing with their parent.
llvm::DenseSet<Operation *> needed(Block &block) {
  llvm::DenseSet<Operation *> live;
  SmallVector<Operation *> work;
  for (TapOp tap : block.getOps<TapOp>())
    work.push_back(tap);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!live.insert(op).second)
      continue;
    for (Operation *producer : producersOf(op, block))
      work.push_back(producer);
  }
  return live;
}

struct CheckDeadEditsPass : impl::CheckDeadEditsBase<CheckDeadEditsPass> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    auto plans = getOperation().getOps<PlanOp>();
    if (!main || plans.empty())
      return;
    llvm::DenseSet<int64_t> reaching;
    for (Operation *op : needed(main.getBody().front()))
      op->walk([&](Operation *nested) { reaching.insert(entryOf(nested)); });
    llvm::DenseSet<int64_t> reported;
    for (PlanEditOp edit : (*plans.begin()).getBody().getOps<PlanEditOp>()) {
      if (reaching.contains(edit.getEntry()) || !reported.insert(edit.getEntry()).second)
        continue;
      auto error = edit.emitError() << "NNT0806: the edit at '" << edit.getAt() << "' reaches no output of this run";
      StringRef at = edit.getAt();
      if (at.ends_with("past_keys") || at.ends_with("past_values") || at.ends_with("conv_state") ||
          at.ends_with("state_output"))
        error.attachNote() << "it is read by later tokens only, and this run generates none";
      else
        error.attachNote() << "tap a value that depends on it, such as 'logits' or the value itself";
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace nnterp
