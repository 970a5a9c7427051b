// The delta rule for many tokens: sixteen of them are one triangular system, and the state moves on once for all.
//
// With G the decays' sum from the chunk's first token to a token and S the state before it, the corrections U of a
// chunk solve
//
//   U[t] + sum over j < t of beta[t] exp(G[t] - G[j]) (k[t] . k[j]) U[j] = beta[t] (v[t] - exp(G[t]) S^T k[t])
//
// and then  y[t] = exp(G[t]) S^T q[t] + sum over j <= t of exp(G[t] - G[j]) (q[t] . k[j]) U[j],
//           S' = exp(G[last]) S + sum over j of exp(G[last] - G[j]) k[j] U[j]^T.
//
// A difference G[t] - G[j] is the sum of the decays between the two, and made so. It is exponentiated for j <= t only,
// where it is not positive. Tokens behind the row's end have decay, beta, key and query 0, which changes nothing for
// those before them.
#include "passes/lower/gpu/kernels/Delta.h"

#include <limits>

using namespace mlir;

namespace nnterp::device {

namespace {

constexpr int64_t chunk = 16;

/// Bytes of shared memory for a block of `columns` columns.
int64_t sharedBytes(int64_t depth, int64_t columns) {
  return 4 * (depth * columns + 2 * chunk * (depth + 1) + chunk * columns + 2 * chunk * chunk + 4 * chunk);
}

constexpr int64_t mostSharedBytes = 48 * 1024; // that any kernel may have without asking

int64_t columnsThatFit(int64_t depth) {
  for (int64_t columns : {32, 16})
    if (sharedBytes(depth, columns) <= mostSharedBytes)
      return columns;
  return 0;
}

int64_t depthOf(KernelOp op) { return cast<MemRefType>(op.getInputs()[1].getType()).getDimSize(3); }

/// A thread works on one column of the state and on every `lanes`-th of its rows, or on a run of tokens.
class DeltaChunks : DeltaKernel {
public:
  explicit DeltaChunks(KernelOp op)
      : DeltaKernel(op, "delta_chunks", columnsThatFit(depthOf(op))), lanes(threads / columns),
        tokensPerThread(chunk / lanes) {}

  void build() {
    Type f32 = b.getF32Type();
    state = kernel.shared({depth, columns}, f32);
    // One more, so that neighbours' rows lie in different banks.
    k = kernel.shared({chunk, depth + 1}, f32);
    q = kernel.shared({chunk, depth + 1}, f32);
    u = kernel.shared({chunk, columns}, f32);
    system = kernel.shared({chunk, chunk}, f32);
    weights = kernel.shared({chunk, chunk}, f32);
    decay = kernel.shared({chunk}, f32);
    gamma = kernel.shared({chunk}, f32);
    tail = kernel.shared({chunk}, f32);
    beta = kernel.shared({chunk}, f32);
    thread = kernel.thread();
    column = b.remainder(thread, b.index(columns));
    lane = b.div(thread, b.index(columns));
    e = b.add(firstColumn, column);
    exists = b.less(e, b.index(width));
    when(b, b.less(b.index(1), length), [&] { run(); });
    launch();
  }

private:
  void run() {
    Value memory = kernel.import(op.getStates()[0]);
    forEach(b, lane, b.index(depth), lanes, [&](Value d) {
      Value entry = b.ifElse(
          exists,
          [&] {
            return load(b, memory, {row, head, d, e});
          },
          [&] { return real(0); });
      store(b, entry, state, {d, column});
    });
    forEach(b, b.index(0), length, chunk, [&](Value start) {
      first = start;
      readTokens();
      kernel.barrier();
      compareTokens();
      kernel.barrier();
      recall();
      kernel.barrier();
      when(b, b.less(thread, b.index(columns)), [&] { solve(); });
      kernel.barrier();
      writeResults();
      kernel.barrier();
    });
    forEach(b, lane, b.index(depth), lanes, [&](Value d) {
      when(b, exists, [&] { store(b, load(b, state, {d, column}), memory, {row, head, d, e}); });
    });
    forEach(b, b.add(length, lane), sequence, lanes, [&](Value t) {
      when(b, exists, [&] { Epilogue(kernel, op).store({row, t, head, e}, real(0)); });
    });
  }

  Value token(Value t) { return b.add(first, t); }
  Value isReal(Value t) { return b.less(token(t), length); }

  /// The sum of decays of tokens j to t. Not a difference of two sums: beside one strong decay others would be lost.
  Value decayed(Value j, Value t) {
    return forEach(b, j, b.add(t, b.index(1)), 1, real(0), [&](Value i, ValueRange sum) -> SmallVector<Value> {
      return {b.add(sum[0], load(b, decay, i))};
    })[0];
  }

  /// Keys, queries, decays and betas.
  void readTokens() {
    forEach(b, thread, b.index(chunk * depth), threads, [&](Value i) {
      Value t = b.div(i, b.index(depth)), d = b.remainder(i, b.index(depth)), known = isReal(t);
      store(b, read(keys, {row, token(t), head, d}, known), k, {t, d});
      store(b, read(queries, {row, token(t), head, d}, known), q, {t, d});
    });
    when(b, b.less(thread, b.index(chunk)), [&] {
      store(b, read(decays, {row, token(thread), head}, isReal(thread)), decay, thread);
      store(b, read(betas, {row, token(thread), head}, isReal(thread)), beta, thread);
    });
  }

  /// What token t takes of token j's correction: into its own, and into its result.
  void compareTokens() {
    for (int64_t i = 0; i < chunk * chunk / threads; ++i) {
      Value pair = b.add(thread, b.index(i * threads));
      Value t = b.div(pair, b.index(chunk)), j = b.remainder(pair, b.index(chunk));
      SmallVector<Value> dots =
          b.loop(b.index(depth), {real(0), real(0)}, [&](Value d, ValueRange sums) -> SmallVector<Value> {
            Value key = load(b, k, {j, d});
            return {fma(b, load(b, k, {t, d}), key, sums[0]), fma(b, load(b, q, {t, d}), key, sums[1])};
          });
      Value never = real(-std::numeric_limits<double>::infinity());
      Value weight = exp(b.select(b.atMost(j, t), decayed(b.add(j, b.index(1)), t), never));
      Value own = b.mul(b.mul(load(b, beta, t), weight), dots[0]);
      store(b, b.select(b.less(j, t), own, real(0)), system, {t, j});
      store(b, b.mul(weight, dots[1]), weights, {t, j});
    }
    when(b, b.less(thread, b.index(chunk)), [&] {
      store(b, exp(decayed(b.index(0), thread)), gamma, thread);
      store(b, exp(decayed(b.add(thread, b.index(1)), b.index(chunk - 1))), tail, thread);
    });
  }

  Value ownToken(int64_t i) { return b.add(b.mul(lane, b.index(tokensPerThread)), b.index(i)); }

  /// What the state holds for each token's key and query: the system's right hand side, and a first part of the
  /// results.
  void recall() {
    SmallVector<Value> sums(size_t(2 * tokensPerThread), real(0));
    sums = b.loop(b.index(depth), sums, [&](Value d, ValueRange carried) {
      Value z = load(b, state, {d, column});
      SmallVector<Value> next;
      for (int64_t i = 0; i < tokensPerThread; ++i)
        for (Value tokens : {k, q})
          next.push_back(fma(b, load(b, tokens, {ownToken(i), d}), z, carried[next.size()]));
      return next;
    });
    recalled.clear();
    for (int64_t i = 0; i < tokensPerThread; ++i) {
      Value t = ownToken(i), fade = load(b, gamma, t);
      Value value = read(values, {row, token(t), head, e}, b.both(isReal(t), exists));
      Value error = b.sub(value, b.mul(fade, sums[size_t(2 * i)]));
      store(b, b.mul(load(b, beta, t), error), u, {t, column});
      recalled.push_back(b.mul(fade, sums[size_t(2 * i) + 1]));
    }
  }

  /// The corrections, from the first token to the last; a thread per column.
  void solve() {
    SmallVector<Value> known;
    for (int64_t t = 0; t < chunk; ++t) {
      Value own = load(b, u, {b.index(t), column});
      for (int64_t j = 0; j < t; ++j)
        own = fma(b, arith::NegFOp::create(b, load(b, system, {b.index(t), b.index(j)})), known[size_t(j)], own);
      known.push_back(own);
      if (t > 0)
        store(b, own, u, {b.index(t), column});
    }
  }

  void writeResults() {
    SmallVector<Value> corrections;
    for (int64_t j = 0; j < chunk; ++j)
      corrections.push_back(load(b, u, {b.index(j), column}));
    for (int64_t i = 0; i < tokensPerThread; ++i) {
      Value t = ownToken(i), y = recalled[size_t(i)];
      for (int64_t j = 0; j < chunk; ++j) {
        // A later token has no part in it, not even as zero times a number that an edit has made infinite.
        Value withToken = fma(b, load(b, weights, {t, b.index(j)}), corrections[size_t(j)], y);
        y = j == 0 ? withToken : b.select(b.atMost(b.index(j), t), withToken, y);
      }
      when(b, b.both(isReal(t), exists), [&] { Epilogue(kernel, op).store({row, token(t), head, e}, y); });
    }
    for (int64_t j = 0; j < chunk; ++j)
      corrections[size_t(j)] = b.mul(load(b, tail, b.index(j)), corrections[size_t(j)]);
    Value fade = load(b, gamma, b.index(chunk - 1));
    forEach(b, lane, b.index(depth), lanes, [&](Value d) {
      Value z = b.mul(fade, load(b, state, {d, column}));
      for (int64_t j = 0; j < chunk; ++j)
        z = fma(b, load(b, k, {b.index(j), d}), corrections[size_t(j)], z);
      store(b, z, state, {d, column});
    });
  }

  int64_t lanes, tokensPerThread;
  Value state, k, q, u, system, weights, decay, gamma, tail, beta; ///< shared memory
  Value thread, column, lane, e, exists, first;
  SmallVector<Value> recalled; ///< for the queries of the thread's tokens
};

} // namespace

bool chunksFit(KernelOp op) { return columnsThatFit(depthOf(op)) > 0; }
void buildDeltaChunks(KernelOp op) { DeltaChunks(op).build(); }

} // namespace nnterp::device
