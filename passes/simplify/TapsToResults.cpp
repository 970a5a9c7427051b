// Makes what a function leaves behind its results: tapped, kept and remembered values.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Liveness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_TAPSTORESULTS
#include "passes/Passes.h.inc"

namespace {
struct TapsToResultsPass : impl::TapsToResultsBase<TapsToResultsPass> {
  void runOnOperation() override {
    for (PlanOp plan : llvm::make_early_inc_range(getOperation().getOps<PlanOp>()))
      plan.erase();
    llvm::DenseSet<Operation *> needed = neededOps(getOperation());
    for (Block *body : modelBodies(getOperation()))
      convert(*body, needed);
  }

  void convert(Block &body, const llvm::DenseSet<Operation *> &needed) {
    struct Result {
      Value value;
      StringRef key, kind;
    };
    SmallVector<Result> left;
    for (Operation &op : llvm::make_early_inc_range(body)) {
      auto tap = dyn_cast<TapOp>(op);
      auto remember = dyn_cast<hybrid::RememberOp>(op);
      if (!tap && !remember)
        continue;
      if (needed.contains(&op))
        left.push_back(tap ? Result{tap.getValue(), tap.getKey(), tap.getKept() ? "kept" : "output"}
                           : Result{remember.getValue(), remember.getPart(), remember.getOfRun() ? "kept" : "state"});
      // Keys are attributes of the context: they outlive the op.
      op.erase();
    }
    auto function = cast<func::FuncOp>(body.getParentOp());
    auto values = llvm::map_to_vector(left, [](const Result &result) { return result.value; });
    body.getTerminator()->setOperands(values);
    function.setFunctionType(
        FunctionType::get(&getContext(), function.getArgumentTypes(), ValueRange(values).getTypes()));
    for (auto [i, result] : llvm::enumerate(left)) {
      function.setResultAttr(unsigned(i), "nnterp.key", StringAttr::get(&getContext(), result.key));
      if (result.kind != "output")
        function.setResultAttr(unsigned(i), "nnterp.kind", StringAttr::get(&getContext(), result.kind));
    }
  }
};
} // namespace
} // namespace nnterp
