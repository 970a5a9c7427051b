// Guarded work, memory, and reductions by shuffles.
#include "passes/lower/gpu/kernels/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

Value load(PlainBuilder &b, Value memory, ValueRange at) { return memref::LoadOp::create(b, memory, at); }
void store(PlainBuilder &b, Value value, Value memory, ValueRange at) { memref::StoreOp::create(b, value, memory, at); }
Value loadIndex(PlainBuilder &b, Value table, ValueRange at) { return b.toIndex(load(b, table, at)); }
Value least(PlainBuilder &b, Value i, Value j) { return arith::MinSIOp::create(b, i, j); }
Value fma(PlainBuilder &b, Value x, Value y, Value z) { return math::FmaOp::create(b, x, y, z); }

SmallVector<Value> forEach(PlainBuilder &b, Value begin, Value end, int64_t step, ValueRange init,
                           PlainBuilder::LoopBody body) {
  auto loop =
      scf::ForOp::create(b, begin, end, b.index(step), init, [&](OpBuilder &, Location, Value i, ValueRange carried) {
        scf::YieldOp::create(b, body(i, carried));
      });
  return llvm::to_vector_of<Value>(loop.getResults());
}

void forEach(PlainBuilder &b, Value begin, Value end, int64_t step, function_ref<void(Value i)> body) {
  forEach(b, begin, end, step, {}, [&](Value i, ValueRange) -> SmallVector<Value> {
    body(i);
    return {};
  });
}

Value shuffleXor(PlainBuilder &b, Value value, int64_t mask) {
  if (!value.getType().isF64())
    return gpu::ShuffleOp::create(b, value, int32_t(mask), int32_t(warpSize), gpu::ShuffleMode::XOR).getShuffleResult();
  // The instruction moves 32 bits.
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value bits = arith::BitcastOp::create(b, i64, value), half = b.i64(32);
  auto moved = [&](Value word) -> Value {
    return arith::ExtUIOp::create(b, i64, shuffleXor(b, arith::TruncIOp::create(b, i32, word), mask));
  };
  Value high = moved(arith::ShRUIOp::create(b, bits, half));
  bits = arith::OrIOp::create(b, arith::ShLIOp::create(b, high, half), moved(bits));
  return arith::BitcastOp::create(b, value.getType(), bits);
}

Value acrossLanes(PlainBuilder &b, Value value, int64_t first, int64_t end, Combine combine) {
  for (int64_t mask = first; mask < end; mask *= 2)
    value = combine(value, shuffleXor(b, value, mask));
  return value;
}

Value acrossBlock(DeviceKernel &kernel, Value value, int64_t threads, Combine combine) {
  auto &b = kernel.b;
  value = acrossLanes(b, value, 1, warpSize, combine);
  int64_t warps = threads / warpSize;
  if (warps == 1)
    return value;
  Value parts = kernel.shared({warps}, value.getType());
  Value lane = b.remainder(kernel.thread(), b.index(warpSize)), warp = b.div(kernel.thread(), b.index(warpSize));
  when(b, b.equal(lane, b.index(0)), [&] { store(b, value, parts, warp); });
  kernel.barrier();
  value = load(b, parts, b.index(0));
  for (int64_t i = 1; i < warps; ++i)
    value = combine(value, load(b, parts, b.index(i)));
  return value;
}

} // namespace nnterp::device
