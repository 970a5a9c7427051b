// Products of panels in registers: matrix instructions for bfloat16, fused multiply-adds for float32.
#include "passes/lower/gpu/kernels/Mma.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace nnterp::device {

void multiplyAdd(PlainBuilder &b, ValueRange left, ValueRange right, MutableArrayRef<Value> sums) {
  Type f32 = b.getF32Type(), type = LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32});
  Value out = NVVM::MmaOp::create(b, type, left, right, ValueRange(sums), {16, 8, 16}, std::nullopt, std::nullopt,
                                  std::array{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
                                  std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (int64_t i = 0; i < 4; ++i)
    sums[size_t(i)] = LLVM::ExtractValueOp::create(b, out, i);
}

namespace {

Value element(PlainBuilder &b, Value vector, int64_t i) {
  return LLVM::ExtractElementOp::create(b, vector, LLVM::ConstantOp::create(b, b.getI32Type(), i));
}

/// The tile is cut into one part per warp, a part into squares of 16 x 8. Lane 4g + t of the instruction has, of the 16
/// steps of depth, 2t, 2t+1, 2t+8 and 2t+9 of row g: the steps are numbered such that they are neighbours in memory,
/// and one read of 16 bytes serves two instructions.
class MmaAccumulators : public Accumulators {
public:
  MmaAccumulators(PlainBuilder &b, const TileShape &shape, Value thread) : b(b), shape(shape) {
    const int64_t down = shape.groups == 1 ? 2 : 1, across = shape.groupThreads() / warpSize / down;
    height = shape.rows / down, width = shape.columns / across;
    Value warp = b.div(thread, b.index(warpSize)), lane = b.remainder(thread, b.index(warpSize));
    g = b.div(lane, b.index(4)), t = b.remainder(lane, b.index(4));
    firstRow = b.mul(b.div(warp, b.index(across)), b.index(height));
    firstColumn = b.mul(b.remainder(warp, b.index(across)), b.index(width));
  }

  SmallVector<Value> multiply(Value memory, Value left, Value right, ValueRange numbers) override {
    SmallVector<Value> result(numbers);
    SmallVector<Value> rows = fragments(memory, left, shape.rows, firstRow, height / 8);
    SmallVector<Value> columns = fragments(memory, right, shape.columns, firstColumn, width / 8);
    for (int64_t half = 0; half < 2; ++half)
      for (size_t i = 0; i < rows.size(); i += 2)
        for (size_t j = 0; j < columns.size(); ++j) {
          auto word = [&](Value chunk, int64_t k) { return element(b, chunk, 2 * half + k); };
          SmallVector<Value> x{word(rows[i], 0), word(rows[i + 1], 0), word(rows[i], 1), word(rows[i + 1], 1)};
          SmallVector<Value> w{word(columns[j], 0), word(columns[j], 1)};
          MutableArrayRef<Value> sums = MutableArrayRef(result).slice((i / 2 * columns.size() + j) * 4, 4);
          multiplyAdd(b, x, w, sums);
        }
    return result;
  }

  int64_t count() const override { return height / 16 * (width / 8) * 4; }

  std::pair<Value, Value> place(int64_t i) override {
    const int64_t square = i / 4, down = square / (width / 8), across = square % (width / 8);
    Value row = b.add(b.add(firstRow, g), b.index(16 * down + i % 4 / 2 * 8));
    Value column = b.add(b.add(firstColumn, b.mul(t, b.index(2))), b.index(8 * across + i % 2));
    return {row, column};
  }

private:
  /// Chunk t of rows g, g + 8, ... of a panel.
  SmallVector<Value> fragments(Value memory, Value panel, int64_t rows, Value first, int64_t count) {
    Value start = b.add(b.add(panel, b.mul(t, b.index(Panel::pitch(rows)))), b.add(first, g));
    SmallVector<Value> chunks;
    for (int64_t i = 0; i < count; ++i)
      chunks.push_back(load(b, memory, b.add(start, b.index(8 * i))));
    return chunks;
  }

  PlainBuilder &b;
  TileShape shape;
  int64_t height, width; ///< of a warp's part
  Value g, t, firstRow, firstColumn;
};

/// Threads stand in rows of 16; each has every 16th column and as many rows as are left.
class FmaAccumulators : public Accumulators {
public:
  FmaAccumulators(PlainBuilder &b, const TileShape &shape, Value thread)
      : b(b), shape(shape), down(shape.groupThreads() / across), ownRows(shape.rows / down),
        ownColumns(shape.columns / across) {
    row = b.div(thread, b.index(across)), column = b.remainder(thread, b.index(across));
  }

  SmallVector<Value> multiply(Value memory, Value left, Value right, ValueRange numbers) override {
    return b.loop(b.index(Panel::chunks), numbers, [&](Value chunk, ValueRange now) {
      SmallVector<Value> sums(now), x, w;
      for (int64_t i = 0; i < ownRows; ++i)
        x.push_back(floats(memory, left, shape.rows, chunk, b.add(row, b.index(i * down))));
      for (int64_t j = 0; j < ownColumns; ++j)
        w.push_back(floats(memory, right, shape.columns, chunk, b.add(column, b.index(j * across))));
      for (int64_t k = 0; k < 4; ++k)
        for (size_t i = 0; i < x.size(); ++i)
          for (size_t j = 0; j < w.size(); ++j) {
            Value &sum = sums[i * w.size() + j];
            sum = fma(b, element(b, x[i], k), element(b, w[j], k), sum);
          }
      return sums;
    });
  }

  int64_t count() const override { return ownRows * ownColumns; }

  std::pair<Value, Value> place(int64_t i) override {
    return {b.add(row, b.index(i / ownColumns * down)), b.add(column, b.index(i % ownColumns * across))};
  }

private:
  static constexpr int64_t across = 16;

  Value floats(Value memory, Value panel, int64_t rows, Value chunk, Value at) {
    Value bits = load(b, memory, b.add(b.add(panel, b.mul(chunk, b.index(Panel::pitch(rows)))), at));
    return LLVM::BitcastOp::create(b, VectorType::get(4, b.getF32Type()), bits);
  }

  PlainBuilder &b;
  TileShape shape;
  int64_t down, ownRows, ownColumns;
  Value row, column;
};

} // namespace

std::unique_ptr<Accumulators> makeAccumulators(PlainBuilder &b, Type model, const TileShape &shape, Value thread) {
  if (model.isBF16())
    return std::make_unique<MmaAccumulators>(b, shape, thread);
  return std::make_unique<FmaAccumulators>(b, shape, thread);
}

} // namespace nnterp::device
