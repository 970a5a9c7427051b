// Plain lowering of gated DeltaNet: decays, the short convolution, and the delta rule as the token recurrence.
#include "LowerPlainOps.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnterp::hybrid;
using namespace nnterp::plain;

namespace {

Results lowerOp(PlainBuilder &b, InitialStateOp op) {
  RankedTensorType type = typeOf(op.getResult());
  return {
      b.tabulate(type, b.sizesLike(type, op.getLengths()), [&](ValueRange) { return b.zero(type.getElementType()); })};
}

/// A head's log decay for a projection of `x`, its bias added.
Value logDecay(PlainBuilder &b, const Numerics &n, Value aLog, Value x) {
  // Torch's softplus is the identity above its threshold.
  Value softplus = b.select(b.greater(x, n.real(20)), x, math::Log1pOp::create(b, n.exp(x)));
  return arith::NegFOp::create(b, b.mul(n.exp(aLog), softplus));
}

Results lowerOp(PlainBuilder &b, DecayOp op) {
  Numerics n(b, elementOf(op.getInput()));
  RankedTensorType type = typeOf(op.getResult());
  return {b.tabulate(type, b.sizesLike(type, op.getInput()), [&](ValueRange at) {
    Value x = b.add(n.read(op.getInput(), at), n.weight(op.getDtBias(), at.back()));
    return b.convert(logDecay(b, n, n.weight(op.getALog(), at.back()), x), b.getF32Type());
  })};
}

Results lowerOp(PlainBuilder &b, PadDecayOp op) {
  Numerics n(b, op.getModel());
  return {b.update(op.getState(), [&](ValueRange at, Value state) {
    Value pads = b.convert(b.extract(op.getPads(), at[0]), n.wide);
    Value perPad = logDecay(b, n, n.weight(op.getALog(), at[1]), n.weight(op.getDtBias(), at[1]));
    return b.convert(b.mul(b.convert(state, n.wide), n.exp(b.mul(perPad, pads))), b.getF32Type());
  })};
}

/// Column `time` of a convolution's input: at a negative time, one of the columns seen before the call.
Value column(PlainBuilder &b, ShortConvOp op, Value row, Value time, Value channel) {
  Value window = b.dim(op.getState(), 2);
  return b.ifElse(
      b.less(time, b.index(0)),
      [&] {
        return b.extract(op.getState(), {row, channel, b.add(window, time)});
      },
      [&] {
        return b.extract(op.getInput(), {row, time, channel});
      });
}

Results lowerOp(PlainBuilder &b, ShortConvOp op) {
  Numerics n(b, elementOf(op.getInput()));
  RankedTensorType type = typeOf(op.getResult()), stateType = typeOf(op.getStateOut());
  Value window = b.dim(op.getState(), 2), back = b.sub(window, b.index(1));
  Value result = b.tabulate(type, b.sizesLike(type, op.getInput()), [&](ValueRange at) {
    Value first = b.sub(at[1], back);
    return n.store(b.sum(window, n.wide, [&](Value j) {
      Value u = b.convert(column(b, op, at[0], b.add(first, j), at[2]), n.wide);
      return b.mul(n.weight(op.getWeight(), {at[2], b.index(0), j}), u);
    }));
  });
  Value state = b.tabulate(stateType, b.sizesLike(stateType, op.getState()), [&](ValueRange at) {
    Value first = b.sub(b.extractIndex(op.getLengths(), at[0]), window);
    return column(b, op, at[0], b.add(first, at[2]), at[1]);
  });
  return {result, state};
}

//===----------------------------------------------------------------------===//
// The delta rule
//===----------------------------------------------------------------------===//

/// One delta rule: the steps of its loop over tokens. Shapes: queries and keys [B,S,HV,DK], values [B,S,HV,DV], state
/// [B,HV,DK,DV].
class DeltaRule {
public:
  DeltaRule(PlainBuilder &b, DeltaRuleOp op)
      : b(b), op(op), n(b, elementOf(op.getValues())), stateType(typeOf(op.getState())), dk(b.dim(op.getKeys(), 3)) {}

  Results lower() {
    factors = decayFactors();
    // The loop updates its state in place: a copy, so that the caller's stays.
    Value state = b.update(b.buffer(stateType, b.sizesLike(stateType, op.getState())),
                           [&](ValueRange at, Value) { return b.extract(op.getState(), at); });
    SmallVector<Value> init{output(op.getResult()), state};
    for (Value states : {op.getStates(), op.getStatesBefore()})
      if (states)
        init.push_back(output(states));
    return b.loop(b.dim(op.getValues(), 1), init, [&](Value t, ValueRange carried) { return token(t, carried); });
  }

private:
  /// Token t: the carried result, state, states and states_before, each with this token's part written.
  SmallVector<Value> token(Value t, ValueRange carried) {
    Value fresh = advance(t, carried[1], corrections(t, carried[1]));
    unsigned next = 2;
    Value states = op.getStates() ? carried[next++] : Value();
    Value before = op.getStatesBefore() ? write(copy(fresh), carried[next++], t) : Value();
    Value state = op.getOnState().empty() ? fresh : edited(t, fresh);
    SmallVector<Value> results{write(readOut(t, state), carried[0], t), state};
    if (states)
      results.push_back(write(copy(state), states, t));
    if (before)
      results.push_back(before);
    return results;
  }

  /// Memory for a result with a sequence axis.
  Value output(Value result) {
    RankedTensorType type = typeOf(result);
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis))
        sizes.push_back(b.dim(op.getValues(), axis));
    return b.buffer(type, sizes);
  }

  Value copy(Value state) {
    return b.tabulate(stateType, b.sizesLike(stateType, op.getState()),
                      [&](ValueRange at) { return b.extract(state, at); });
  }

  /// exp(g) for all tokens: each is used DK * DV times.
  Value decayFactors() {
    auto type = RankedTensorType::get(typeOf(op.getDecays()).getShape(), n.wide);
    return b.tabulate(type, b.sizesLike(type, op.getDecays()),
                      [&](ValueRange at) { return n.exp(n.read(op.getDecays(), at)); });
  }

  /// The state's entry after the token's decay.
  Value decayed(Value t, ValueRange at, Value entry) {
    return b.mul(b.convert(entry, n.wide), b.extract(factors, {at[0], t, at[1]}));
  }

  /// beta (v - Z^T k), [B,HV,DV].
  Value corrections(Value t, Value state) {
    auto type =
        RankedTensorType::get({stateType.getDimSize(0), stateType.getDimSize(1), stateType.getDimSize(3)}, n.wide);
    return b.tabulate(type, b.sizesLike(type, op.getState()), [&](ValueRange at) {
      Value row = at[0], head = at[1], e = at[2];
      Value recalled = b.sum(dk, n.wide, [&](Value d) {
        SmallVector<Value> entry{row, head, d, e};
        return b.mul(decayed(t, entry, b.extract(state, entry)), n.read(op.getKeys(), {row, t, head, d}));
      });
      Value error = b.sub(n.read(op.getValues(), {row, t, head, e}), recalled);
      return b.mul(error, n.read(op.getBetas(), {row, t, head}));
    });
  }

  Value isReal(Value row, Value t) { return b.less(t, b.extractIndex(op.getLengths(), row)); }

  /// Z exp(g) + k delta^T, rounded to float32; behind the row's end the state stays.
  Value advance(Value t, Value state, Value deltas) {
    return b.update(state, [&](ValueRange at, Value old) {
      Value row = at[0], head = at[1], d = at[2], e = at[3];
      Value written = b.mul(n.read(op.getKeys(), {row, t, head, d}), b.extract(deltas, {row, head, e}));
      Value fresh = b.convert(b.add(decayed(t, at, old), written), b.getF32Type());
      return b.select(isReal(row, t), fresh, old);
    });
  }

  /// Z^T q from the state as stored, [B,HV,DV]; zero behind the row's end.
  Value readOut(Value t, Value state) {
    RankedTensorType all = typeOf(op.getResult());
    auto type = RankedTensorType::get({all.getDimSize(0), all.getDimSize(2), all.getDimSize(3)}, all.getElementType());
    return b.tabulate(type, b.sizesLike(type, op.getState()), [&](ValueRange at) {
      Value row = at[0], head = at[1], e = at[2];
      return b.ifElse(
          isReal(row, t),
          [&] {
            return n.store(b.sum(dk, n.wide, [&](Value d) {
              return b.mul(n.read(state, {row, head, d, e}), n.read(op.getQueries(), {row, t, head, d}));
            }));
          },
          [&] { return b.zero(n.model); });
    });
  }

  /// Moves the op's region here: the state as [B,1,HV,DK,DV] goes through it.
  Value edited(Value t, Value state) {
    static const SmallVector<ReassociationIndices> axes{{0, 1}, {2}, {3}, {4}};
    Block &body = op.getOnState().front();
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis = 0; axis < 4; ++axis) {
      sizes.push_back(getAsOpFoldResult(b.dim(op.getState(), axis)));
      if (axis == 0)
        sizes.push_back(b.getIndexAttr(1));
    }
    body.getArgument(0).replaceAllUsesWith(
        tensor::ExpandShapeOp::create(b, body.getArgument(0).getType(), state, axes, sizes));
    body.getArgument(1).replaceAllUsesWith(t);
    for (Operation &inner : llvm::make_early_inc_range(body.without_terminator()))
      inner.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    return tensor::CollapseShapeOp::create(b, stateType, body.getTerminator()->getOperand(0), axes);
  }

  /// Writes one token's part [B,...] to its place in [B,S,...].
  Value write(Value part, Value all, Value t) {
    SmallVector<OpFoldResult> offsets(rankOf(all), b.getIndexAttr(0)), sizes, strides(rankOf(all), b.getIndexAttr(1));
    offsets[1] = t;
    for (int64_t axis = 0; axis < rankOf(all); ++axis)
      sizes.push_back(axis == 1 ? OpFoldResult(b.getIndexAttr(1)) : getAsOpFoldResult(b.dim(all, axis)));
    return tensor::InsertSliceOp::create(b, part, all, offsets, sizes, strides);
  }

  PlainBuilder &b;
  DeltaRuleOp op;
  Numerics n;
  RankedTensorType stateType;
  Value dk, factors;
};

Results lowerOp(PlainBuilder &b, DeltaRuleOp op) { return DeltaRule(b, op).lower(); }

} // namespace

std::optional<Results> nnterp::plain::lowerDelta(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<InitialStateOp, DecayOp, PadDecayOp, ShortConvOp, DeltaRuleOp>([&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
