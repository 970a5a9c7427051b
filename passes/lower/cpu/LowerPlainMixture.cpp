// Plain lowering of the mixture of experts: choice, experts, sum over slots.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnterp::hybrid;
using namespace nnterp::plain;

namespace {

//===----------------------------------------------------------------------===//
// Router
//===----------------------------------------------------------------------===//

/// True if one of the token's slots before `slot` holds the expert.
Value isTaken(PlainBuilder &b, Value indices, Value row, Value token, Value slot, Value expert) {
  return b.loop(slot, b.boolean(false), [&](Value earlier, ValueRange taken) -> SmallVector<Value> {
    return {b.either(taken[0], b.equal(b.extract(indices, {row, token, earlier}), b.toInt64(expert)))};
  })[0];
}

/// The expert with the largest logit that no earlier slot holds; of equals, the first.
Value bestExpert(PlainBuilder &b, RouterOp op, Value indices, Value row, Value token, Value slot) {
  Type element = elementOf(op.getLogits());
  Value experts = b.dim(op.getLogits(), 2);
  return b.loop(experts, {b.zero(element), b.i64(-1)}, [&](Value expert, ValueRange best) -> SmallVector<Value> {
    Value logit = b.extract(op.getLogits(), {row, token, expert});
    Value better = b.either(b.less(best[1], b.i64(0)), b.greater(logit, best[0]));
    Value take = b.both(better, b.no(isTaken(b, indices, row, token, slot, expert)));
    return {b.select(take, logit, best[0]), b.select(take, b.toInt64(expert), best[1])};
  })[1];
}

/// [B,S,K]: slot after slot, since each choice depends on the earlier ones.
Value chooseExperts(PlainBuilder &b, RouterOp op) {
  RankedTensorType type = typeOf(op.getIndices());
  Value init = b.buffer(type, b.sizesLike(type, op.getLogits()));
  return b.loop(b.dim(op.getLogits(), 0), init, [&](Value row, ValueRange rows) {
    return b.loop(b.dim(op.getLogits(), 1), rows, [&](Value token, ValueRange tokens) {
      return b.loop(b.index(op.getK()), tokens, [&](Value slot, ValueRange indices) -> SmallVector<Value> {
        auto best = [&] { return bestExpert(b, op, indices[0], row, token, slot); };
        Value chosen;
        if (op.getForced()) {
          Value forced = b.extract(op.getForced(), {row, token, slot});
          chosen = b.ifElse(b.less(forced, b.i64(0)), best, [&] { return forced; });
        } else {
          chosen = best();
        }
        return {tensor::InsertOp::create(b, chosen, indices[0], ValueRange{row, token, slot})};
      });
    });
  })[0];
}

Results lowerOp(PlainBuilder &b, RouterOp op) {
  Numerics n(b, elementOf(op.getLogits()));
  Value indices = chooseExperts(b, op);
  RankedTensorType type = typeOf(op.getWeights());
  Value slots = b.index(op.getK());
  Value weights = b.tabulate(type, b.sizesLike(type, op.getLogits()), [&](ValueRange at) {
    auto logit = [&](Value slot) {
      return n.read(op.getLogits(), {at[0], at[1], b.extractIndex(indices, {at[0], at[1], slot})});
    };
    // The softmax over all experts, renormalised over the chosen ones: its own denominator cancels, and measuring from
    // the largest chosen logit keeps improbable forced experts apart from zero.
    Value peak = b.largest(slots, b.lowest(n.wide), logit);
    auto exponential = [&](Value slot) { return n.exp(b.sub(logit(slot), peak)); };
    return n.store(b.div(exponential(at[2]), b.sum(slots, n.wide, exponential)));
  });
  return {weights, indices};
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

/// `body(expert)` for the expert of slot at[0..2], or zero if the index names none.
Value withExpert(PlainBuilder &b, ExpertsOp op, ValueRange at, Type type, function_ref<Value(Value expert)> body) {
  Value expert = b.extractIndex(op.getIndices(), at.take_front(3));
  Value exists = b.both(b.atLeast(expert, b.index(0)), b.less(expert, b.dim(op.getGateUp(), 0)));
  return b.ifElse(
      exists, [&] { return body(expert); }, [&] { return b.zero(type); });
}

/// silu(gate) * up per slot, [B,S,K,I]: kept wide in a float32 program.
Value neurons(PlainBuilder &b, ExpertsOp op, const Numerics &n) {
  SmallVector<int64_t> shape(typeOf(op.getIndices()).getShape());
  shape.push_back(lastDim(op.getDown()));
  auto type = RankedTensorType::get(shape, n.model.isF32() ? n.wide : n.model);
  Value depth = b.dim(op.getInput(), 2), count = b.dim(op.getDown(), 2);
  return b.tabulate(type, b.sizesLike(type, op.getIndices()), [&](ValueRange at) {
    return withExpert(b, op, at, type.getElementType(), [&](Value expert) {
      auto project = [&](Value out) {
        return n.md(b.sum(depth, n.wide, [&](Value k) {
          return b.mul(n.read(op.getInput(), {at[0], at[1], k}), n.weight(op.getGateUp(), {expert, out, k}));
        }));
      };
      Value gate = project(at[3]), up = project(b.add(at[3], count));
      return b.convert(b.mul(n.md(n.silu(gate)), up), type.getElementType());
    });
  });
}

Results lowerOp(PlainBuilder &b, ExpertsOp op) {
  Numerics n(b, elementOf(op.getInput()));
  Value hidden = neurons(b, op, n);
  RankedTensorType type = typeOf(op.getResult());
  Value depth = b.dim(op.getDown(), 2);
  return {b.tabulate(type, b.sizesLike(type, op.getIndices()), [&](ValueRange at) {
    return withExpert(b, op, at, n.model, [&](Value expert) {
      Value out = b.sum(depth, n.wide, [&](Value i) {
        return b.mul(n.read(hidden, {at[0], at[1], at[2], i}), n.weight(op.getDown(), {expert, at[3], i}));
      });
      return n.store(b.mul(n.md(out), n.read(op.getWeights(), at.take_front(3))));
    });
  })};
}

Results lowerOp(PlainBuilder &b, CombineOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type f32 = b.getF32Type();
  Value slots = b.dim(op.getInput(), 2);
  return {b.tabulate(type, b.sizesLike(type, op.getInput()), [&](ValueRange at) {
    Value total = b.sum(slots, f32, [&](Value slot) {
      return b.convert(b.extract(op.getInput(), {at[0], at[1], slot, at[2]}), f32);
    });
    return b.convert(total, type.getElementType());
  })};
}

} // namespace

std::optional<Results> nnterp::plain::lowerMixture(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<RouterOp, ExpertsOp, CombineOp>([&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
