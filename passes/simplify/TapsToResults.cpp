// Makes every tapped value a result of the program.
#include "passes/Passes.h"

#include "dialect/Nnterp/Nnterp.h"

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
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    Operation *end = main.getBody().front().getTerminator();
    SmallVector<Value> results(end->getOperands());
    SmallVector<StringAttr> keys(results.size());
    main.walk([&](TapOp tap) {
      results.push_back(tap.getValue());
      keys.push_back(tap.getKeyAttr());
      tap.erase();
    });
    end->setOperands(results);
    main.setFunctionType(FunctionType::get(&getContext(), main.getArgumentTypes(), ValueRange(results).getTypes()));
    for (auto [i, key] : llvm::enumerate(keys))
      if (key)
        main.setResultAttr(unsigned(i), "nnterp.key", key);
  }
};
} // namespace
} // namespace nnterp
