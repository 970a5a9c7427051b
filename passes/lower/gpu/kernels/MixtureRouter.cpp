// The choice of experts: a warp per token.
#include "passes/lower/gpu/kernels/Mixture.h"
#include "passes/lower/gpu/kernels/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace nnterp::device {

namespace {

class RouterKernel {
public:
  explicit RouterKernel(KernelOp op)
      : op(op), kernel(op, op.getKind(), warpsPerBlock * warpSize), b(kernel.b), i32(b.getI32Type()),
        type(cast<MemRefType>(op.getInputs()[0].getType())), n(b, type.getElementType()), experts(type.getDimSize(2)),
        slots(cast<MemRefType>(op.getOuts()[0].getType()).getDimSize(2)) {}

  void build() {
    OpBuilder host(op);
    SmallVector<Value> hostExtents = extentsOf(op, op.getInputs()[0]);
    SmallVector<Value> extents{kernel.import(hostExtents[0]), kernel.import(hostExtents[1])};
    Value warp = b.div(kernel.thread(), b.index(warpSize));
    Value flat = b.add(b.mul(kernel.block(), b.index(warpsPerBlock)), warp);
    lane = b.remainder(kernel.thread(), b.index(warpSize));
    logits = kernel.import(op.getInputs()[0]);
    when(b, b.less(flat, b.mul(extents[0], extents[1])), [&] {
      token = delinearize(b, flat, extents);
      SmallVector<Value> chosen;
      for (int64_t slot = 0; slot < slots; ++slot)
        chosen.push_back(choice(slot, chosen));
      finish(chosen);
    });
    Value tokens = arith::MulIOp::create(host, op.getLoc(), hostExtents[0], hostExtents[1]);
    Value width = arith::ConstantIndexOp::create(host, op.getLoc(), warpsPerBlock);
    kernel.launch(arith::CeilDivUIOp::create(host, op.getLoc(), tokens, width));
  }

private:
  static constexpr int64_t warpsPerBlock = 4;

  SmallVector<Value> at(Value last) { return {token[0], token[1], last}; }
  Value number(int64_t value) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value))); }
  Value narrow(Value index) { return arith::IndexCastOp::create(b, i32, index); }

  /// The expert of a slot, as i32; the same in all lanes.
  Value choice(int64_t slot, ArrayRef<Value> earlier) {
    if (op.getInputs().size() < 2)
      return best(earlier);
    Value forced = load(b, kernel.import(op.getInputs()[1]), at(b.index(slot)));
    return b.ifElse(
        b.less(forced, b.i64(0)), [&] { return best(earlier); },
        [&]() -> Value { return arith::TruncIOp::create(b, i32, forced); });
  }

  /// The expert with the largest logit that no earlier slot has; of equals, the first.
  Value best(ArrayRef<Value> earlier) {
    Type f32 = b.getF32Type();
    SmallVector<Value> own = forEach(b, lane, b.index(experts), warpSize, {b.zero(f32), number(-1)},
                                     [&](Value index, ValueRange best) -> SmallVector<Value> {
                                       Value expert = narrow(index), logit = b.convert(load(b, logits, at(index)), f32);
                                       // What is no number comes last, so that all lanes agree.
                                       logit = b.select(b.equal(logit, logit), logit, b.lowest(f32));
                                       Value take = b.either(b.less(best[1], number(0)), b.greater(logit, best[0]));
                                       for (Value other : earlier)
                                         take = b.both(take, b.no(b.equal(expert, other)));
                                       return {b.select(take, logit, best[0]), b.select(take, expert, best[1])};
                                     });
    Value logit = own[0], expert = own[1];
    for (int64_t mask = 1; mask < warpSize; mask *= 2) {
      Value otherLogit = shuffleXor(b, logit, mask), other = shuffleXor(b, expert, mask);
      Value first = b.both(b.equal(otherLogit, logit), b.less(other, expert));
      Value better = b.either(b.less(expert, number(0)), b.either(b.greater(otherLogit, logit), first));
      Value take = b.both(b.atLeast(other, number(0)), better);
      logit = b.select(take, otherLogit, logit), expert = b.select(take, other, expert);
    }
    return expert;
  }

  /// The weights: a lane per slot. Lanes without one do as if they had the first, but for the sum.
  void finish(ArrayRef<Value> chosen) {
    Value expert = chosen[0];
    for (int64_t slot = 1; slot < slots; ++slot)
      expert = b.select(b.equal(lane, b.index(slot)), chosen[size_t(slot)], expert);
    Value index = arith::IndexCastOp::create(b, b.getIndexType(), expert);
    Value logit = b.convert(load(b, logits, at(index)), n.wide);
    Value peak = acrossLanes(b, logit, 1, warpSize, [&](Value x, Value y) { return b.select(b.greater(x, y), x, y); });
    Value exponential = n.exp(b.sub(logit, peak)), hasSlot = b.less(lane, b.index(slots));
    Value total = acrossLanes(b, b.select(hasSlot, exponential, n.real(0)), 1, warpSize,
                              [&](Value x, Value y) { return b.add(x, y); });
    Epilogue epilogue(kernel, op);
    when(b, hasSlot, [&] {
      epilogue.store(at(lane), {b.div(exponential, total), arith::ExtSIOp::create(b, b.getI64Type(), expert)});
    });
  }

  KernelOp op;
  DeviceKernel kernel;
  PlainBuilder &b;
  Type i32;
  MemRefType type;
  plain::Numerics n;
  int64_t experts, slots;
  Value lane, logits;
  SmallVector<Value> token; ///< its row and place
};

} // namespace

void buildRouter(KernelOp op) { RouterKernel(op).build(); }

} // namespace nnterp::device
