// Plain lowering of full attention: rotary tables, rotation, scores, softmax, mixing.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnterp::hybrid;
using namespace nnterp::plain;

namespace {

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Which of the three positions turns frequency i: height at i = 1 mod 3, width at i = 2 mod 3, within their sections;
/// else time.
Value positionAxis(PlainBuilder &b, RopeTableOp op, Value i) {
  Value phase = b.remainder(i, b.index(3)), axis = b.index(0);
  for (int64_t candidate : {1, 2}) {
    Value within = b.less(i, b.index(3 * op.getSections()[candidate]));
    axis = b.select(b.both(b.equal(phase, b.index(candidate)), within), b.index(candidate), axis);
  }
  return axis;
}

Results lowerOp(PlainBuilder &b, RopeTableOp op) {
  RankedTensorType type = typeOf(op.getCosines());
  Type f64 = b.getF64Type();
  auto frequencyType = RankedTensorType::get({int64_t(op.getInvFreq().size())}, b.getF32Type());
  Value frequencies = arith::ConstantOp::create(b, DenseElementsAttr::get(frequencyType, op.getInvFreq()));
  SmallVector<Value> sizes;
  for (int64_t axis : {0, 1})
    if (type.isDynamicDim(axis))
      sizes.push_back(b.dim(op.getPositions(), axis + 1));
  auto table = [&](function_ref<Value(Value)> turn) {
    return b.tabulate(type, sizes, [&](ValueRange at) {
      Value position = b.convert(b.extract(op.getPositions(), {positionAxis(b, op, at[2]), at[0], at[1]}), f64);
      Value angle = b.mul(b.convert(b.extract(frequencies, at[2]), f64), position);
      return b.convert(b.convert(turn(angle), b.getF32Type()), type.getElementType());
    });
  };
  return {table([&](Value angle) -> Value { return math::CosOp::create(b, angle); }),
          table([&](Value angle) -> Value { return math::SinOp::create(b, angle); })};
}

Results lowerOp(PlainBuilder &b, RopeOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type f32 = b.getF32Type(), model = type.getElementType(), step = elementOf(op.getCosines());
  // float32 arithmetic in every program, each step rounded to the dtype of the tables.
  auto md = [&](Value v) { return b.convert(b.convert(v, step), f32); };
  int64_t half = lastDim(op.getCosines());
  return {b.tabulate(type, b.sizesLike(type, op.getInput()), [&](ValueRange at) {
    Value d = at[3];
    auto input = [&](Value i) { return b.convert(b.extract(op.getInput(), {at[0], at[1], at[2], i}), f32); };
    auto rotated = [&]() -> Value {
      Value low = b.less(d, b.index(half));
      Value pair = b.select(low, d, b.sub(d, b.index(half)));
      Value other = input(b.select(low, b.add(d, b.index(half)), pair));
      Value turned = b.select(low, arith::NegFOp::create(b, other), other);
      auto factor = [&](Value table) { return b.convert(b.extract(table, {at[0], at[1], pair}), f32); };
      Value along = md(b.mul(input(d), factor(op.getCosines())));
      return b.convert(b.add(along, md(b.mul(turned, factor(op.getSines())))), model);
    };
    return b.ifElse(b.less(d, b.index(2 * half)), rotated, [&] { return b.extract(op.getInput(), at); });
  })};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The key head of a query head.
Value keyHead(PlainBuilder &b, Value head, Value queries, Value keys) {
  return b.div(head, b.index(typeOf(queries).getDimSize(1) / typeOf(keys).getDimSize(1)));
}

/// How many keys a query sees, of `all`. In a ragged call a query behind its row's end may stand behind all keys.
Value keysSeen(PlainBuilder &b, Value past, Value row, Value query, Value all) {
  Value own = b.add(b.tokenPlace(past, row, query), b.index(1));
  return b.select(b.less(all, own), all, own);
}

Results lowerOp(PlainBuilder &b, AttentionScoresOp op) {
  Numerics n(b, elementOf(op.getQueries()));
  RankedTensorType type = typeOf(op.getResult());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < 4; ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(axis == 3 ? b.dim(op.getKeys(), 2) : b.dim(op.getQueries(), axis));
  Value depth = b.dim(op.getQueries(), 3);
  return {b.tabulate(type, sizes, [&](ValueRange at) {
    Value query = at[2], key = at[3];
    auto score = [&] {
      Value head = keyHead(b, at[1], op.getQueries(), op.getKeys());
      Value dot = b.sum(depth, n.wide, [&](Value d) {
        return b.mul(n.read(op.getQueries(), {at[0], at[1], query, d}), n.read(op.getKeys(), {at[0], head, key, d}));
      });
      return n.store(b.mul(n.md(dot), n.real(op.getScale().convertToDouble())));
    };
    return b.ifElse(b.atMost(key, b.tokenPlace(op.getPast(), at[0], query)), score, [&] { return b.lowest(n.model); });
  })};
}

Results lowerOp(PlainBuilder &b, SoftmaxOp op) {
  Value input = op.getInput();
  Numerics n(b, elementOf(input));
  RankedTensorType type = typeOf(op.getResult());
  auto rowType = RankedTensorType::get(type.getShape().drop_back(), n.wide);
  SmallVector<Value> rowSizes = b.sizesLike(rowType, input);
  // The entries of a row that count.
  auto extent = [&](ValueRange row) {
    Value all = b.dim(input, rankOf(input) - 1);
    return op.getCausal() ? keysSeen(b, op.getPast(), row.front(), row.back(), all) : all;
  };
  auto entry = [&](ValueRange row, Value j) {
    SmallVector<Value> at(row);
    at.push_back(j);
    return n.read(input, at);
  };
  Value peaks = b.tabulate(rowType, rowSizes, [&](ValueRange row) {
    return b.largest(extent(row), b.lowest(n.wide), [&](Value j) { return entry(row, j); });
  });
  auto exponential = [&](ValueRange row, Value j) { return n.exp(b.sub(entry(row, j), b.extract(peaks, row))); };
  Value totals = b.tabulate(rowType, rowSizes, [&](ValueRange row) {
    return b.sum(extent(row), n.wide, [&](Value j) { return exponential(row, j); });
  });
  return {b.tabulate(type, b.sizesLike(type, input), [&](ValueRange at) {
    ValueRange row = at.drop_back();
    auto probability = [&] {
      return b.convert(b.div(exponential(row, at.back()), b.extract(totals, row)), type.getElementType());
    };
    if (!op.getCausal())
      return probability();
    return b.ifElse(b.atMost(at.back(), b.tokenPlace(op.getPast(), row.front(), row.back())), probability,
                    [&] { return b.zero(type.getElementType()); });
  })};
}

Results lowerOp(PlainBuilder &b, AttentionMixOp op) {
  Numerics n(b, elementOf(op.getValues()));
  RankedTensorType type = typeOf(op.getResult());
  constexpr int64_t from[] = {0, 2, 1};
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < 4; ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(axis == 3 ? b.dim(op.getValues(), 3) : b.dim(op.getProbabilities(), from[axis]));
  return {b.tabulate(type, sizes, [&](ValueRange at) {
    Value row = at[0], query = at[1], head = at[2], d = at[3];
    Value valueHead = keyHead(b, head, op.getProbabilities(), op.getValues());
    Value keys = keysSeen(b, op.getPast(), row, query, b.dim(op.getValues(), 2));
    return n.store(b.sum(keys, n.wide, [&](Value key) {
      return b.mul(n.read(op.getProbabilities(), {row, head, query, key}),
                   n.read(op.getValues(), {row, valueHead, key, d}));
    }));
  })};
}

} // namespace

std::optional<Results> nnterp::plain::lowerAttention(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<RopeTableOp, RopeOp, AttentionScoresOp, SoftmaxOp, AttentionMixOp>([&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
