// Builds tensors element by element: the vocabulary in which the plain lowering is written.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>

namespace nnterp::plain {

using mlir::ArrayRef;
using mlir::RankedTensorType;
using mlir::SmallVector;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

inline RankedTensorType typeOf(Value v) { return mlir::cast<RankedTensorType>(v.getType()); }
inline Type elementOf(Value v) { return typeOf(v).getElementType(); }
inline int64_t rankOf(Value v) { return typeOf(v).getRank(); }
inline int64_t lastDim(Value v) { return typeOf(v).getShape().back(); }

/// Creates linalg, scf and arith ops at the insertion point. Bodies are functions from indices to scalars; they create
/// their ops through the same builder.
class PlainBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using ElementBody = mlir::function_ref<Value(ValueRange at)>;
  using UpdateBody = mlir::function_ref<Value(ValueRange at, Value old)>;
  /// Whether the host cannot read tensors, and tables may be shorter than their axis (pass nnterp-lower-plain, option device).
  bool device = false;
  using LoopBody = mlir::function_ref<SmallVector<Value>(Value i, ValueRange carried)>;

  // Tensors.
  /// The extent of an axis: a constant where the type has it.
  Value dim(Value tensor, int64_t axis);
  /// The extents of `type`'s dynamic axes, read from the same axes of `like`.
  SmallVector<Value> sizesLike(RankedTensorType type, Value like);
  /// A tensor with undefined contents that a loop carries and fills in. Always memory of its own: bufferization cannot
  /// carry the memory of a result through a loop (it sees a conflict between the loop and the result's own write).
  Value buffer(RankedTensorType type, ValueRange sizes);
  /// The tensor whose entry at each index is `body(index)`; `sizes` are the extents of the dynamic axes of `type`.
  Value tabulate(RankedTensorType type, ValueRange sizes, ElementBody body);
  /// The tensor with every entry replaced by `body(index, entry)`; in place where nothing else needs the old one.
  Value update(Value tensor, UpdateBody body);
  Value extract(Value tensor, ValueRange at);
  /// The entry of an int64 tensor as an index.
  Value extractIndex(Value tensor, ValueRange at);
  /// The place in its sequence of a row's token number `i` of the call: behind its `past[row]` earlier ones, if there are any.
  Value tokenPlace(Value past, Value row, Value i);

  // Control flow.
  /// Runs `body` for i = 0 .. end-1, carrying values.
  SmallVector<Value> loop(Value end, ValueRange init, LoopBody body);
  /// `body(0) + body(1) + ...`, left to right, starting at zero of `type`.
  Value sum(Value end, Type type, mlir::function_ref<Value(Value i)> body);
  /// The largest of `body(0), body(1), ...`, at least `least`.
  Value largest(Value end, Value least, mlir::function_ref<Value(Value i)> body);
  Value ifElse(Value condition, mlir::function_ref<Value()> then, mlir::function_ref<Value()> otherwise);

  // Scalars. Arithmetic works on floats and on integers alike; comparisons of integers are signed, of floats ordered.
  Value index(int64_t value);
  Value i64(int64_t value);
  Value boolean(bool value);
  Value real(Type type, double value);
  /// The lowest finite value of a float type.
  Value lowest(Type type);
  Value zero(Type type);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value remainder(Value a, Value b);
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value less(Value a, Value b);
  Value atLeast(Value a, Value b) { return no(less(a, b)); }
  Value greater(Value a, Value b) { return less(b, a); }
  Value atMost(Value a, Value b) { return no(less(b, a)); }
  Value equal(Value a, Value b);
  Value no(Value condition);
  Value toIndex(Value integer);
  Value toInt64(Value index);
  /// Converts a float to another float type through float32, or an integer to a float.
  Value convert(Value v, Type type);
};

/// How an op of a program computes: activations of type `model` enter as `wide`, and leave rounded once. In a float32
/// program `wide` is float64 and the steps within an op are not rounded; in a bfloat16 program it is float32, and `md`
/// rounds where the reference makes a bfloat16 tensor.
class Numerics {
public:
  Numerics(PlainBuilder &b, Type model);

  /// An entry of a tensor, exactly.
  Value read(Value tensor, ValueRange at) const;
  /// An entry of a weight: first rounded to the model dtype, as the reference does on loading.
  Value weight(Value tensor, ValueRange at) const;
  /// Rounds a step within an op.
  Value md(Value v) const;
  /// Rounds a result.
  Value store(Value v) const { return b.convert(v, model); }
  Value real(double value) const { return b.real(wide, value); }

  Value exp(Value x) const;
  Value sigmoid(Value x) const;
  Value silu(Value x) const;
  Value rsqrt(Value x) const;

  Type model, wide;

private:
  PlainBuilder &b;
};

} // namespace nnterp::plain
