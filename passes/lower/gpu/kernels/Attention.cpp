// Attention with an on-line softmax: scores and probabilities stay in a block, whether somebody looks at them elsewhere
// or not.
#include "passes/lower/gpu/kernels/Attention.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// A block goes through all segments of its pairs: for many tokens.
class WholeAttention : AttentionBlock {
public:
  explicit WholeAttention(KernelOp op) : AttentionBlock(op, "attention") {}

  void build() {
    begin(kernel.block(0), kernel.block(1), kernel.block(2));
    otherFactors = kernel.shared({pairs}, f32);
    auto summed = forEach(b, b.index(0), limit, keysPerSegment, none().flat(), [&](Value first, ValueRange carried) {
      Sums sums = Sums::of(carried);
      merge(sums, segment(first));
      return sums.flat();
    });
    write(Sums::of(summed));
    SmallVector<Value> extents = extentsOf(op, op.getInputs()[1]);
    kernel.launch({hostTiles(op), extents[1], extents[0]});
  }

private:
  void merge(Sums &sums, const Sums &other) {
    MergedSoftmax merged(b, sums.peak, other.peak);
    sums.peak = merged.peak;
    sums.total = merged.sum(b, sums.total, other.total);
    kernel.barrier();
    tell(merged.factor, factors);
    tell(merged.otherFactor, otherFactors);
    kernel.barrier();
    SmallVector<Value> own = told(factors), others = told(otherFactors);
    for (auto [i, mixed] : llvm::enumerate(sums.mixed)) {
      size_t pair = size_t(tiles->pairOf(int64_t(i)));
      merged.factor = own[pair];
      merged.otherFactor = others[pair];
      mixed = merged.sum(b, mixed, other.mixed[i]);
    }
  }

  /// Divides by the sums of exponentials, and ends each element: through shared memory, so that neighbours end
  /// neighbours.
  void write(const Sums &sums) {
    kernel.barrier();
    tell(sums.total, factors);
    SmallVector<Value> own = tiles->ownPairs();
    for (auto [i, mixed] : llvm::enumerate(sums.mixed)) {
      Value column = tiles->columnOf(int64_t(i));
      when(b, b.less(column, b.index(width)), [&] {
        store(b, mixed, tiles->rows, {own[size_t(tiles->pairOf(int64_t(i)))], column});
      });
    }
    kernel.barrier();
    forEach(b, thread, b.index(pairs * width), threads, [&](Value flat) {
      Value i = b.div(flat, b.index(width)), e = b.remainder(flat, b.index(width)), pair = b.add(firstPair, i);
      when(b, b.less(pair, all), [&] {
        Value mixed = b.div(load(b, tiles->rows, {i, e}), load(b, factors, i));
        Epilogue(kernel, op).store({row, tokenOf(pair), headOf(pair), e}, mixed);
      });
    });
  }

  Value otherFactors;
};

/// What the blocks of one token's segments leave to each other, by row, key head, pair and segment.
struct SegmentMemory {
  Value mixed;   ///< [..., E]
  Value scalars; ///< [..., 2]: the largest score, the sum of exponentials
};

/// A block goes through one segment: a single token's pairs are too few to give all processors work.
class SegmentAttention : AttentionBlock {
public:
  SegmentAttention(KernelOp op, SegmentMemory memory) : AttentionBlock(op, "attention_segments"), memory(memory) {}

  void build(Value hostSegments) {
    Value segments = kernel.import(hostSegments), which = b.remainder(kernel.block(0), segments);
    begin(b.div(kernel.block(0), segments), kernel.block(1), kernel.block(2));
    Value first = b.mul(which, b.index(keysPerSegment));
    when(b, b.less(first, limit), [&] { write(which, segment(first)); });
    SmallVector<Value> extents = extentsOf(op, op.getInputs()[1]);
    Value tiles = hostTiles(op);
    OpBuilder host(op);
    kernel.launch({arith::MulIOp::create(host, op.getLoc(), tiles, hostSegments), extents[1], extents[0]});
  }

private:
  void write(Value which, const Sums &sums) {
    Value mixed = kernel.import(memory.mixed), scalars = kernel.import(memory.scalars);
    Value own = b.add(firstPair, ownPair);
    when(b, b.both(b.equal(lane, b.index(0)), b.less(own, all)), [&] {
      store(b, sums.peak, scalars, {row, keyHead, own, which, b.index(0)});
      store(b, sums.total, scalars, {row, keyHead, own, which, b.index(1)});
    });
    SmallVector<Value> pairsOfSums = tiles->ownPairs();
    for (auto [i, sum] : llvm::enumerate(sums.mixed)) {
      Value column = tiles->columnOf(int64_t(i));
      Value pair = b.add(firstPair, pairsOfSums[size_t(tiles->pairOf(int64_t(i)))]);
      when(b, b.both(b.less(column, b.index(width)), b.less(pair, all)), [&] {
        store(b, sum, mixed, {row, keyHead, pair, which, column});
      });
    }
  }

  SegmentMemory memory;
};

/// Merges the segments, a thread per element.
void mergeSegments(KernelOp op, SegmentMemory memory) {
  DeviceKernel kernel(op, "attention_merge", 128);
  auto &b = kernel.b;
  auto heads = [&](unsigned input) { return cast<MemRefType>(op.getInputs()[input].getType()).getDimSize(1); };
  Value group = b.index(heads(0) / heads(1));
  Value keys = kernel.import(extentsOf(op, op.getInputs()[1])[2]);
  Value mixed = kernel.import(memory.mixed), scalars = kernel.import(memory.scalars);
  Value past = op.getInputs().size() > 3 ? kernel.import(op.getInputs()[3]) : Value();
  kernel.perElement(extentsOf(op, op.getOuts()[0]), [&](ValueRange at) {
    Value row = at[0], token = at[1], head = at[2], e = at[3];
    Value pair = b.add(b.mul(token, group), b.remainder(head, group)), keyHead = b.div(head, group);
    Value place = past ? b.add(loadIndex(b, past, row), token) : token;
    Value end = least(b, keys, b.add(place, b.index(1))), zero = b.zero(b.getF32Type());
    SmallVector<Value> all{b.lowest(b.getF32Type()), zero, zero};
    all = forEach(b, b.index(0), end, AttentionBlock::keysPerSegment, all, [&](Value first, ValueRange carried) {
      Value which = b.div(first, b.index(AttentionBlock::keysPerSegment));
      auto scalar = [&](int64_t i) { return load(b, scalars, {row, keyHead, pair, which, b.index(i)}); };
      MergedSoftmax merged(b, carried[0], scalar(0));
      return SmallVector<Value>{merged.peak, merged.sum(b, carried[1], scalar(1)),
                                merged.sum(b, carried[2], load(b, mixed, {row, keyHead, pair, which, e}))};
    });
    Epilogue(kernel, op).store(at, b.div(all[2], all[1]));
  });
}

/// Before `op`, which stands for a single token per row.
void buildBySegments(KernelOp op) {
  OpBuilder host(op);
  Location loc = op.getLoc();
  SmallVector<Value> extents = extentsOf(op, op.getInputs()[1]);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(host, loc, value); };
  Value segments = arith::CeilDivUIOp::create(host, loc, extents[2], constant(AttentionBlock::keysPerSegment));
  ArrayRef<int64_t> queries = cast<MemRefType>(op.getInputs()[0].getType()).getShape();
  ArrayRef<int64_t> values = cast<MemRefType>(op.getInputs()[2].getType()).getShape();
  auto allocated = [&](int64_t last) -> Value {
    constexpr int64_t dynamic = ShapedType::kDynamic;
    auto type = MemRefType::get({dynamic, values[1], queries[1] / values[1], dynamic, last}, host.getF32Type());
    return memref::AllocOp::create(host, loc, type, ValueRange{extents[0], segments});
  };
  SegmentMemory memory{allocated(values[3]), allocated(2)};
  SegmentAttention(op, memory).build(segments);
  mergeSegments(op, memory);
  memref::DeallocOp::create(host, loc, memory.mixed);
  memref::DeallocOp::create(host, loc, memory.scalars);
}

} // namespace

std::optional<Results> chooseAttention(PlainBuilder &b, Operation *op) {
  auto mix = dyn_cast<hybrid::AttentionMixOp>(op);
  if (!mix)
    return std::nullopt;
  // Edits stand between the three ops. Who only looks at scores or probabilities gets them from kernels of their own,
  // so that this one stays what it is.
  auto softmax = mix.getProbabilities().getDefiningOp<hybrid::SoftmaxOp>();
  auto scores = softmax ? softmax.getInput().getDefiningOp<hybrid::AttentionScoresOp>() : hybrid::AttentionScoresOp();
  if (!scores || !softmax.getCausal() || softmax.getPast() != mix.getPast() || scores.getPast() != mix.getPast() ||
      !AttentionBlock::fits(plain::elementOf(scores.getQueries()), plain::lastDim(scores.getQueries()),
                            plain::lastDim(mix.getValues())))
    return std::nullopt;
  SmallVector<Value> inputs{scores.getQueries(), scores.getKeys(), mix.getValues()}, sizes;
  if (mix.getPast())
    inputs.push_back(mix.getPast());
  RankedTensorType type = plain::typeOf(mix.getResult());
  for (auto [axis, from] : {std::pair(0, 0), std::pair(1, 2), std::pair(2, 1)})
    if (type.isDynamicDim(unsigned(axis)))
      sizes.push_back(b.dim(scores.getQueries(), from));
  return Results{makeKernel(b, "attention", inputs, Out{type, sizes, b.getF32Type()}, {},
                            b.getNamedAttr("scale", scores.getScaleAttr()))
                     .getResult(0)};
}

bool buildAttention(KernelOp op) {
  if (op.getKind() != "attention")
    return false;
  OpBuilder host(op);
  Location loc = op.getLoc();
  Value sequence = extentsOf(op, op.getInputs()[0])[2], one = arith::ConstantIndexOp::create(host, loc, 1);
  Value single = arith::CmpIOp::create(host, loc, arith::CmpIPredicate::eq, sequence, one);
  auto branch = scf::IfOp::create(host, loc, single, /*withElseRegion=*/true);
  for (bool bySegments : {true, false}) {
    OpBuilder inside(bySegments ? branch.thenBlock()->getTerminator() : branch.elseBlock()->getTerminator());
    auto copy = cast<KernelOp>(inside.clone(*op));
    bySegments ? buildBySegments(copy) : WholeAttention(copy).build();
    copy.erase();
  }
  return true;
}

} // namespace nnterp::device
