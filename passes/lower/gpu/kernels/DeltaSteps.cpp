// The delta rule token by token: a state's columns do not know of each other, and each stays in the registers of four
// lanes, until an edit, between a token's update and the look at its result.
#include "passes/lower/gpu/kernels/Delta.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// A warp works on eight columns of the state: lane l on column l % 8, and on the rows d with d % 4 = l / 8.
class DeltaSteps : DeltaKernel {
public:
  DeltaSteps(KernelOp op, bool shortOnly)
      : DeltaKernel(op, op.getKind() == "delta_rule" ? "delta_steps" : op.getKind(), 32), shortOnly(shortOnly),
        perLane(llvm::divideCeil(depth, groups)), held(divisor(perLane, 64)), together(divisor(held, 8)),
        n(b, cast<MemRefType>(op.getInputs()[values].getType()).getElementType()) {}

  void build() {
    if (!op.getStateEdit().empty())
      shared = kernel.shared({held, threads}, b.getF32Type());
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
    Value state = replays() ? memory(initial) : kernel.import(op.getStates()[0]);
    SmallVector<Value> z;
    for (int64_t i = 0; i < perLane; ++i)
      z.push_back(b.ifElse(
          b.both(exists, isRow(i)),
          [&] {
            return load(b, state, {row, head, d(i), e});
          },
          [&] { return real(0); }));
    z = forEach(b, b.index(0), length, 1, z, [&](Value t, ValueRange old) { return token(t, old); });
    z = forEach(b, length, sequence, 1, z,
                [&](Value t, ValueRange old) { return finish(t, old, [&](ArrayRef<Value>) { return real(0); }); });
    if (!replays())
      eachRow([&](int64_t i) { store(b, z[size_t(i)], state, {row, head, d(i), e}); });
  }

  /// Whether the kernel is one that makes the states again for who looks at them.
  bool replays() { return op.getKind() != "delta_rule"; }

  /// Sums as the plain lowering's, in float64 where the model's dtype is float32: a state goes through many calls of
  /// one token.
  SmallVector<Value> token(Value t, ValueRange old) {
    Value decay = n.exp(wide(read(decays, {row, t, head})));
    SmallVector<Value> k, q, z;
    bool early = op.getStateEdit().empty(); // beside the keys; an edit in between needs the registers
    for (int64_t i = 0; i < perLane; ++i) {
      k.push_back(entry(keys, t, i));
      if (early)
        q.push_back(entry(queries, t, i));
      z.push_back(b.mul(wide(old[size_t(i)]), decay));
    }
    Value error = b.sub(wide(read(values, {row, t, head, e}, exists)), columnSum(z, k));
    Value delta = b.mul(wide(read(betas, {row, t, head})), error);
    for (int64_t i = 0; i < perLane; ++i)
      z[size_t(i)] = b.convert(fma(b, wide(k[size_t(i)]), delta, z[size_t(i)]), b.getF32Type());
    return finish(t, z, [&](ArrayRef<Value> z) {
      for (int64_t i = 0; i < perLane && !early; ++i)
        q.push_back(entry(queries, t, i));
      return b.convert(columnSum(z, q), b.getF32Type());
    });
  }

  /// What a token's key or query has for a row of the state.
  Value entry(Input input, Value t, int64_t i) { return read(input, {row, t, head, d(i)}, isRow(i)); }

  Value wide(Value v) { return b.convert(v, n.wide); }

  /// Edits the state behind a token, and writes what the token leaves: its result, or the state itself. Gives the state
  /// that the next token finds.
  SmallVector<Value> finish(Value t, ValueRange z, function_ref<Value(ArrayRef<Value> z)> result) {
    SmallVector<Value> after = edited(t, z);
    if (replays()) {
      ValueRange kept = op.getKind() == "delta_states_before" ? z : ValueRange(after);
      eachRow([&](int64_t i) { store(b, kept[size_t(i)], kernel.import(op.getStates()[0]), {row, t, head, d(i), e}); });
    } else {
      Value y = result(after);
      when(b, b.both(exists, b.equal(group, b.index(0))), [&] { Epilogue(kernel, op).store({row, t, head, e}, y); });
    }
    return after;
  }

  SmallVector<Value> edited(Value t, ValueRange z) {
    if (op.getStateEdit().empty())
      return SmallVector<Value>(z);
    auto either = scf::IfOp::create(
        b, isEdited(kernel, op.getStateEdit(), {row, t, head}),
        [&](OpBuilder &, Location) {
          SmallVector<Value> after;
          for (int64_t first = 0; first < perLane; first += held)
            llvm::append_range(after, editedInMemory(t, first, z.slice(size_t(first), size_t(held))));
          scf::YieldOp::create(b, after);
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, z); });
    return llvm::to_vector_of<Value>(either.getResults());
  }

  /// Edits the lane's rows from `first` on, a few at a time, in memory that may be indexed: all at once would not find
  /// the registers. Rows and columns that are not there have the indices of some that are, as an edit reads memory at
  /// them.
  SmallVector<Value> editedInMemory(Value t, int64_t first, ValueRange z) {
    Value thread = kernel.thread();
    for (int64_t i = 0; i < held; ++i)
      store(b, z[size_t(i)], shared, {b.index(i), thread});
    forEach(b, b.index(0), b.index(held), together, [&](Value from) {
      SmallVector<SmallVector<Value>> slots, places;
      SmallVector<Value> entries;
      for (int64_t k = 0; k < together; ++k) {
        Value i = b.add(from, b.index(k)), d = b.add(b.mul(b.add(i, b.index(first)), b.index(groups)), group);
        slots.push_back({i, thread});
        places.push_back({row, t, head, least(b, d, b.index(depth - 1)), least(b, e, b.index(width - 1))});
        entries.push_back(load(b, shared, slots.back()));
      }
      for (auto [slot, entry] : llvm::zip(slots, editEntries(kernel, op.getStateEdit(), places, entries)))
        store(b, entry, shared, slot);
    });
    SmallVector<Value> after;
    for (int64_t i = 0; i < held; ++i) // rows that are not there stay 0
      after.push_back(b.select(isRow(first + i), load(b, shared, {b.index(i), thread}), z[size_t(i)]));
    return after;
  }

  /// The largest divisor of a number that is at most `most`.
  static int64_t divisor(int64_t number, int64_t most) {
    while (number % most != 0)
      --most;
    return most;
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
  int64_t perLane;  ///< rows of the state per lane
  int64_t held;     ///< of them, that find place in memory when they are edited
  int64_t together; ///< of them, that are edited side by side
  plain::Numerics n;
  Value shared;           ///< memory for the rows of each thread that are held there; none without edits
  Value e, group, exists; ///< the lane's column; which rows it has; whether there is such a column
};

} // namespace

void buildDeltaSteps(KernelOp op, bool shortOnly) { DeltaSteps(op, shortOnly).build(); }

} // namespace nnterp::device
