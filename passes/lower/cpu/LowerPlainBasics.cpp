// Plain lowering of inputs, norms, projections, elementwise ops and layouts.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnterp::hybrid;
using namespace nnterp::plain;

namespace {

/// The indices with the last one replaced.
SmallVector<Value> withLast(ValueRange at, Value last) {
  SmallVector<Value> result(at.drop_back());
  result.push_back(last);
  return result;
}

/// Tabulates an op's only result, whose dynamic axes are those of `like`.
Results tabulateLike(PlainBuilder &b, Value result, Value like, PlainBuilder::ElementBody body) {
  return {b.tabulate(typeOf(result), b.sizesLike(typeOf(result), like), body)};
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, TokenMaskOp op) {
  return tabulateLike(b, op.getResult(), op.getIds(), [&](ValueRange at) {
    Value real = b.less(at[1], b.extractIndex(op.getLengths(), at[0]));
    return b.select(real, b.i64(1), b.i64(0));
  });
}

Results lowerOp(PlainBuilder &b, InputSizeOp op) {
  Value batch = b.toInt64(b.dim(op.getIds(), 0)), padded = b.toInt64(b.dim(op.getIds(), 1));
  // No choice between two numbers: on a GPU they are parameters, and choosing would become a load from a computed address.
  return tabulateLike(b, op.getResult(), op.getIds(), [&](ValueRange at) {
    return b.add(batch, b.mul(b.toInt64(at[0]), b.sub(padded, batch)));
  });
}

Results lowerOp(PlainBuilder &b, EmbeddingOp op) {
  Numerics n(b, op.getElement());
  return tabulateLike(b, op.getResult(), op.getIds(), [&](ValueRange at) {
    return n.store(n.weight(op.getTable(), {b.extractIndex(op.getIds(), at.drop_back()), at.back()}));
  });
}

Results lowerOp(PlainBuilder &b, LastTokenOp op) {
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value length = b.extractIndex(op.getLengths(), at[0]), one = b.index(1);
    Value last = b.select(b.less(length, one), b.index(0), b.sub(length, one));
    return b.extract(op.getInput(), {at[0], last, at[1]});
  });
}

//===----------------------------------------------------------------------===//
// Norms and projections
//===----------------------------------------------------------------------===//

/// sum(x*x) over the last axis: a tensor without that axis.
Value sumOfSquares(PlainBuilder &b, const Numerics &n, Value x) {
  auto type = RankedTensorType::get(typeOf(x).getShape().drop_back(), n.wide);
  return b.tabulate(type, b.sizesLike(type, x), [&](ValueRange at) {
    return b.sum(b.dim(x, rankOf(x) - 1), n.wide, [&](Value i) {
      SmallVector<Value> entry(at);
      entry.push_back(i);
      Value v = n.read(x, entry);
      return b.mul(v, v);
    });
  });
}

/// x * rsqrt(mean(x*x) + eps) at an index, given the sums of squares.
Value normalised(PlainBuilder &b, const Numerics &n, Value x, Value squares, ValueRange at, const APFloat &eps) {
  Value mean = b.div(b.extract(squares, at.drop_back()), n.real(double(lastDim(x))));
  return b.mul(n.read(x, at), n.rsqrt(b.add(mean, n.real(eps.convertToDouble()))));
}

Results lowerOp(PlainBuilder &b, RmsNormOp op) {
  Numerics n(b, elementOf(op.getInput()));
  Value squares = sumOfSquares(b, n, op.getInput());
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value gain = n.weight(op.getWeight(), at.back());
    if (op.getUnitOffset())
      gain = b.add(n.real(1), gain);
    return n.store(b.mul(normalised(b, n, op.getInput(), squares, at, op.getEps()), gain));
  });
}

Results lowerOp(PlainBuilder &b, GatedRmsNormOp op) {
  Numerics n(b, elementOf(op.getInput()));
  Value squares = sumOfSquares(b, n, op.getInput());
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value y = n.md(normalised(b, n, op.getInput(), squares, at, op.getEps()));
    y = n.md(b.mul(n.weight(op.getWeight(), at.back()), y));
    return n.store(b.mul(y, n.silu(n.read(op.getGate(), at))));
  });
}

Results lowerOp(PlainBuilder &b, L2NormOp op) {
  Numerics n(b, elementOf(op.getInput()));
  Value squares = sumOfSquares(b, n, op.getInput());
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value inverse = n.rsqrt(b.add(b.extract(squares, at.drop_back()), n.real(op.getEps().convertToDouble())));
    Value y = b.mul(b.mul(n.read(op.getInput(), at), inverse), n.real(op.getScale().convertToDouble()));
    return b.convert(y, b.getF32Type());
  });
}

Results lowerOp(PlainBuilder &b, LinearOp op) {
  Numerics n(b, elementOf(op.getInput()));
  Value depth = b.dim(op.getWeight(), 1);
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value y = b.sum(depth, n.wide, [&](Value k) {
      return b.mul(n.read(op.getInput(), withLast(at, k)), n.weight(op.getWeight(), {at.back(), k}));
    });
    return n.store(op.getBias() ? b.add(y, n.weight(op.getBias(), at.back())) : y);
  });
}

//===----------------------------------------------------------------------===//
// Elementwise and layout
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, SiluOp op) {
  Numerics n(b, elementOf(op.getInput()));
  return tabulateLike(b, op.getResult(), op.getInput(),
                      [&](ValueRange at) { return n.store(n.silu(n.read(op.getInput(), at))); });
}

Results lowerOp(PlainBuilder &b, SigmoidOp op) {
  Numerics n(b, elementOf(op.getInput()));
  return tabulateLike(b, op.getResult(), op.getInput(),
                      [&](ValueRange at) { return n.store(n.sigmoid(n.read(op.getInput(), at))); });
}

/// An entry as float32: sums and products of two activations are those of float32 arithmetic in every program.
Value readFloat32(PlainBuilder &b, Value tensor, ValueRange at) {
  return b.convert(b.extract(tensor, at), b.getF32Type());
}

Results lowerOp(PlainBuilder &b, AddOp op) {
  return tabulateLike(b, op.getResult(), op.getLhs(), [&](ValueRange at) {
    return b.convert(b.add(readFloat32(b, op.getLhs(), at), readFloat32(b, op.getRhs(), at)),
                     elementOf(op.getResult()));
  });
}

Results lowerOp(PlainBuilder &b, MulOp op) {
  return tabulateLike(b, op.getResult(), op.getLhs(), [&](ValueRange at) {
    return b.convert(b.mul(readFloat32(b, op.getLhs(), at), readFloat32(b, op.getRhs(), at)),
                     elementOf(op.getResult()));
  });
}

Results lowerOp(PlainBuilder &b, GateOp op) {
  Numerics n(b, elementOf(op.getInput()));
  bool broadcast = lastDim(op.getGate()) == 1;
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value g = n.read(op.getGate(), broadcast ? withLast(at, b.index(0)) : SmallVector<Value>(at));
    // Rounded before the product in every program, so that tapped values reproduce it bit for bit.
    Value gate = b.convert(n.store(n.sigmoid(g)), b.getF32Type());
    return n.store(b.mul(readFloat32(b, op.getInput(), at), gate));
  });
}

Results lowerOp(PlainBuilder &b, HeadsOp op) {
  Value offset = b.index(op.getOffset()), stride = b.index(op.getStride()), repeat = b.index(op.getRepeat());
  return tabulateLike(b, op.getResult(), op.getInput(), [&](ValueRange at) {
    Value head = at[at.size() - 2], d = at.back();
    Value channel = b.add(b.add(offset, b.mul(b.div(head, repeat), stride)), d);
    return b.extract(op.getInput(), withLast(at.drop_back(), channel));
  });
}

Results lowerOp(PlainBuilder &b, MergeHeadsOp op) {
  int64_t rank = typeOf(op.getResult()).getRank();
  SmallVector<ReassociationIndices> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    axes.push_back({axis});
  axes.back().push_back(rank);
  return {tensor::CollapseShapeOp::create(b, op.getType(), op.getInput(), axes)};
}

Results lowerOp(PlainBuilder &b, SwapHeadsOp op) {
  RankedTensorType type = typeOf(op.getResult());
  constexpr int64_t from[] = {0, 2, 1, 3};
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < 4; ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(b.dim(op.getInput(), from[axis]));
  return {b.tabulate(type, sizes, [&](ValueRange at) {
    return b.extract(op.getInput(), {at[0], at[2], at[1], at[3]});
  })};
}

} // namespace

std::optional<Results> nnterp::plain::lowerBasics(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<TokenMaskOp, InputSizeOp, EmbeddingOp, LastTokenOp, RmsNormOp, GatedRmsNormOp, L2NormOp, LinearOp, SiluOp,
            SigmoidOp, AddOp, MulOp, GateOp, HeadsOp, MergeHeadsOp, SwapHeadsOp>(
          [&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
