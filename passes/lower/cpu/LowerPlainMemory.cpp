// Plain lowering of caches: appending in place, the part in use, and putting an edited part back.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnterp::hybrid;
using namespace nnterp::plain;

namespace {

/// A slice of a cache or of what is added to one: one row's `places` places from `first` on.
struct Places {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  Places(PlainBuilder &b, Value tensor, OpFoldResult row, OpFoldResult rows, OpFoldResult first, OpFoldResult places)
      : offsets{row, b.getIndexAttr(0), first, b.getIndexAttr(0)}, sizes{rows, getAsOpFoldResult(b.dim(tensor, 1)),
                                                                         places, getAsOpFoldResult(b.dim(tensor, 3))},
        strides(4, b.getIndexAttr(1)) {}
};

/// Every place of the cache on its own: what the call adds, or what was there.
Results appendPerPlace(PlainBuilder &b, KvAppendOp op) {
  return {b.update(op.getCache(), [&](ValueRange at, Value old) {
    Value past = b.tokenPlace(op.getPast(), at[0], b.index(0)), length = b.extractIndex(op.getLengths(), at[0]);
    Value isNew = b.both(b.atLeast(at[2], past), b.less(at[2], b.add(past, length)));
    return b.ifElse(
        isNew, [&] { return b.extract(op.getAdded(), {at[0], at[1], b.sub(at[2], past), at[3]}); }, [&] { return old; });
  })};
}

/// Row by row and token by token, so that only what is new is written and the cache stays where it is.
Results lowerOp(PlainBuilder &b, KvAppendOp op) {
  if (b.device)
    return appendPerPlace(b, op);
  OpFoldResult one = b.getIndexAttr(1);
  auto rows = b.loop(b.dim(op.getCache(), 0), op.getCache(), [&](Value row, ValueRange caches) -> SmallVector<Value> {
    Value length = b.extractIndex(op.getLengths(), row);
    return b.loop(length, caches, [&](Value i, ValueRange carried) -> SmallVector<Value> {
      Places from(b, op.getAdded(), row, one, i, one);
      Places to(b, op.getCache(), row, one, b.tokenPlace(op.getPast(), row, i), one);
      Value token = tensor::ExtractSliceOp::create(b, op.getAdded(), from.offsets, from.sizes, from.strides);
      return {tensor::InsertSliceOp::create(b, token, carried[0], to.offsets, to.sizes, to.strides)};
    });
  });
  return {rows[0]};
}

Results lowerOp(PlainBuilder &b, KvViewOp op) {
  OpFoldResult zero = b.getIndexAttr(0);
  Value total = b.extractIndex(op.getTotal(), b.index(0));
  Places used(b, op.getCache(), zero, getAsOpFoldResult(b.dim(op.getCache(), 0)), zero, total);
  Value view = tensor::ExtractSliceOp::create(b, op.getCache(), used.offsets, used.sizes, used.strides);
  return {view};
}

Results lowerOp(PlainBuilder &b, KvStoreOp op) {
  OpFoldResult zero = b.getIndexAttr(0);
  Places used(b, op.getCache(), zero, getAsOpFoldResult(b.dim(op.getCache(), 0)), zero,
              getAsOpFoldResult(b.dim(op.getView(), 2)));
  Value cache = tensor::InsertSliceOp::create(b, op.getView(), op.getCache(), used.offsets, used.sizes, used.strides);
  return {cache};
}

} // namespace

std::optional<Results> nnterp::plain::lowerMemory(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<KvAppendOp, KvViewOp, KvStoreOp>([&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
