// An on-line softmax: scores of a tile of keys, exponentials for the largest score so far, and sums of values.
#include "passes/lower/gpu/kernels/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace nnterp::device {

static Value larger(PlainBuilder &b, Value v, Value w) { return b.select(b.greater(v, w), v, w); }
static Value exp(PlainBuilder &b, Value x) { return math::ExpOp::create(b, x); }

MergedSoftmax::MergedSoftmax(PlainBuilder &b, Value own, Value other) : peak(larger(b, own, other)) {
  factor = exp(b, b.sub(own, peak));
  otherFactor = exp(b, b.sub(other, peak));
}

Value MergedSoftmax::sum(PlainBuilder &b, Value own, Value other) const {
  return fma(b, own, factor, b.mul(other, otherFactor));
}

SmallVector<Value> AttentionBlock::Sums::flat() const {
  SmallVector<Value> all{peak, total};
  llvm::append_range(all, mixed);
  return all;
}

AttentionBlock::Sums AttentionBlock::Sums::of(ValueRange flat) {
  return {flat[0], flat[1], SmallVector<Value>(flat.drop_front(2))};
}

AttentionBlock::AttentionBlock(KernelOp op, StringRef name)
    : op(op), depth(typeOf(0).getDimSize(3)), width(typeOf(2).getDimSize(3)),
      group(typeOf(0).getDimSize(1) / typeOf(1).getDimSize(1)), kernel(op, name, threads), b(kernel.b),
      f32(b.getF32Type()) {}

bool AttentionBlock::fits(int64_t depth, int64_t width) {
  constexpr int64_t most = 48 * 1024; // that any kernel may have without asking
  return 4 * ((pairs + keysPerTile) * (std::max(padded(depth), width) + 1) + pairs * (keysPerTile + 3)) <= most;
}

Value AttentionBlock::hostPairs(KernelOp op) {
  OpBuilder host(op);
  Value sequence = extentsOf(op, op.getInputs()[0])[2];
  auto heads = [&](unsigned input) { return cast<MemRefType>(op.getInputs()[input].getType()).getDimSize(1); };
  Value group = arith::ConstantIndexOp::create(host, op.getLoc(), heads(0) / heads(1));
  return arith::MulIOp::create(host, op.getLoc(), sequence, group);
}

Value AttentionBlock::hostTiles(KernelOp op) {
  Value all = hostPairs(op);
  OpBuilder host(op);
  return arith::CeilDivUIOp::create(host, op.getLoc(), all, arith::ConstantIndexOp::create(host, op.getLoc(), pairs));
}

Value AttentionBlock::headOf(Value pair) {
  return b.add(b.mul(keyHead, b.index(group)), b.remainder(pair, b.index(group)));
}

/// Rounds a step as the model's dtype does.
Value AttentionBlock::md(Value v) { return b.convert(b.convert(v, typeOf(0).getElementType()), f32); }

void AttentionBlock::begin(Value pairTile, Value keyHeadOfBlock, Value rowOfBlock) {
  keyHead = keyHeadOfBlock;
  row = rowOfBlock;
  thread = kernel.thread();
  ownPair = b.div(thread, b.index(lanes));
  lane = b.remainder(thread, b.index(lanes));
  all = b.mul(kernel.import(extentsOf(op, op.getInputs()[0])[2]), b.index(group));
  firstPair = b.mul(pairTile, b.index(pairs));
  past = op.getInputs().size() > 3 ? loadIndex(b, kernel.import(op.getInputs()[3]), row) : b.index(0);
  // Keys behind the last pair's own place are read by none.
  Value lastPair = b.sub(least(b, b.add(firstPair, b.index(pairs)), all), b.index(1));
  limit = least(b, kernel.import(extentsOf(op, op.getInputs()[1])[2]), b.add(placeOf(lastPair), b.index(1)));

  int64_t longest = std::max(padded(depth), width) + 1; // one more, so that neighbours' rows lie in different banks
  queries = kernel.shared({pairs, longest}, f32);
  tile = kernel.shared({keysPerTile, longest}, f32);
  exponentials = kernel.shared({pairs, keysPerTile + 1}, f32);
  factors = kernel.shared({pairs}, f32);
  Value memory = kernel.import(op.getInputs()[0]);
  auto pair = [&](Value i) { return b.add(firstPair, i); };
  fill(
      queries, pairs, depth, padded(depth), [&](Value i) { return b.less(pair(i), all); },
      [&](Value i, Value d) {
        return load(b, memory, {row, headOf(pair(i)), tokenOf(pair(i)), d});
      });
}

AttentionBlock::Sums AttentionBlock::none() {
  return {b.lowest(f32), real(0), SmallVector<Value>(size_t(pairs * columnsPerThread()), real(0))};
}

AttentionBlock::Sums AttentionBlock::segment(Value first) {
  Value end = least(b, b.add(first, b.index(keysPerSegment)), limit);
  return Sums::of(forEach(b, first, end, keysPerTile, none().flat(), [&](Value key, ValueRange carried) {
    Sums sums = Sums::of(carried);
    compare(key, sums);
    mix(key, sums);
    return sums.flat();
  }));
}

void AttentionBlock::tell(Value value, Value array) {
  when(b, b.equal(lane, b.index(0)), [&] { store(b, value, array, ownPair); });
}

/// Rows of a shared array from memory: `rows` of `length` entries, zeros up to the padded length and where a row does
/// not exist.
void AttentionBlock::fill(Value array, int64_t rows, int64_t length, int64_t paddedLength,
                          function_ref<Value(Value i)> exists, function_ref<Value(Value i, Value d)> entry) {
  forEach(b, thread, b.index(rows * paddedLength), threads, [&](Value flat) {
    Value i = b.div(flat, b.index(paddedLength)), d = b.remainder(flat, b.index(paddedLength));
    Value inside = paddedLength == length ? exists(i) : b.both(exists(i), b.less(d, b.index(length)));
    Value v = b.ifElse(
        inside, [&] { return b.convert(entry(i, d), f32); }, [&] { return real(0); });
    store(b, v, array, {i, d});
  });
}

/// Keys or values of a tile.
void AttentionBlock::readTile(unsigned input, Value first, int64_t length, int64_t paddedLength) {
  Value memory = kernel.import(op.getInputs()[input]);
  kernel.barrier();
  fill(
      tile, keysPerTile, length, paddedLength, [&](Value j) { return b.less(b.add(first, j), limit); },
      [&](Value j, Value d) {
        return load(b, memory, {row, keyHead, b.add(first, j), d});
      });
  kernel.barrier();
}

/// Scores of a tile, left as exponentials; the largest score and the sum of exponentials move on, and what was summed
/// for another largest score is to be multiplied with the factors.
void AttentionBlock::compare(Value first, Sums &sums) {
  readTile(1, first, depth, padded(depth));
  Value pair = b.add(firstPair, ownPair), exists = b.less(pair, all), own = placeOf(pair);
  SmallVector<Value> scores = dots(), counts;
  Value peak = sums.peak, scale = real(op.getConfig().getAs<FloatAttr>("scale").getValueAsDouble());
  for (auto [i, score] : llvm::enumerate(scores)) {
    Value key = b.add(first, tileKey(int64_t(i)));
    counts.push_back(b.both(exists, b.both(b.atMost(key, own), b.less(key, limit))));
    score = b.select(counts.back(), md(b.mul(md(score), scale)), b.lowest(f32));
    peak = larger(b, score, peak);
  }
  peak = acrossLanes(b, peak, 1, lanes, [&](Value v, Value w) { return larger(b, v, w); });
  Value total = real(0);
  for (auto [i, score] : llvm::enumerate(scores)) {
    Value exponential = b.select(counts[i], exp(b, b.sub(score, peak)), real(0));
    store(b, exponential, exponentials, {ownPair, tileKey(int64_t(i))});
    total = b.add(total, exponential);
  }
  total = acrossLanes(b, total, 1, lanes, [&](Value v, Value w) { return b.add(v, w); });
  Value factor = exp(b, b.sub(sums.peak, peak));
  tell(factor, factors);
  sums.total = fma(b, sums.total, factor, total);
  sums.peak = peak;
}

/// The own pair's query times the lane's keys.
SmallVector<Value> AttentionBlock::dots() {
  constexpr int64_t keys = keysPerTile / lanes;
  SmallVector<Value> sums(size_t(keys * parts), real(0)), results;
  sums = forEach(b, b.index(0), b.index(depth), parts, sums, [&](Value d, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (int64_t part = 0; part < parts; ++part) {
      Value at = b.add(d, b.index(part)), query = load(b, queries, {ownPair, at});
      for (int64_t i = 0; i < keys; ++i) {
        Value &sum = next[size_t(i * parts + part)];
        sum = fma(b, query, load(b, tile, {tileKey(i), at}), sum);
      }
    }
    return next;
  });
  std::function<Value(ArrayRef<Value>)> tree = [&](ArrayRef<Value> terms) {
    size_t half = terms.size() / 2;
    return half == 0 ? terms[0] : b.add(tree(terms.take_front(half)), tree(terms.drop_front(half)));
  };
  for (int64_t i = 0; i < keys; ++i)
    results.push_back(tree(ArrayRef(sums).slice(size_t(i * parts), size_t(parts))));
  return results;
}

/// Adds a tile's values to the sums of the thread's columns.
void AttentionBlock::mix(Value first, Sums &sums) {
  readTile(2, first, width, width);
  for (int64_t i = 0; i < pairs; ++i) {
    Value factor = load(b, factors, b.index(i));
    for (int64_t c = 0; c < columnsPerThread(); ++c) {
      Value &mixed = sums.mixed[size_t(i * columnsPerThread() + c)];
      mixed = b.mul(mixed, factor);
    }
  }
  sums.mixed = b.loop(b.index(keysPerTile), sums.mixed, [&](Value j, ValueRange carried) {
    SmallVector<Value> values, next;
    for (int64_t c = 0; c < columnsPerThread(); ++c)
      values.push_back(load(b, tile, {j, least(b, column(c), b.index(width - 1))}));
    for (int64_t i = 0; i < pairs; ++i) {
      Value exponential = load(b, exponentials, {b.index(i), j});
      for (Value value : values)
        next.push_back(fma(b, exponential, value, carried[next.size()]));
    }
    return next;
  });
}

} // namespace nnterp::device
