// Plain lowering of the image encoder: patches, their positions, attention within images, and image features among
// tokens.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace nnterp::hybrid;
using namespace nnterp::plain;

namespace {

/// Rows of `patches`.
enum Place { row, column, height, width, begin, end };

Value place(PlainBuilder &b, Value patches, Place what, Value patch) {
  return b.extractIndex(patches, {b.index(what), patch});
}

/// Sizes for a result whose one dynamic axis counts patches.
SmallVector<Value> perPatch(PlainBuilder &b, Value patches) { return {b.dim(patches, 1)}; }

//===----------------------------------------------------------------------===//
// Embeddings
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, PatchEmbedOp op) {
  Numerics n(b, op.getElement());
  ArrayRef<int64_t> shape = typeOf(op.getWeight()).getShape();
  Value entries = b.dim(op.getPixels(), 1);
  return {b.tabulate(typeOf(op.getResult()), b.dim(op.getPixels(), 0), [&](ValueRange at) {
    Value y = b.sum(entries, n.wide, [&](Value k) {
      SmallVector<Value> from(5);
      from[0] = at[2];
      Value left = k;
      for (int64_t axis = 4; axis > 0; --axis) {
        from[axis] = b.remainder(left, b.index(shape[axis]));
        left = b.div(left, b.index(shape[axis]));
      }
      Value pixel = b.convert(b.convert(b.extract(op.getPixels(), {at[1], k}), n.model), n.wide);
      return b.mul(pixel, n.weight(op.getWeight(), from));
    });
    return n.store(b.add(y, n.weight(op.getBias(), at[2])));
  })};
}

/// Where a patch falls between two lines of a table of `side` lines: the lines and their weights, in float32.
struct Between {
  Value lines[2], weights[2];

  Between(PlainBuilder &b, Value index, Value extent, int64_t side) {
    Type f32 = b.getF32Type();
    Value last = b.index(side - 1), one = b.index(1);
    auto toFloat = [&](Value i) { return b.convert(b.toInt64(i), f32); };
    Value gaps = b.sub(extent, one);
    gaps = b.select(b.less(gaps, one), one, gaps);
    Value at = b.div(toFloat(b.mul(index, last)), toFloat(gaps));
    lines[0] = b.toIndex(b.convert(at, b.getI64Type())); // at is not negative: truncation is the floor
    lines[1] = b.add(lines[0], one);
    lines[1] = b.select(b.less(last, lines[1]), last, lines[1]);
    Value part = b.sub(at, toFloat(lines[0]));
    for (int64_t tap : {0, 1}) {
      Value distance = math::AbsFOp::create(b, b.sub(part, b.real(f32, double(tap))));
      Value weight = b.sub(b.real(f32, 1), distance);
      weights[tap] = b.select(b.less(weight, b.zero(f32)), b.zero(f32), weight);
    }
  }
};

Results lowerOp(PlainBuilder &b, PosEmbedOp op) {
  Numerics n(b, op.getElement());
  int64_t side = std::llround(std::sqrt(double(typeOf(op.getTable()).getDimSize(0))));
  return {b.tabulate(typeOf(op.getResult()), perPatch(b, op.getPatches()), [&](ValueRange at) {
    auto axis = [&](Place index, Place extent) {
      return Between(b, place(b, op.getPatches(), index, at[1]), place(b, op.getPatches(), extent, at[1]), side);
    };
    Between rows = axis(row, height), columns = axis(column, width);
    Value sum;
    for (int64_t r : {0, 1})
      for (int64_t c : {0, 1}) {
        Value entry = b.add(b.mul(rows.lines[r], b.index(side)), columns.lines[c]);
        Value weight = b.convert(b.mul(rows.weights[r], columns.weights[c]), n.wide);
        Value term = b.mul(weight, n.weight(op.getTable(), {entry, at[2]}));
        sum = sum ? b.add(sum, term) : term;
      }
    return n.store(sum);
  })};
}

Results lowerOp(PlainBuilder &b, PatchRopeTableOp op) {
  Type f64 = b.getF64Type();
  int64_t quarter = int64_t(op.getInvFreq().size());
  auto frequencyType = RankedTensorType::get({quarter}, b.getF32Type());
  Value frequencies = arith::ConstantOp::create(b, DenseElementsAttr::get(frequencyType, op.getInvFreq()));
  auto table = [&](function_ref<Value(Value)> turn) {
    return b.tabulate(typeOf(op.getCosines()), perPatch(b, op.getPatches()), [&](ValueRange at) {
      Value byRow = b.less(at[2], b.index(quarter));
      Value i = b.select(byRow, at[2], b.sub(at[2], b.index(quarter)));
      Value position = b.select(byRow, place(b, op.getPatches(), row, at[1]), place(b, op.getPatches(), column, at[1]));
      Value angle = b.mul(b.convert(b.extract(frequencies, i), f64), b.convert(b.toInt64(position), f64));
      return b.convert(turn(angle), b.getF32Type());
    });
  };
  return {table([&](Value angle) -> Value { return math::CosOp::create(b, angle); }),
          table([&](Value angle) -> Value { return math::SinOp::create(b, angle); })};
}

//===----------------------------------------------------------------------===//
// Norms and activations
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, LayerNormOp op) {
  Value x = op.getInput();
  Numerics n(b, elementOf(x));
  auto rowType = RankedTensorType::get(typeOf(x).getShape().drop_back(), n.wide);
  SmallVector<Value> rowSizes = b.sizesLike(rowType, x);
  Value count = n.real(double(lastDim(x)));
  auto average = [&](function_ref<Value(ValueRange, Value)> term) {
    return b.tabulate(rowType, rowSizes, [&](ValueRange at) {
      Value total = b.sum(b.index(lastDim(x)), n.wide, [&](Value i) {
        SmallVector<Value> entry(at);
        entry.push_back(i);
        return term(at, n.read(x, entry));
      });
      return b.div(total, count);
    });
  };
  Value means = average([&](ValueRange, Value v) { return v; });
  Value variances = average([&](ValueRange at, Value v) {
    Value difference = b.sub(v, b.extract(means, at));
    return b.mul(difference, difference);
  });
  return {b.tabulate(typeOf(op.getResult()), b.sizesLike(typeOf(op.getResult()), x), [&](ValueRange at) {
    ValueRange token = at.drop_back();
    Value inverse = n.rsqrt(b.add(b.extract(variances, token), n.real(op.getEps().convertToDouble())));
    Value y = b.mul(b.sub(n.read(x, at), b.extract(means, token)), inverse);
    return n.store(b.add(b.mul(y, n.weight(op.getWeight(), at.back())), n.weight(op.getBias(), at.back())));
  })};
}

Results lowerOp(PlainBuilder &b, GeluOp op) {
  Numerics n(b, elementOf(op.getInput()));
  return {b.tabulate(typeOf(op.getResult()), b.sizesLike(typeOf(op.getResult()), op.getInput()), [&](ValueRange at) {
    Value x = n.read(op.getInput(), at), inner;
    if (op.getTanh()) {
      Value cube = b.mul(b.mul(x, x), x);
      Value shifted = b.add(x, b.mul(n.real(0.044715), cube));
      inner = math::TanhOp::create(b, b.mul(n.real(std::sqrt(2 / M_PI)), shifted));
    } else {
      inner = math::ErfOp::create(b, b.mul(x, n.real(1 / std::sqrt(2.0))));
    }
    return n.store(b.mul(b.mul(n.real(0.5), x), b.add(n.real(1), inner)));
  })};
}

//===----------------------------------------------------------------------===//
// Attention within an image
//===----------------------------------------------------------------------===//

/// The score of one query and one key of [1,H,P,D] values.
Value score(PlainBuilder &b, const Numerics &n, Value queries, Value keys, double scale, Value head, Value query,
            Value key) {
  Value zero = b.index(0);
  Value dot = b.sum(b.dim(queries, 3), n.wide, [&](Value d) {
    return b.mul(n.read(queries, {zero, head, query, d}), n.read(keys, {zero, head, key, d}));
  });
  return n.md(b.mul(n.md(dot), n.real(scale)));
}

/// Three passes over a query's keys, so that no row of scores is held: the largest score, the sum of exponentials, the
/// mix.
Results lowerOp(PlainBuilder &b, SegmentAttentionOp op) {
  Numerics n(b, elementOf(op.getQueries()));
  double scale = op.getScale().convertToDouble();
  RankedTensorType type = typeOf(op.getResult());
  auto rowType = RankedTensorType::get({type.getDimSize(1), type.getDimSize(2)}, n.wide);
  Value patches = op.getPatches();
  // Rounded as `hybrid.segment_scores` stores it: to look at an image's scores does not change a bit.
  auto scoreOf = [&](Value patch, Value head, Value key) {
    return b.convert(n.store(score(b, n, op.getQueries(), op.getKeys(), scale, head, patch, key)), n.wide);
  };
  auto count = [&](Value patch) { return b.sub(place(b, patches, end, patch), place(b, patches, begin, patch)); };
  auto keyAt = [&](Value patch, Value i) { return b.add(place(b, patches, begin, patch), i); };
  Value peaks = b.tabulate(rowType, perPatch(b, patches), [&](ValueRange at) {
    return b.largest(count(at[0]), b.lowest(n.wide), [&](Value i) { return scoreOf(at[0], at[1], keyAt(at[0], i)); });
  });
  auto exponential = [&](Value patch, Value head, Value key) {
    return n.exp(b.sub(scoreOf(patch, head, key), b.extract(peaks, {patch, head})));
  };
  Value totals = b.tabulate(rowType, perPatch(b, patches), [&](ValueRange at) {
    return b.sum(count(at[0]), n.wide, [&](Value i) { return exponential(at[0], at[1], keyAt(at[0], i)); });
  });
  return {b.tabulate(type, perPatch(b, patches), [&](ValueRange at) {
    Value patch = at[1], head = at[2];
    return n.store(b.sum(count(patch), n.wide, [&](Value i) {
      Value key = keyAt(patch, i);
      Value probability = b.div(exponential(patch, head, key), b.extract(totals, {patch, head}));
      probability = b.convert(b.convert(probability, n.model), n.wide);
      return b.mul(probability, n.read(op.getValues(), {b.index(0), head, key, at[3]}));
    }));
  })};
}

/// First patch and number of patches of one image.
struct Segment {
  Value first, count;
  Segment(PlainBuilder &b, Value segments, uint64_t number) {
    first = b.extractIndex(segments, b.index(int64_t(number)));
    count = b.sub(b.extractIndex(segments, b.index(int64_t(number) + 1)), first);
  }
};

Results lowerOp(PlainBuilder &b, SegmentScoresOp op) {
  Numerics n(b, elementOf(op.getQueries()));
  Segment segment(b, op.getSegments(), op.getSegment());
  return {b.tabulate(typeOf(op.getResult()), {segment.count, segment.count}, [&](ValueRange at) {
    Value s = score(b, n, op.getQueries(), op.getKeys(), op.getScale().convertToDouble(), at[1],
                    b.add(segment.first, at[2]), b.add(segment.first, at[3]));
    return n.store(s);
  })};
}

Results lowerOp(PlainBuilder &b, SegmentMixOp op) {
  Numerics n(b, elementOf(op.getValues()));
  Segment segment(b, op.getSegments(), op.getSegment());
  return {b.update(op.getWhole(), [&](ValueRange at, Value old) {
    Value query = b.sub(at[1], segment.first);
    Value inside = b.both(b.atLeast(at[1], segment.first), b.less(query, segment.count));
    auto mixed = [&] {
      return n.store(b.sum(segment.count, n.wide, [&](Value key) {
        return b.mul(n.read(op.getProbabilities(), {b.index(0), at[2], query, key}),
                     n.read(op.getValues(), {b.index(0), at[2], b.add(segment.first, key), at[3]}));
      }));
    };
    return b.ifElse(inside, mixed, [&] { return old; });
  })};
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, PatchRowsOp op) {
  return {b.tabulate(typeOf(op.getResult()), b.dim(op.getInput(), 1), [&](ValueRange at) {
    return b.extract(op.getInput(), {b.index(0), at[0], at[1]});
  })};
}

Results lowerOp(PlainBuilder &b, MergePatchesOp op) {
  Value n = b.index(int64_t(op.getN())), channels = b.dim(op.getInput(), 1);
  return {b.tabulate(typeOf(op.getResult()), b.div(b.dim(op.getInput(), 0), n), [&](ValueRange at) {
    Value patch = b.add(b.mul(at[0], n), b.div(at[1], channels));
    return b.extract(op.getInput(), {patch, b.remainder(at[1], channels)});
  })};
}

Results lowerOp(PlainBuilder &b, ScatterRowsOp op) {
  return {b.update(op.getInput(), [&](ValueRange at, Value old) {
    Value from = b.extract(op.getPlaces(), at.drop_back());
    return b.ifElse(
        b.atLeast(from, b.i64(0)),
        [&] {
          return b.extract(op.getRows(), {b.toIndex(from), at.back()});
        },
        [&] { return old; });
  })};
}

Results lowerOp(PlainBuilder &b, ImageMaskOp op) {
  return {b.update(op.getPlaces(),
                   [&](ValueRange, Value from) { return b.select(b.atLeast(from, b.i64(0)), b.i64(1), b.i64(0)); })};
}

} // namespace

std::optional<Results> nnterp::plain::lowerImages(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<PatchEmbedOp, PosEmbedOp, PatchRopeTableOp, LayerNormOp, GeluOp, SegmentAttentionOp, SegmentScoresOp,
            SegmentMixOp, PatchRowsOp, MergePatchesOp, ScatterRowsOp, ImageMaskOp>(
          [&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
