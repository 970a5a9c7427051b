// Drops results and ops that no output needs.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "passes/BlockIndex.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_PRUNEUNUSED
#include "passes/Passes.h.inc"

namespace {

/// Per-token states are kept only for those who read them.
struct DropUnusedStates : OpRewritePattern<hybrid::DeltaRuleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(hybrid::DeltaRuleOp op, PatternRewriter &rewriter) const override {
    bool dropStates = op.getStates() && op.getStates().use_empty();
    bool dropBefore = op.getStatesBefore() && op.getStatesBefore().use_empty();
    if (!dropStates && !dropBefore)
      return failure();
    auto kept = hybrid::DeltaRuleOp::create(
        rewriter, op.getLoc(), op.getResult().getType(), op.getStateOut().getType(),
        op.getStates() && !dropStates ? op.getStates().getType() : Type(),
        op.getStatesBefore() && !dropBefore ? op.getStatesBefore().getType() : Type(), op.getQueries(), op.getKeys(),
        op.getValues(), op.getDecays(), op.getBetas(), op.getState(), op.getLengths());
    kept->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    if (!op.getOnState().empty())
      rewriter.inlineRegionBefore(op.getOnState(), kept.getOnState(), kept.getOnState().end());
    rewriter.replaceAllUsesWith(op.getResult(), kept.getResult());
    rewriter.replaceAllUsesWith(op.getStateOut(), kept.getStateOut());
    if (kept.getStates())
      rewriter.replaceAllUsesWith(op.getStates(), kept.getStates());
    if (kept.getStatesBefore())
      rewriter.replaceAllUsesWith(op.getStatesBefore(), kept.getStatesBefore());
    rewriter.eraseOp(op);
    return success();
  }
};

struct PruneUnusedPass : impl::PruneUnusedBase<PruneUnusedPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropUnusedStates>(&getContext());
    // The driver erases dead ops as it goes; constants need no merging here.
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace nnterp
