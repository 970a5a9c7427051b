// Emits the operators of Real and Bits as arith ops.
#include "passes/lower/ExpandMathReal.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace nnterp::expand {

Emitter::Emitter(ImplicitLocOpBuilder &builder, Type shapedLike, bool single)
    : builder(builder), real(builder.getF64Type()), integer(builder.getI64Type()), single(single) {
  if (auto vector = dyn_cast<VectorType>(shapedLike)) {
    real = vector.clone(real);
    integer = vector.clone(integer);
  }
}

static Value splat(Emitter &emitter, Type type, TypedAttr scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(emitter.builder, DenseElementsAttr::get(vector, Attribute(scalar)));
  return arith::ConstantOp::create(emitter.builder, scalar);
}
Value Emitter::constant(double value) { return splat(*this, real, builder.getF64FloatAttr(value)); }
Value Emitter::constant(int64_t value) { return splat(*this, integer, builder.getI64IntegerAttr(value)); }

//===--- Bits -----------------------------------------------------------------------------------------------------===//

template <typename Op> static Bits emit(Bits a, Value b) {
  return {a.emitter, Op::create(a.emitter->builder, a.value, b)};
}
template <typename Op> static Bits emit(Bits a, int64_t b) { return emit<Op>(a, a.emitter->constant(b)); }

Bits Bits::operator+(Bits other) const { return emit<arith::AddIOp>(*this, other.value); }
Bits Bits::operator+(int64_t other) const { return emit<arith::AddIOp>(*this, other); }
Bits Bits::operator-(Bits other) const { return emit<arith::SubIOp>(*this, other.value); }
Bits Bits::operator-(int64_t other) const { return emit<arith::SubIOp>(*this, other); }
Bits Bits::operator&(int64_t mask) const { return emit<arith::AndIOp>(*this, mask); }
Bits Bits::operator|(Bits other) const { return emit<arith::OrIOp>(*this, other.value); }
Bits Bits::operator^(Bits other) const { return emit<arith::XOrIOp>(*this, other.value); }
Bits Bits::operator<<(int64_t count) const { return emit<arith::ShLIOp>(*this, count); }
Bits Bits::operator>>(int64_t count) const { return emit<arith::ShRSIOp>(*this, count); }
Value Bits::operator==(int64_t other) const {
  return arith::CmpIOp::create(emitter->builder, arith::CmpIPredicate::eq, value, emitter->constant(other));
}

//===--- Real -----------------------------------------------------------------------------------------------------===//

template <typename Op> static Real emit(Real a, Real b) {
  return {a.emitter, Op::create(a.emitter->builder, a.value, b.value)};
}

Real Real::operator+(Real other) const { return emit<arith::AddFOp>(*this, other); }
Real Real::operator-(Real other) const { return emit<arith::SubFOp>(*this, other); }
Real Real::operator*(Real other) const { return emit<arith::MulFOp>(*this, other); }
Real Real::operator/(Real other) const { return emit<arith::DivFOp>(*this, other); }

static Value compare(Real a, arith::CmpFPredicate predicate, double b) {
  return arith::CmpFOp::create(a.emitter->builder, predicate, a.value, a.emitter->constant(b));
}
Value Real::operator<(double other) const { return compare(*this, arith::CmpFPredicate::OLT, other); }
Value Real::operator>(double other) const { return compare(*this, arith::CmpFPredicate::OGT, other); }
Value Real::operator==(double other) const { return compare(*this, arith::CmpFPredicate::OEQ, other); }
Value Real::notBelow(double other) const { return compare(*this, arith::CmpFPredicate::UGE, other); }

Bits Real::bits() const { return {emitter, arith::BitcastOp::create(emitter->builder, emitter->integer, value)}; }
Real fromBits(Bits bits) {
  return {bits.emitter, arith::BitcastOp::create(bits.emitter->builder, bits.emitter->real, bits.value)};
}
Real Real::magnitude() const { return fromBits(bits() & INT64_MAX); }
Real Real::withSign(Real other) const { return fromBits(bits() | (other.bits() & INT64_MIN)); }
Real Real::where(Value condition, Real other) const {
  return {emitter, arith::SelectOp::create(emitter->builder, condition, other.value, value)};
}

Real polynomial(llvm::ArrayRef<double> coefficients, Real x) {
  Real sum = x.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}

Real toReal(Bits integer) { return fromBits(integer + integerShiftBits) - integerShift; }
Real powerOfTwo(Bits exponent) { return fromBits((exponent + 1023) << 52); }

} // namespace nnterp::expand
