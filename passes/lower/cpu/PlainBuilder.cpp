// Element-wise construction of tensors from scalars.
#include "PlainBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace nnterp::plain;

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

Value PlainBuilder::dim(Value tensor, int64_t axis) {
  int64_t size = typeOf(tensor).getDimSize(axis);
  if (!ShapedType::isDynamic(size))
    return index(size);
  return tensor::DimOp::create(*this, tensor, axis);
}

SmallVector<Value> PlainBuilder::sizesLike(RankedTensorType type, Value like) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(dim(like, axis));
  return sizes;
}

Value PlainBuilder::buffer(RankedTensorType type, ValueRange sizes) {
  return bufferization::AllocTensorOp::create(*this, type, sizes);
}

Value PlainBuilder::tabulate(RankedTensorType type, ValueRange sizes, ElementBody body) {
  Value empty = tensor::EmptyOp::create(*this, type, sizes);
  return update(empty, [&](ValueRange at, Value) { return body(at); });
}

Value PlainBuilder::update(Value tensor, UpdateBody body) {
  int64_t rank = rankOf(tensor);
  AffineMap identity = getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> parallel(rank, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(*this, TypeRange{tensor.getType()}, ValueRange{}, ValueRange{tensor},
                                           ArrayRef{identity}, parallel, [&](OpBuilder &, Location, ValueRange args) {
                                             SmallVector<Value> at;
                                             for (int64_t axis = 0; axis < rank; ++axis)
                                               at.push_back(linalg::IndexOp::create(*this, axis));
                                             linalg::YieldOp::create(*this, body(at, args.front()));
                                           });
  return generic.getResult(0);
}

Value PlainBuilder::extract(Value tensor, ValueRange at) { return tensor::ExtractOp::create(*this, tensor, at); }

Value PlainBuilder::extractIndex(Value tensor, ValueRange at) { return toIndex(extract(tensor, at)); }

Value PlainBuilder::tokenPlace(Value past, Value row, Value i) { return past ? add(extractIndex(past, row), i) : i; }

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> PlainBuilder::loop(Value end, ValueRange init, LoopBody body) {
  auto loop =
      scf::ForOp::create(*this, index(0), end, index(1), init, [&](OpBuilder &, Location, Value i, ValueRange carried) {
        scf::YieldOp::create(*this, body(i, carried));
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value PlainBuilder::sum(Value end, Type type, function_ref<Value(Value)> body) {
  return loop(end, zero(type),
              [&](Value i, ValueRange total) -> SmallVector<Value> { return {add(total[0], body(i))}; })[0];
}

Value PlainBuilder::largest(Value end, Value least, function_ref<Value(Value)> body) {
  return loop(end, least, [&](Value i, ValueRange best) -> SmallVector<Value> {
    Value v = body(i);
    return {select(greater(v, best[0]), v, best[0])};
  })[0];
}

Value PlainBuilder::ifElse(Value condition, function_ref<Value()> then, function_ref<Value()> otherwise) {
  auto branch = [&](function_ref<Value()> value) {
    return [this, value](OpBuilder &, Location) { scf::YieldOp::create(*this, value()); };
  };
  return scf::IfOp::create(*this, condition, branch(then), branch(otherwise)).getResult(0);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value PlainBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }
Value PlainBuilder::i64(int64_t value) { return arith::ConstantOp::create(*this, getI64IntegerAttr(value)); }
Value PlainBuilder::boolean(bool value) { return arith::ConstantOp::create(*this, getBoolAttr(value)); }
Value PlainBuilder::real(Type type, double value) {
  return arith::ConstantOp::create(*this, getFloatAttr(type, value));
}

Value PlainBuilder::lowest(Type type) {
  auto value = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true);
  return arith::ConstantOp::create(*this, FloatAttr::get(type, value));
}

Value PlainBuilder::zero(Type type) { return arith::ConstantOp::create(*this, getZeroAttr(type)); }

static bool isFloat(Value v) { return isa<FloatType>(v.getType()); }

Value PlainBuilder::add(Value a, Value b) {
  return isFloat(a) ? Value(arith::AddFOp::create(*this, a, b)) : Value(arith::AddIOp::create(*this, a, b));
}
Value PlainBuilder::sub(Value a, Value b) {
  return isFloat(a) ? Value(arith::SubFOp::create(*this, a, b)) : Value(arith::SubIOp::create(*this, a, b));
}
Value PlainBuilder::mul(Value a, Value b) {
  return isFloat(a) ? Value(arith::MulFOp::create(*this, a, b)) : Value(arith::MulIOp::create(*this, a, b));
}
Value PlainBuilder::div(Value a, Value b) {
  return isFloat(a) ? Value(arith::DivFOp::create(*this, a, b)) : Value(arith::DivUIOp::create(*this, a, b));
}
Value PlainBuilder::remainder(Value a, Value b) { return arith::RemUIOp::create(*this, a, b); }
Value PlainBuilder::both(Value a, Value b) { return arith::AndIOp::create(*this, a, b); }
Value PlainBuilder::either(Value a, Value b) { return arith::OrIOp::create(*this, a, b); }
Value PlainBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

Value PlainBuilder::less(Value a, Value b) {
  return isFloat(a) ? Value(arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, a, b))
                    : Value(arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, a, b));
}
Value PlainBuilder::equal(Value a, Value b) {
  return isFloat(a) ? Value(arith::CmpFOp::create(*this, arith::CmpFPredicate::OEQ, a, b))
                    : Value(arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, a, b));
}
Value PlainBuilder::no(Value condition) { return arith::XOrIOp::create(*this, condition, boolean(true)); }

Value PlainBuilder::toIndex(Value integer) { return arith::IndexCastOp::create(*this, getIndexType(), integer); }
Value PlainBuilder::toInt64(Value index) { return arith::IndexCastOp::create(*this, getI64Type(), index); }

Value PlainBuilder::convert(Value v, Type type) {
  if (v.getType() == type)
    return v;
  if (!isFloat(v))
    return arith::SIToFPOp::create(*this, type, v);
  if (!isa<FloatType>(type))
    return arith::FPToSIOp::create(*this, type, v);
  // One instruction of the target converts between neighbours only; bf16 and f16 meet in float32.
  Type f32 = getF32Type();
  unsigned from = v.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  if (v.getType() != f32 && type != f32)
    return convert(convert(v, f32), type);
  return from < to ? Value(arith::ExtFOp::create(*this, type, v)) : Value(arith::TruncFOp::create(*this, type, v));
}

//===----------------------------------------------------------------------===//
// Numerics
//===----------------------------------------------------------------------===//

Numerics::Numerics(PlainBuilder &b, Type model)
    : model(model), wide(model.isF32() ? b.getF64Type() : b.getF32Type()), b(b) {}

Value Numerics::read(Value tensor, ValueRange at) const { return b.convert(b.extract(tensor, at), wide); }

Value Numerics::weight(Value tensor, ValueRange at) const {
  return b.convert(b.convert(b.extract(tensor, at), model), wide);
}

Value Numerics::md(Value v) const { return model.isF32() ? v : b.convert(b.convert(v, model), wide); }

Value Numerics::exp(Value x) const { return math::ExpOp::create(b, x); }

Value Numerics::sigmoid(Value x) const { return b.div(real(1), b.add(real(1), exp(arith::NegFOp::create(b, x)))); }

Value Numerics::silu(Value x) const { return b.div(x, b.add(real(1), exp(arith::NegFOp::create(b, x)))); }

Value Numerics::rsqrt(Value x) const { return b.div(real(1), math::SqrtOp::create(b, x)); }
