// The short convolution: a thread per element of the result, then one per channel, which moves the state on in place.
#include "passes/lower/gpu/kernels/Delta.h"

#include "dialect/Hybrid/Hybrid.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// Inputs: columns u [B,S,CD], weight [CD,1,KW], lengths [B]. State: the KW columns before the call [B,CD,KW]. Out:
/// like u.
struct Convolution {
  explicit Convolution(KernelOp op, StringRef name)
      : op(op), window(cast<MemRefType>(op.getStates()[0].getType()).getDimSize(2)), kernel(op, name, 128), b(kernel.b),
        input(kernel.import(op.getInputs()[0])), state(kernel.import(op.getStates()[0])) {}

  /// A column of the input: at a negative time, one of those before the call.
  Value column(Value row, Value time, Value channel) {
    return b.ifElse(
        b.less(time, b.index(0)),
        [&] {
          return load(b, state, {row, channel, b.add(b.index(window), time)});
        },
        [&] {
          return load(b, input, {row, time, channel});
        });
  }

  void buildResult() {
    plain::Numerics n(b, cast<MemRefType>(op.getInputs()[0].getType()).getElementType());
    Value weight = kernel.import(op.getInputs()[1]);
    kernel.perElement(extentsOf(op, op.getInputs()[0]), [&](ValueRange at) {
      Value sum = n.real(0);
      for (int64_t j = 0; j < window; ++j) {
        Value u = b.convert(column(at[0], b.add(at[1], b.index(j + 1 - window)), at[2]), n.wide);
        Value w = b.convert(load(b, weight, {at[2], b.index(0), b.index(j)}), n.model);
        sum = b.add(sum, b.mul(b.convert(w, n.wide), u));
      }
      Epilogue(kernel, op).store(at, sum);
    });
  }

  /// The columns up to the row's end, all read before the first is written.
  void buildState() {
    Value lengths = kernel.import(op.getInputs()[2]);
    SmallVector<Value> extents = extentsOf(op, op.getStates()[0]);
    kernel.perElement(ArrayRef(extents).take_front(2), [&](ValueRange at) {
      Value length = loadIndex(b, lengths, at[0]);
      SmallVector<Value> columns;
      for (int64_t j = 0; j < window; ++j)
        columns.push_back(column(at[0], b.add(length, b.index(j - window)), at[1]));
      for (int64_t j = 0; j < window; ++j)
        store(b, columns[size_t(j)], state, {at[0], at[1], b.index(j)});
    });
  }

  KernelOp op;
  int64_t window;
  DeviceKernel kernel;
  PlainBuilder &b;
  Value input, state;
};

} // namespace

Results chooseShortConv(PlainBuilder &b, hybrid::ShortConvOp op) {
  RankedTensorType type = plain::typeOf(op.getResult());
  Out out{type, b.sizesLike(type, op.getInput()), plain::Numerics(b, type.getElementType()).wide};
  return Results(
      makeKernel(b, "short_conv", {op.getInput(), op.getWeight(), op.getLengths()}, out, op.getState()).getResults());
}

void buildShortConv(KernelOp op) {
  // In this order: the result is made of the state as it was.
  Convolution(op, "short_conv").buildResult();
  Convolution(op, "short_conv_state").buildState();
}

} // namespace nnterp::device
