// Attention's products by matrix instructions on bfloat16. A warp compares all pairs with its part of a tile's keys,
// and mixes all pairs in its part of the columns.
//
// Shared memory holds words, two bfloat16 numbers each, as the instruction wants them: neighbours in depth for queries
// and keys, neighbouring keys for exponentials and values. Lane 4g + t has rows g and g + 8 of the left side, column g
// of the right one, and of the product columns 2t and 2t + 1. Pitches are such that a warp's reads meet no bank twice.
#include "passes/lower/gpu/kernels/Attention.h"
#include "passes/lower/gpu/kernels/Mma.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nnterp::device {

namespace {

constexpr int64_t keysPerTile = 32, warps = AttentionTiles::threads / warpSize;
constexpr int64_t steps = 16, wordsPerStep = steps / 2; ///< of depth, that one instruction takes
constexpr int64_t square = 8;                           ///< columns that one instruction computes

int64_t depthWords(int64_t depth) { return int64_t(llvm::alignTo(depth, steps)) / 2; }
int64_t depthPitch(int64_t depth) { return depthWords(depth) + 4; }
int64_t paddedWidth(int64_t width) { return int64_t(llvm::alignTo(width, square * warps)); }
int64_t valuePitch(int64_t width) { return paddedWidth(width) + 8; }
constexpr int64_t weightPitch = keysPerTile / 2 + 4;
int64_t rowPitch(int64_t width) { return std::max(keysPerTile, width) + 1; }
int64_t tileWords(int64_t depth, int64_t width) {
  return std::max(keysPerTile * depthPitch(depth), keysPerTile / 2 * valuePitch(width));
}

class MmaTiles : public AttentionTiles {
public:
  MmaTiles(DeviceKernel &kernel, int64_t depth, int64_t width)
      : AttentionTiles(kernel, keysPerTile, depth, width), word(b.getI32Type()) {}

  void begin(Value pairOfThread, Value laneOfThread) override {
    pair = pairOfThread, lane = laneOfThread;
    Value inWarp = b.remainder(kernel.thread(), b.index(warpSize));
    warp = b.div(kernel.thread(), b.index(warpSize));
    g = b.div(inWarp, b.index(4)), t = b.remainder(inWarp, b.index(4));
    queries = kernel.shared({pairs, depthPitch(depth)}, word);
    tile = kernel.shared({tileWords(depth, width)}, word);
    high = kernel.shared({pairs, weightPitch}, word);
    low = kernel.shared({pairs, weightPitch}, word);
    rows = kernel.shared({pairs, rowPitch(width)}, f32);
  }

  void readQueries(Rows from) override {
    eachWord(pairs, depthWords(depth), [&](Value i, Value w) {
      store(b, packed(alongDepth(from, i, w)), queries, {i, w});
    });
  }

  SmallVector<Value> compare(Rows from) override {
    kernel.barrier();
    eachWord(keysPerTile, depthWords(depth), [&](Value j, Value w) {
      store(b, packed(alongDepth(from, j, w)), tile, b.add(b.mul(j, b.index(depthPitch(depth))), w));
    });
    kernel.barrier();
    Value key = b.add(b.mul(warp, b.index(square)), g), first = b.mul(key, b.index(depthPitch(depth)));
    SmallVector<Value> scores =
        forEach(b, b.index(0), b.index(depthWords(depth)), wordsPerStep, SmallVector<Value>(4, real(0)),
                [&](Value w, ValueRange carried) {
                  SmallVector<Value> sums(carried), keyWords;
                  for (int64_t half : {0, 4})
                    keyWords.push_back(load(b, tile, b.add(first, b.add(w, b.add(t, b.index(half))))));
                  multiplyAdd(b, leftSide(queries, w), keyWords, sums);
                  return sums;
                });
    for (auto [i, score] : llvm::enumerate(scores)) {
      Value column = b.add(b.mul(warp, b.index(square)), b.add(b.mul(t, b.index(2)), b.index(int64_t(i) % 2)));
      store(b, score, rows, {ownPairs()[size_t(pairOf(int64_t(i)))], column});
    }
    kernel.barrier();
    SmallVector<Value> own;
    for (int64_t i = 0; i < keysPerTile / lanes; ++i)
      own.push_back(load(b, rows, {pair, keyOf(i)}));
    return own;
  }

  /// Neighbours, which are words.
  Value keyOf(int64_t i) override { return b.add(b.mul(lane, b.index(keysPerTile / lanes)), b.index(i)); }

  /// An exponential is the sum of two numbers, so that it keeps 16 bits.
  void weigh(ValueRange exponentials) override {
    Type half = b.getBF16Type();
    for (int64_t i = 0; i < keysPerTile / lanes; i += 2) {
      std::array<Value, 2> upper, lower;
      for (size_t k : {0, 1}) {
        Value exponential = exponentials[size_t(i) + k];
        upper[k] = b.convert(exponential, half);
        lower[k] = b.convert(b.sub(exponential, b.convert(upper[k], f32)), half);
      }
      Value at = b.div(keyOf(i), b.index(2));
      store(b, packed(upper), high, {pair, at});
      store(b, packed(lower), low, {pair, at});
    }
  }

  SmallVector<Value> mix(Rows from, function_ref<SmallVector<Value>()> sumsBefore) override {
    kernel.barrier();
    eachWord(keysPerTile / 2, paddedWidth(width), [&](Value w, Value e) {
      Value isColumn = b.less(e, b.index(width));
      auto entry = [&](int64_t k) {
        Value j = b.add(b.mul(w, b.index(2)), b.index(k));
        Value inside = paddedWidth(width) == width ? from.exists(j) : b.both(isColumn, from.exists(j));
        return entryOrZero(inside, [&] { return from.entry(j, e); });
      };
      store(b, packed({entry(0), entry(1)}), tile, b.add(b.mul(w, b.index(valuePitch(width))), e));
    });
    kernel.barrier();
    SmallVector<Value> sums = sumsBefore();
    for (int64_t w = 0; w < keysPerTile / 2; w += wordsPerStep) {
      SmallVector<Value> highWords = leftSide(high, b.index(w)), lowWords = leftSide(low, b.index(w));
      for (int64_t i = 0; i < columnsPerWarp() / square; ++i) {
        SmallVector<Value> valueWords;
        for (int64_t half : {0, 4}) {
          Value line = b.mul(b.add(t, b.index(w + half)), b.index(valuePitch(width)));
          valueWords.push_back(load(b, tile, b.add(line, b.add(firstColumn(), b.add(g, b.index(i * square))))));
        }
        MutableArrayRef<Value> own = MutableArrayRef(sums).slice(size_t(4 * i), 4);
        multiplyAdd(b, highWords, valueWords, own);
        multiplyAdd(b, lowWords, valueWords, own);
      }
    }
    return sums;
  }

  int64_t sums() const override { return columnsPerWarp() / square * 4; }
  SmallVector<Value> ownPairs() override { return {g, b.add(g, b.index(8))}; }
  int64_t pairOf(int64_t i) const override { return i % 4 / 2; }
  Value columnOf(int64_t i) override {
    return b.add(firstColumn(), b.add(b.mul(t, b.index(2)), b.index(i / 4 * square + i % 2)));
  }

private:
  int64_t columnsPerWarp() const { return paddedWidth(width) / warps; }
  Value firstColumn() { return b.mul(warp, b.index(columnsPerWarp())); }

  void eachWord(int64_t lines, int64_t words, function_ref<void(Value line, Value w)> body) {
    forEach(b, kernel.thread(), b.index(lines * words), threads,
            [&](Value flat) { body(b.div(flat, b.index(words)), b.remainder(flat, b.index(words))); });
  }

  Value entryOrZero(Value exists, function_ref<Value()> entry) {
    Type half = b.getBF16Type();
    return b.ifElse(
        exists, [&] { return b.convert(entry(), half); }, [&] { return b.zero(half); });
  }

  /// Entries 2w and 2w + 1 of row `i`.
  std::array<Value, 2> alongDepth(Rows from, Value i, Value w) {
    auto entry = [&](int64_t k) {
      Value d = b.add(b.mul(w, b.index(2)), b.index(k)), isRow = from.exists(i);
      Value inside = depth % steps == 0 ? isRow : b.both(isRow, b.less(d, b.index(depth)));
      return entryOrZero(inside, [&] { return from.entry(i, d); });
    };
    return {entry(0), entry(1)};
  }

  Value packed(std::array<Value, 2> numbers) {
    Type type = VectorType::get(2, b.getBF16Type());
    Value vector = b.zero(type);
    for (int64_t k : {0, 1})
      vector =
          LLVM::InsertElementOp::create(b, vector, numbers[size_t(k)], LLVM::ConstantOp::create(b, b.getI32Type(), k));
    return LLVM::BitcastOp::create(b, word, vector);
  }

  /// The words of rows g and g + 8 from word `w` on, in the instruction's order.
  SmallVector<Value> leftSide(Value array, Value w) {
    SmallVector<Value> words;
    for (int64_t half : {0, 4})
      for (Value own : ownPairs())
        words.push_back(load(b, array, {own, b.add(w, b.add(t, b.index(half)))}));
    return words;
  }

  Type word;
  Value pair, lane, warp, g, t;
  Value queries, tile, high, low; ///< shared memory
};

} // namespace

std::unique_ptr<AttentionTiles> makeMmaTiles(DeviceKernel &kernel, int64_t depth, int64_t width) {
  return std::make_unique<MmaTiles>(kernel, depth, width);
}

int64_t bytesOfMmaTiles(int64_t depth, int64_t width) {
  constexpr int64_t pairs = AttentionTiles::pairs;
  return 4 * (pairs * (depthPitch(depth) + 2 * weightPitch + rowPitch(width)) + tileWords(depth, width));
}

} // namespace nnterp::device
