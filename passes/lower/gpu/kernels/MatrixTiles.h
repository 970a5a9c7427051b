// One tile of a matrix product, computed by a block: the part that all matrix kernels have in common.
//
// The depth K is cut into four parts, by its own length alone; the last ones of a short depth are empty. Each part is summed from its
// first panel to its last, then the parts from the first to the last. A tile of many rows takes the parts one after the other; a tile of
// few rows, whose time is that of reading the weights, gives each to a warp. Both get the same bits.
//
// The depth is a number that a kernel is given, so that one kernel serves matrices of all extents. Only how it fits into what is read at
// once is known when the kernel is written.
#pragma once

#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "passes/lower/gpu/kernels/Mma.h"

namespace nnterp::device {

/// For prompts, and for the rows of a decode step.
inline constexpr TileShape manyRows{64, 64, 1, 1, 2}, fewRows{16, 16, 4, 4, 1};

/// How a depth fits into what is read at once.
enum class Fit {
  whole,   ///< in whole stages: nothing behind the depth is read
  chunks,  ///< every row begins where a chunk of 16 bytes may
  elements ///< only elements can be read
};
Fit fitOf(int64_t depth, mlir::Type model, const TileShape &shape);

/// Writes a kernel twice, for few rows and for many; `few`, on the host, decides which of the two a call launches. `build` is given a copy of
/// the op to write.
void eitherShape(KernelOp op, mlir::Value few, mlir::function_ref<void(KernelOp copy, bool few)> build);

/// Whether the first two inputs of a kernel, which it multiplies, are dense and row-major; else an error is reported.
bool hasDenseMatrices(KernelOp op);

/// The indices of a row among all rows of a tensor, of which there are fewer than 2^31: divisions of 32 bits are much faster.
llvm::SmallVector<mlir::Value> rowIndices(PlainBuilder &b, mlir::Value row, mlir::ValueRange extents);

/// Rows of a matrix in memory that make up one side of a tile.
struct TileSide {
  mlir::Value memory; ///< inside the kernel; dense and row-major, of any rank
  /// The number of the element where the row at a place of the tile begins. A place that has no row gets some other row.
  std::function<mlir::Value(mlir::Value place)> start;
};

class TileProduct {
public:
  /// `model` is the type in which products are taken; the sides are converted to it as they are read.
  TileProduct(DeviceKernel &kernel, mlir::Type model, mlir::Value depth, Fit fit, const TileShape &shape);

  /// Computes the tile; its elements can then be read by every thread. All threads of the block take part.
  void compute(const TileSide &left, const TileSide &right);
  /// An element of the computed tile, float32.
  mlir::Value sum(mlir::Value row, mlir::Value column);
  /// Runs `body` for each element of the tile's first `columns` columns, a thread per element; neighbours have neighbouring columns.
  void perElement(int64_t columns, mlir::function_ref<void(mlir::Value row, mlir::Value column)> body);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  struct Reader; ///< of one side, by one thread

  Reader reader(const TileSide &side, int64_t rows);
  mlir::Value readChunk(const Reader &side, mlir::Value start, mlir::Value k);
  mlir::Value readElements(const Reader &side, mlir::Value start, mlir::Value k);
  mlir::Value packed(llvm::function_ref<mlir::Value(int64_t i)> element, mlir::Value whole = {});
  mlir::Value chunkStart(mlir::Value panel);
  /// The chunks of a stage, to be written to shared memory when their turn comes; none where single elements are read.
  Values readStage(llvm::ArrayRef<Reader> sides, mlir::Value firstPanel);
  void writeStage(llvm::ArrayRef<Reader> sides, mlir::Value firstPanel, mlir::ValueRange chunks, mlir::Value base);
  /// Sums the panels from `first` to `end`; `staged` are the chunks of the first stage on entry, of the one behind `end` afterwards if it
  /// is before `last`.
  Values sumPart(llvm::ArrayRef<Reader> sides, mlir::Value first, mlir::Value end, mlir::Value last, Values &staged);
  void leave(mlir::ValueRange numbers);
  mlir::Value place(mlir::Value group, mlir::Value row, mlir::Value column);

  // Vectors of shared memory.
  int64_t pairVectors() const { return Panel::vectors(shape.rows) + Panel::vectors(shape.columns); }
  int64_t stageVectors() const { return shape.groups * shape.panels * pairVectors(); }
  int64_t columnPitch() const { return shape.columns + 8; } ///< of the computed tile: spreads a warp's writes over the banks

  DeviceKernel &kernel;
  PlainBuilder &b;
  mlir::Type model;
  mlir::Value depth; ///< elements
  Fit fit;
  int64_t perChunk, panelDepth; ///< elements
  mlir::Value panels, partPanels; ///< how many there are, and in a part
  TileShape shape;
  mlir::Value memory, floats; ///< vectors of the panels; the address of the same memory
  mlir::Value group, thread;  ///< number of the group, and of the thread in it
  std::unique_ptr<Accumulators> accumulators;
};

} // namespace nnterp::device
