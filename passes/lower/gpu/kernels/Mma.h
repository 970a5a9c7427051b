// Multiplies panels of two matrices that lie in shared memory, in registers of a group of threads.
#pragma once

#include "passes/lower/gpu/kernels/Warp.h"

#include <memory>

namespace nnterp::device {

/// How a block computes one tile of a product x * w^T: rows of x against rows of w (columns of the product).
struct TileShape {
  int64_t rows, columns; ///< of the tile; multiples of 16
  int64_t panels;        ///< how many are loaded at once
  int64_t groups;        ///< of threads, each with its own part of the depth: 1 or 4
  int64_t stages;        ///< buffers of panels in shared memory: 1 or 2

  static constexpr int64_t threads = 128;
  int64_t groupThreads() const { return threads / groups; }
};

/// A panel holds 64 bytes of each of some rows, in chunks of 16 bytes. Chunk c of row r is the vector number c * (rows + 2) + r: with
/// two rows too many, neither writing it row by row nor reading it as the products do makes two threads wait for one bank.
struct Panel {
  static constexpr int64_t chunks = 4;
  static int64_t pitch(int64_t rows) { return rows + 2; }
  static int64_t vectors(int64_t rows) { return chunks * pitch(rows); }
};

/// The numbers of a tile that one thread accumulates, in float32.
class Accumulators {
public:
  virtual ~Accumulators() = default;

  /// Adds the products of two panels, which begin at these vectors of `memory`, to the thread's numbers. The order of the depth within
  /// a panel is the same for every element of every tile.
  virtual llvm::SmallVector<mlir::Value> multiply(mlir::Value memory, mlir::Value left, mlir::Value right,
                                                  mlir::ValueRange numbers) = 0;
  virtual int64_t count() const = 0;
  /// Row and column in the tile of the i-th of them.
  virtual std::pair<mlir::Value, mlir::Value> place(int64_t i) = 0;
};

/// One mma.sync m16n8k16: adds the product of bfloat16 fragments, four words of the left side and two of the right one, to four sums.
void multiplyAdd(PlainBuilder &b, mlir::ValueRange left, mlir::ValueRange right, llvm::MutableArrayRef<mlir::Value> sums);

/// bfloat16: mma.sync m16n8k16. float32: fused multiply-adds of tiles in registers. `thread` counts within the group.
std::unique_ptr<Accumulators> makeAccumulators(PlainBuilder &b, mlir::Type model, const TileShape &shape, mlir::Value thread);

} // namespace nnterp::device
