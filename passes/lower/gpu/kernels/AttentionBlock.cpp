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
      tiles(typeOf(0).getElementType().isBF16() ? makeMmaTiles(kernel, depth, width)
                                                : makeFmaTiles(kernel, depth, width)),
      f32(b.getF32Type()) {}

bool AttentionBlock::fits(Type model, int64_t depth, int64_t width) {
  constexpr int64_t most = 48 * 1024; // that any kernel may have without asking
  constexpr int64_t told = 2 * pairs * 4;
  return (model.isBF16() ? bytesOfMmaTiles(depth, width) : bytesOfFmaTiles(depth, width)) + told <= most;
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
  ownPair = b.div(thread, b.index(AttentionTiles::lanes));
  lane = b.remainder(thread, b.index(AttentionTiles::lanes));
  all = b.mul(kernel.import(extentsOf(op, op.getInputs()[0])[2]), b.index(group));
  firstPair = b.mul(pairTile, b.index(pairs));
  past = op.getInputs().size() > 3 ? loadIndex(b, kernel.import(op.getInputs()[3]), row) : b.index(0);
  // Keys behind the last pair's own place are read by none.
  Value lastPair = b.sub(least(b, b.add(firstPair, b.index(pairs)), all), b.index(1));
  limit = least(b, kernel.import(extentsOf(op, op.getInputs()[1])[2]), b.add(placeOf(lastPair), b.index(1)));

  tiles->begin(ownPair, lane);
  factors = kernel.shared({pairs}, f32);
  Value memory = kernel.import(op.getInputs()[0]);
  auto pair = [&](Value i) { return b.add(firstPair, i); };
  auto exists = [&](Value i) { return b.less(pair(i), all); };
  auto entry = [&](Value i, Value d) { return load(b, memory, {row, headOf(pair(i)), tokenOf(pair(i)), d}); };
  tiles->readQueries({exists, entry});
}

AttentionBlock::Sums AttentionBlock::none() {
  return {b.lowest(f32), real(0), SmallVector<Value>(size_t(tiles->sums()), real(0))};
}

AttentionBlock::Sums AttentionBlock::segment(Value first) {
  Value end = least(b, b.add(first, b.index(keysPerSegment)), limit);
  return Sums::of(forEach(b, first, end, tiles->keys, none().flat(), [&](Value key, ValueRange carried) {
    Sums sums = Sums::of(carried);
    compare(key, sums);
    mix(key, sums);
    return sums.flat();
  }));
}

void AttentionBlock::tell(Value value, Value array) {
  when(b, b.equal(lane, b.index(0)), [&] { store(b, value, array, ownPair); });
}

SmallVector<Value> AttentionBlock::told(Value array) {
  SmallVector<Value> values;
  for (Value pair : tiles->ownPairs())
    values.push_back(load(b, array, pair));
  return values;
}

/// Scores of a tile, left as exponentials; the largest score and the sum of exponentials move on, and what was summed
/// for another largest score is to be multiplied with the factors.
void AttentionBlock::compare(Value first, Sums &sums) {
  Value memory = kernel.import(op.getInputs()[1]);
  auto isRead = [&](Value j) { return b.less(b.add(first, j), limit); };
  auto entry = [&](Value j, Value d) { return load(b, memory, {row, keyHead, b.add(first, j), d}); };
  SmallVector<Value> scores = tiles->compare({isRead, entry}), counts, exponentials;
  Value pair = b.add(firstPair, ownPair), exists = b.less(pair, all), own = placeOf(pair);
  Value peak = sums.peak, scale = real(op.getConfig().getAs<FloatAttr>("scale").getValueAsDouble());
  for (auto [i, score] : llvm::enumerate(scores)) {
    Value key = b.add(first, tiles->keyOf(int64_t(i)));
    counts.push_back(b.both(exists, b.both(b.atMost(key, own), b.less(key, limit))));
    score = b.select(counts.back(), md(b.mul(md(score), scale)), b.lowest(f32));
    peak = larger(b, score, peak);
  }
  constexpr int64_t lanes = AttentionTiles::lanes;
  peak = acrossLanes(b, peak, 1, lanes, [&](Value v, Value w) { return larger(b, v, w); });
  Value total = real(0);
  for (auto [i, score] : llvm::enumerate(scores)) {
    exponentials.push_back(b.select(counts[i], exp(b, b.sub(score, peak)), real(0)));
    total = b.add(total, exponentials.back());
  }
  tiles->weigh(exponentials);
  total = acrossLanes(b, total, 1, lanes, [&](Value v, Value w) { return b.add(v, w); });
  Value factor = exp(b, b.sub(sums.peak, peak));
  tell(factor, factors);
  sums.total = fma(b, sums.total, factor, total);
  sums.peak = peak;
}

/// Adds a tile's values to the thread's sums.
void AttentionBlock::mix(Value first, Sums &sums) {
  Value memory = kernel.import(op.getInputs()[2]);
  auto isRead = [&](Value j) { return b.less(b.add(first, j), limit); };
  auto entry = [&](Value j, Value e) { return load(b, memory, {row, keyHead, b.add(first, j), e}); };
  sums.mixed = tiles->mix({isRead, entry}, [&] {
    SmallVector<Value> known = told(factors), scaled;
    for (auto [i, mixed] : llvm::enumerate(sums.mixed))
      scaled.push_back(b.mul(mixed, known[size_t(tiles->pairOf(int64_t(i)))]));
    return scaled;
  });
}

} // namespace nnterp::device
