// The delta rule token by token: a state's columns do not know of each other, and each stays in the registers of four
// lanes.
#include "passes/lower/gpu/kernels/Delta.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// A warp works on eight columns of the state: lane l on column l % 8, and on the rows d with d % 4 = l / 8.
class DeltaSteps : DeltaKernel {
public:
  DeltaSteps(KernelOp op, bool shortOnly)
      : DeltaKernel(op, op.getKind() == "delta_states" ? "delta_states" : "delta_steps", 32), shortOnly(shortOnly),
        perLane(llvm::divideCeil(depth, groups)),
        n(b, cast<MemRefType>(op.getInputs()[values].getType()).getElementType()) {}

  void build() {
    Value lane = b.remainder(kernel.thread(), b.index(warpSize)), warp = b.div(kernel.thread(), b.index(warpSize));
    Value column = b.add(b.mul(warp, b.index(8)), b.remainder(lane, b.index(8)));
    e = b.add(firstColumn, column);
    group = b.div(lane, b.index(8));
    exists = b.less(e, b.index(width));
    if (shortOnly)
      when(b, b.less(length, b.index(2)), [&] { run(); });
    else
      run();
    launch();
  }

private:
  static constexpr int64_t groups = 4;

  void run() {
    bool keepsState = op.getKind() != "delta_states";
    Value state = keepsState ? kernel.import(op.getStates()[0]) : memory(initial);
    SmallVector<Value> z;
    for (int64_t i = 0; i < perLane; ++i)
      z.push_back(b.ifElse(
          b.both(exists, isRow(i)),
          [&] {
            return load(b, state, {row, head, d(i), e});
          },
          [&] { return real(0); }));
    z = forEach(b, b.index(0), length, 1, z, [&](Value t, ValueRange old) { return token(t, old); });
    forEach(b, length, sequence, 1, [&](Value t) { leave(t, real(0), z); });
    if (keepsState)
      eachRow([&](int64_t i) { store(b, z[size_t(i)], state, {row, head, d(i), e}); });
  }

  /// Sums as the plain lowering's, in float64 where the model's dtype is float32: a state goes through many calls of
  /// one token.
  SmallVector<Value> token(Value t, ValueRange old) {
    Value decay = n.exp(wide(read(decays, {row, t, head})));
    SmallVector<Value> k, q, z;
    for (int64_t i = 0; i < perLane; ++i) {
      k.push_back(read(keys, {row, t, head, d(i)}, isRow(i)));
      q.push_back(read(queries, {row, t, head, d(i)}, isRow(i)));
      z.push_back(b.mul(wide(old[size_t(i)]), decay));
    }
    Value error = b.sub(wide(read(values, {row, t, head, e}, exists)), columnSum(z, k));
    Value delta = b.mul(wide(read(betas, {row, t, head})), error);
    for (int64_t i = 0; i < perLane; ++i)
      z[size_t(i)] = b.convert(fma(b, wide(k[size_t(i)]), delta, z[size_t(i)]), b.getF32Type());
    leave(t, b.convert(columnSum(z, q), b.getF32Type()), z);
    return z;
  }

  Value wide(Value v) { return b.convert(v, n.wide); }

  /// What a token leaves: its result, or the state behind it.
  void leave(Value t, Value result, ArrayRef<Value> z) {
    if (op.getKind() == "delta_states")
      return eachRow([&](int64_t i) {
        store(b, z[size_t(i)], kernel.import(op.getStates()[0]), {row, t, head, d(i), e});
      });
    when(b, b.both(exists, b.equal(group, b.index(0))), [&] { Epilogue(kernel, op).store({row, t, head, e}, result); });
  }

  /// The sum over the state's rows of z * x, in all lanes of the column.
  Value columnSum(ArrayRef<Value> z, ArrayRef<Value> x) {
    constexpr int64_t chains = 4; // that do not wait for each other
    SmallVector<Value> sums(chains, n.real(0));
    for (int64_t i = 0; i < perLane; ++i)
      sums[size_t(i % chains)] = fma(b, wide(z[size_t(i)]), wide(x[size_t(i)]), sums[size_t(i % chains)]);
    Value own = b.add(b.add(sums[0], sums[1]), b.add(sums[2], sums[3]));
    return acrossLanes(b, own, 8, warpSize, [&](Value v, Value w) { return b.add(v, w); });
  }

  Value d(int64_t i) { return b.add(b.index(i * groups), group); }
  Value isRow(int64_t i) { return (i + 1) * groups <= depth ? b.boolean(true) : b.less(d(i), b.index(depth)); }
  void eachRow(function_ref<void(int64_t i)> body) {
    for (int64_t i = 0; i < perLane; ++i)
      when(b, b.both(exists, isRow(i)), [&] { body(i); });
  }

  bool shortOnly;
  int64_t perLane; ///< rows of the state per lane
  plain::Numerics n;
  Value e, group, exists; ///< the lane's column; which rows it has; whether there is such a column
};

} // namespace

void buildDeltaSteps(KernelOp op, bool shortOnly) { DeltaSteps(op, shortOnly).build(); }

} // namespace nnterp::device
