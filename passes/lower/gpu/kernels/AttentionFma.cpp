// Attention's products by fused multiply-adds: a thread compares one pair, and mixes all pairs in some columns.
#include "passes/lower/gpu/kernels/Attention.h"

#include <functional>

using namespace mlir;

namespace nnterp::device {

namespace {

constexpr int64_t keysPerTile = 16;
constexpr int64_t parts = 8; ///< sums that a dot product is made of

int64_t padded(int64_t depth) { return int64_t(llvm::alignTo(depth, parts)); }
/// One more, so that neighbours' rows lie in different banks.
int64_t pitch(int64_t depth, int64_t width) { return std::max(padded(depth), width) + 1; }

class FmaTiles : public AttentionTiles {
public:
  FmaTiles(DeviceKernel &kernel, int64_t depth, int64_t width) : AttentionTiles(kernel, keysPerTile, depth, width) {}

  void begin(Value pairOfThread, Value laneOfThread) override {
    pair = pairOfThread, lane = laneOfThread;
    rows = kernel.shared({pairs, pitch(depth, width)}, f32);
    tile = kernel.shared({keysPerTile, pitch(depth, width)}, f32);
    weights = kernel.shared({pairs, keysPerTile + 1}, f32);
  }

  void readQueries(Rows queries) override { fill(rows, pairs, depth, padded(depth), queries); }

  SmallVector<Value> compare(Rows keysOfTile) override {
    readTile(keysOfTile, depth, padded(depth));
    constexpr int64_t own = keysPerTile / lanes;
    SmallVector<Value> sums(size_t(own * parts), real(0)), results;
    sums = forEach(b, b.index(0), b.index(depth), parts, sums, [&](Value d, ValueRange carried) {
      SmallVector<Value> next(carried);
      for (int64_t part = 0; part < parts; ++part) {
        Value at = b.add(d, b.index(part)), query = load(b, rows, {pair, at});
        for (int64_t i = 0; i < own; ++i) {
          Value &sum = next[size_t(i * parts + part)];
          sum = fma(b, query, load(b, tile, {keyOf(i), at}), sum);
        }
      }
      return next;
    });
    std::function<Value(ArrayRef<Value>)> tree = [&](ArrayRef<Value> terms) {
      size_t half = terms.size() / 2;
      return half == 0 ? terms[0] : b.add(tree(terms.take_front(half)), tree(terms.drop_front(half)));
    };
    for (int64_t i = 0; i < own; ++i)
      results.push_back(tree(ArrayRef(sums).slice(size_t(i * parts), size_t(parts))));
    return results;
  }

  Value keyOf(int64_t i) override { return b.add(lane, b.index(i * lanes)); }

  void weigh(ValueRange exponentials) override {
    for (auto [i, exponential] : llvm::enumerate(exponentials))
      store(b, exponential, weights, {pair, keyOf(int64_t(i))});
  }

  SmallVector<Value> mix(Rows values, function_ref<SmallVector<Value>()> sumsBefore) override {
    readTile(values, width, width);
    return b.loop(b.index(keysPerTile), sumsBefore(), [&](Value j, ValueRange carried) {
      SmallVector<Value> entries, next;
      for (int64_t c = 0; c < columnsPerThread(); ++c)
        entries.push_back(load(b, tile, {j, least(b, columnOf(c), b.index(width - 1))}));
      for (int64_t i = 0; i < pairs; ++i) {
        Value weight = load(b, weights, {b.index(i), j});
        for (Value entry : entries)
          next.push_back(fma(b, weight, entry, carried[next.size()]));
      }
      return next;
    });
  }

  int64_t sums() const override { return pairs * columnsPerThread(); }
  SmallVector<Value> ownPairs() override {
    SmallVector<Value> all;
    for (int64_t i = 0; i < pairs; ++i)
      all.push_back(b.index(i));
    return all;
  }
  int64_t pairOf(int64_t i) const override { return i / columnsPerThread(); }
  Value columnOf(int64_t i) override { return b.add(kernel.thread(), b.index(i % columnsPerThread() * threads)); }

private:
  int64_t columnsPerThread() const { return llvm::divideCeil(width, threads); }

  /// Rows of a shared array from memory: `count` of `length` entries, zeros up to the padded length and where a row
  /// does not exist.
  void fill(Value array, int64_t count, int64_t length, int64_t paddedLength, Rows from) {
    forEach(b, kernel.thread(), b.index(count * paddedLength), threads, [&](Value flat) {
      Value i = b.div(flat, b.index(paddedLength)), d = b.remainder(flat, b.index(paddedLength));
      Value inside = paddedLength == length ? from.exists(i) : b.both(from.exists(i), b.less(d, b.index(length)));
      Value v = b.ifElse(
          inside, [&] { return b.convert(from.entry(i, d), f32); }, [&] { return real(0); });
      store(b, v, array, {i, d});
    });
  }

  void readTile(Rows from, int64_t length, int64_t paddedLength) {
    kernel.barrier();
    fill(tile, keysPerTile, length, paddedLength, from);
    kernel.barrier();
  }

  Value pair, lane;
  Value tile, weights; ///< shared memory
};

} // namespace

std::unique_ptr<AttentionTiles> makeFmaTiles(DeviceKernel &kernel, int64_t depth, int64_t width) {
  return std::make_unique<FmaTiles>(kernel, depth, width);
}

int64_t bytesOfFmaTiles(int64_t depth, int64_t width) {
  constexpr int64_t pairs = AttentionTiles::pairs;
  return 4 * ((pairs + keysPerTile) * pitch(depth, width) + pairs * (keysPerTile + 1));
}

} // namespace nnterp::device
