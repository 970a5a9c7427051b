// Expands elementary functions to arithmetic: the same bits on every target, and no math library.
#include "passes/lower/ExpandMath.h"
#include "passes/Passes.h"
#include "passes/lower/ExpandMathReal.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/Passes.h.inc"

namespace {
/// Replaces a function of one argument by `expand`; float32 is widened first and rounded once at the end.
template <typename Op, expand::Real (*function)(expand::Real)> struct ExpandFunction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Type element = getElementTypeOrSelf(type);
    if (!isa<FloatType, VectorType>(type) || !(element.isF32() || element.isF64()))
      return rewriter.notifyMatchFailure(op, "only f32 and f64, scalars and vectors");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    expand::Emitter emitter(builder, type, element.isF32());
    Value x = op.getOperand();
    if (emitter.single)
      x = arith::ExtFOp::create(builder, emitter.real, x);
    Value result = function({&emitter, x}).value;
    if (emitter.single)
      result = arith::TruncFOp::create(builder, type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandMathPass : impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandMathPatterns(patterns);
    populateWidenHalfPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandFunction<math::ExpOp, expand::exp>, ExpandFunction<math::LogOp, expand::log>,
               ExpandFunction<math::Log1pOp, expand::log1p>, ExpandFunction<math::TanhOp, expand::tanh>,
               ExpandFunction<math::ErfOp, expand::erf>, ExpandFunction<math::SinOp, expand::sin>,
               ExpandFunction<math::CosOp, expand::cos>, ExpandFunction<math::RsqrtOp, expand::rsqrt>>(
      patterns.getContext());
}

} // namespace nnterp
