// Widening of float16 by integer arithmetic: machines without the instruction would call a library for it.
#include "passes/lower/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace nnterp {

namespace {
struct WidenHalf : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType(), to = op.getType();
    if (!isa<FloatType, VectorType>(from) || !getElementTypeOrSelf(from).isF16())
      return rewriter.notifyMatchFailure(op, "not from f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto like = [&](Type element) -> Type {
      auto vector = dyn_cast<VectorType>(from);
      return vector ? vector.clone(element) : element;
    };
    Type f32 = like(b.getF32Type()), i32 = like(b.getI32Type());
    auto constant = [&](Type type, TypedAttr scalar) -> Value {
      if (auto vector = dyn_cast<VectorType>(type))
        return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, Attribute(scalar)));
      return arith::ConstantOp::create(b, scalar);
    };
    auto number = [&](uint32_t value) { return constant(i32, b.getI32IntegerAttr(int32_t(value))); };

    Value bits = arith::BitcastOp::create(b, like(b.getI16Type()), op.getIn());
    bits = arith::ExtUIOp::create(b, i32, bits);
    Value sign = arith::ShLIOp::create(b, arith::AndIOp::create(b, bits, number(0x8000)), number(16));
    Value magnitude = arith::ShLIOp::create(b, arith::AndIOp::create(b, bits, number(0x7fff)), number(13));
    // Exponent and fraction now stand in float32's places; the factor corrects the bias, for denormals too.
    Value scaled = arith::BitcastOp::create(b, f32, magnitude);
    scaled = arith::MulFOp::create(b, scaled, constant(f32, b.getF32FloatAttr(0x1p112f)));
    Value finite = arith::BitcastOp::create(b, i32, scaled);
    Value special = arith::OrIOp::create(b, magnitude, number(0x7f800000));
    Value isSpecial = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, magnitude, number(0x0f800000));
    Value result = arith::SelectOp::create(b, isSpecial, special, finite);
    result = arith::BitcastOp::create(b, f32, arith::OrIOp::create(b, result, sign));
    if (to != f32)
      result = arith::ExtFOp::create(b, to, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};
} // namespace

void populateWidenHalfPatterns(RewritePatternSet &patterns) { patterns.add<WidenHalf>(patterns.getContext()); }

} // namespace nnterp
