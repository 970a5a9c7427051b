// Plain lowering of what a plan does to the choice of experts.
#include "LowerPlainOps.h"
#include "PlainSelection.h"

#include "dialect/Nnterp/Nnterp.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnterp;
using namespace nnterp::plain;

namespace {

Results lowerOp(PlainBuilder &b, DropOp op) {
  Selection selection(b, op.getTableAxes(), op.getTables());
  Value weights = op.getWeights(), slots = b.dim(weights, 2);
  Type f32 = b.getF32Type(), element = elementOf(weights);
  // The weight of a slot as float32, zero if its expert is listed.
  auto kept = [&](Value row, Value token, Value slot) {
    Value listed = b.extract(op.getExperts(), b.extractIndex(op.getIndices(), {row, token, slot}));
    return b.select(b.equal(listed, b.i64(0)), b.convert(b.extract(weights, {row, token, slot}), f32), b.zero(f32));
  };
  // Not in place: a slot's new weight depends on the old ones of all slots.
  return {b.tabulate(typeOf(weights), b.sizesLike(typeOf(weights), weights), [&](ValueRange at) {
    auto dropped = [&] {
      Value weight = kept(at[0], at[1], at[2]);
      if (!op.getRenormalise())
        return b.convert(weight, element);
      Value total = b.sum(slots, f32, [&](Value slot) { return kept(at[0], at[1], slot); });
      Value some = b.greater(total, b.zero(f32));
      Value share = b.div(weight, b.select(some, total, b.real(f32, 1)));
      return b.convert(b.select(some, share, b.zero(f32)), element);
    };
    return b.ifElse(selection.contains(at), dropped, [&] { return b.extract(weights, at); });
  })};
}

Results lowerOp(PlainBuilder &b, RerouteOp op) {
  Selection selection(b, op.getTableAxes(), op.getTables());
  return {b.update(op.getLogits(), [&](ValueRange at, Value old) {
    Value listed = b.no(b.equal(b.extract(op.getExperts(), at.back()), b.i64(0)));
    return b.select(b.both(selection.contains(at), listed), b.lowest(old.getType()), old);
  })};
}

Results lowerOp(PlainBuilder &b, RaiseOp op) {
  Selection selection(b, op.getTableAxes(), op.getTables());
  Value logits = op.getLogits(), experts = b.dim(logits, 2), listLength = b.dim(op.getExperts(), 0);
  auto tokenType = RankedTensorType::get(typeOf(logits).getShape().drop_back(), elementOf(logits));
  Value peaks = b.tabulate(tokenType, b.sizesLike(tokenType, logits), [&](ValueRange at) {
    return b.largest(experts, b.lowest(elementOf(logits)), [&](Value e) {
      return b.extract(logits, {at[0], at[1], e});
    });
  });
  return {b.update(logits, [&](ValueRange at, Value old) {
    Value listed = b.loop(listLength, b.boolean(false), [&](Value k, ValueRange found) -> SmallVector<Value> {
      return {b.either(found[0], b.equal(b.extract(op.getExperts(), k), b.toInt64(at.back())))};
    })[0];
    return b.select(b.both(selection.contains(at), listed), b.extract(peaks, at.drop_back()), old);
  })};
}

Results lowerOp(PlainBuilder &b, ForceOp op) {
  Selection selection(b, op.getTableAxes(), op.getTables());
  RankedTensorType type = typeOf(op.getResult());
  Value none = b.i64(-1);
  // The entry k of a list of experts, -1 behind its end.
  auto entry = [&](Value list, Value k) {
    return b.ifElse(
        b.less(k, b.dim(list, 0)), [&] { return b.extract(list, k); }, [&] { return none; });
  };
  return {b.tabulate(type, b.sizesLike(type, op.getLogits()), [&](ValueRange at) {
    auto own = [&](Value k) {
      return b.ifElse(
          selection.contains(at.drop_back()), [&] { return entry(op.getExperts(), k); }, [&] { return none; });
    };
    Value forced = op.getForced();
    if (!forced)
      return own(at[2]);
    Value earlier = b.loop(b.dim(forced, 2), b.index(0), [&](Value k, ValueRange count) -> SmallVector<Value> {
      Value there = b.atLeast(b.extract(forced, {at[0], at[1], k}), b.i64(0));
      return {b.add(count[0], b.select(there, b.index(1), b.index(0)))};
    })[0];
    return b.ifElse(
        b.less(at[2], earlier), [&] { return b.extract(forced, at); }, [&] { return own(b.sub(at[2], earlier)); });
  })};
}

} // namespace

std::optional<Results> nnterp::plain::lowerRouting(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<DropOp, RerouteOp, RaiseOp, ForceOp>([&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
