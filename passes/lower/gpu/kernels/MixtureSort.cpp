// The counting sort of slots by experts: a block per expert, and one for slots without an expert.
#include "passes/lower/gpu/kernels/Mixture.h"
#include "passes/lower/gpu/kernels/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// Every block counts the slots of all experts, so that it knows on its own where those of its expert go: nothing has
/// to wait for another block. Slots of one expert end up in any order, which no result depends on.
class SortKernel {
public:
  explicit SortKernel(KernelOp op)
      : op(op), kernel(op, op.getKind(), threads), b(kernel.b), i32(b.getI32Type()),
        experts(cast<IntegerAttr>(op.getConfig().get("experts")).getInt()) {}

  void build() {
    extents.clear();
    for (Value extent : extentsOf(op, op.getInputs()[0]))
      extents.push_back(kernel.import(extent));
    indices = kernel.import(op.getInputs()[0]);
    perTile = narrow(kernel.import(op.getInputs()[1]));
    order = kernel.import(op.getStates()[0]), tiles = kernel.import(op.getStates()[1]);
    counts = kernel.shared({experts + 2}, i32); // the last one: how many slots of this expert have their place
    count();
    own = kernel.block();
    // What stands before this expert's slots and tiles.
    Value zero = number(0);
    SmallVector<Value> before =
        forEach(b, kernel.thread(), own, threads, {zero, zero}, [&](Value expert, ValueRange sums) {
          Value slots = load(b, counts, expert);
          return SmallVector<Value>{b.add(sums[0], slots), b.add(sums[1], tilesOf(slots))};
        });
    auto add = [&](Value x, Value y) { return b.add(x, y); };
    Value firstSlot = wide(acrossBlock(kernel, before[0], threads, add));
    Value firstTile = wide(acrossBlock(kernel, before[1], threads, add));
    cut(firstSlot, firstTile);
    place(firstSlot);
    OpBuilder host(op);
    kernel.launch(arith::ConstantIndexOp::create(host, op.getLoc(), experts + 1));
  }

private:
  static constexpr int64_t threads = 128;

  Value number(int64_t value) { return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value))); }
  Value narrow(Value index) { return arith::IndexCastOp::create(b, i32, index); }
  Value wide(Value number) { return b.toIndex(number); }
  Value tilesOf(Value slots) { return b.div(b.add(slots, b.sub(perTile, number(1))), perTile); }

  Value increment(Value at) {
    return memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::addi, number(1), counts, at);
  }

  /// Runs `body` for every slot with the number of its expert; one behind the last where it has none.
  void forEachSlot(function_ref<void(Value slot, Value expert)> body) {
    Value all = b.mul(b.mul(extents[0], extents[1]), extents[2]);
    forEach(b, kernel.thread(), all, threads, [&](Value slot) {
      Value expert = loadIndex(b, indices, delinearize(b, slot, extents)), none = b.index(experts);
      Value exists = b.both(b.atLeast(expert, b.index(0)), b.less(expert, none));
      body(slot, b.select(exists, expert, none));
    });
  }

  void count() {
    forEach(b, kernel.thread(), b.index(experts + 2), threads, [&](Value i) { store(b, number(0), counts, i); });
    kernel.barrier();
    forEachSlot([&](Value, Value expert) { increment(expert); });
    kernel.barrier();
  }

  void cut(Value firstSlot, Value firstTile) {
    Value slots = load(b, counts, own), needed = wide(tilesOf(slots)), end = b.add(firstSlot, wide(slots));
    auto write = [&](Value tile, ValueRange entries) {
      for (auto [i, entry] : llvm::enumerate(entries))
        store(b, b.toInt64(entry), tiles, {tile, b.index(int64_t(i))});
    };
    forEach(b, kernel.thread(), needed, threads, [&](Value i) {
      Value first = b.add(firstSlot, b.mul(i, wide(perTile)));
      write(b.add(firstTile, i), {own, first, least(b, b.add(first, wide(perTile)), end)});
    });
    when(b, b.equal(own, b.index(experts)), [&] {
      Value all = memref::DimOp::create(b, tiles, 0), zero = b.index(0);
      forEach(b, b.add(b.add(firstTile, needed), kernel.thread()), all, threads, [&](Value tile) {
        write(tile, {own, zero, zero});
      });
    });
  }

  void place(Value firstSlot) {
    forEachSlot([&](Value slot, Value expert) {
      when(b, b.equal(expert, own), [&] {
        Value earlier = wide(increment(b.index(experts + 1)));
        store(b, b.toInt64(slot), order, b.add(firstSlot, earlier));
      });
    });
  }

  KernelOp op;
  DeviceKernel kernel;
  PlainBuilder &b;
  Type i32;
  int64_t experts;
  SmallVector<Value> extents; ///< of the indices
  Value indices, perTile, order, tiles, counts, own;
};

} // namespace

void buildExpertsSort(KernelOp op) { SortKernel(op).build(); }

} // namespace nnterp::device
