// What a block does in the kernels of attention: an on-line softmax over a segment of the keys.
//
// Inputs of all of them: queries [B,N,S,D], keys [B,NK,T,D], values [B,NK,T,E], and past [B] where rows stand behind earlier tokens.
// Out: [B,S,N,E].
#pragma once

#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "passes/lower/gpu/kernels/Warp.h"

#include <memory>

namespace nnterp::device {

/// How a block multiplies: its queries by the keys of a tile, and the exponentials of their scores by the tile's values. Eight threads,
/// the lanes, compare one pair of a token and a query head with the keys of a tile.
class AttentionTiles {
public:
  static constexpr int64_t threads = 128, pairs = 16, lanes = threads / pairs;
  /// Fetches the entry `d` of row `i`, where the row exists.
  struct Rows {
    mlir::function_ref<mlir::Value(mlir::Value i)> exists;
    mlir::function_ref<mlir::Value(mlir::Value i, mlir::Value d)> entry;
  };

  virtual ~AttentionTiles() = default;
  /// Makes the shared memory. `pair`, `lane`: which pair the thread compares, and which of its lanes the thread is.
  virtual void begin(mlir::Value pair, mlir::Value lane) = 0;
  virtual void readQueries(Rows rows) = 0;
  /// The thread's pair times the thread's keys of the tile: `keys / lanes` numbers. Has barriers.
  virtual llvm::SmallVector<mlir::Value> compare(Rows keys) = 0;
  /// The place in the tile of the thread's i-th key.
  virtual mlir::Value keyOf(int64_t i) = 0;
  /// What the pairs' keys weigh, one number for each that `compare` gave. Read by `mix`.
  virtual void weigh(mlir::ValueRange exponentials) = 0;
  /// Adds the tile's values, weighed, to the thread's sums. Has barriers.
  virtual llvm::SmallVector<mlir::Value> mix(Rows values, mlir::function_ref<llvm::SmallVector<mlir::Value>()> sums) = 0;

  /// The thread's sums: each of a pair, the `pairOf(i)`-th of `ownPairs`, and of a column of the values.
  virtual int64_t sums() const = 0;
  virtual llvm::SmallVector<mlir::Value> ownPairs() = 0;
  virtual int64_t pairOf(int64_t i) const = 0;
  virtual mlir::Value columnOf(int64_t i) = 0;

  int64_t keys;      ///< of a tile
  mlir::Value rows;  ///< shared memory for a row of results per pair, float32; free once everything is mixed

protected:
  AttentionTiles(DeviceKernel &kernel, int64_t keys, int64_t depth, int64_t width)
      : keys(keys), kernel(kernel), b(kernel.b), f32(b.getF32Type()), depth(depth), width(width) {}
  mlir::Value real(double value) { return b.real(f32, value); }

  DeviceKernel &kernel;
  PlainBuilder &b;
  mlir::Type f32;
  int64_t depth, width; ///< D, E
};

/// float32: fused multiply-adds. bfloat16: mma.sync m16n8k16, exponentials as the sum of two bfloat16 numbers.
std::unique_ptr<AttentionTiles> makeFmaTiles(DeviceKernel &kernel, int64_t depth, int64_t width);
std::unique_ptr<AttentionTiles> makeMmaTiles(DeviceKernel &kernel, int64_t depth, int64_t width);
/// Bytes of shared memory that a block takes with heads of these extents.
int64_t bytesOfFmaTiles(int64_t depth, int64_t width);
int64_t bytesOfMmaTiles(int64_t depth, int64_t width);

/// A block works on 16 pairs of a token and a query head, all reading one key head, and goes through its keys in tiles. Segments of 128
/// keys are summed each on its own and merged from the first to the last, tiles and segments beginning at fixed places. Keys behind a
/// pair's own place add nothing. So the order of a sum depends on the places of its keys alone, and segments may be different blocks'
/// or one block's.
class AttentionBlock {
public:
  static constexpr int64_t keysPerSegment = 128;

  AttentionBlock(KernelOp op, llvm::StringRef name);

  /// Whether heads of these extents find place in shared memory.
  static bool fits(mlir::Type model, int64_t depth, int64_t width);

protected:
  static constexpr int64_t threads = AttentionTiles::threads, pairs = AttentionTiles::pairs;

  /// The sums of a block's part of the keys: of the pair that the thread compares, and the thread's of values.
  struct Sums {
    mlir::Value peak, total;              ///< the largest score; the sum of exponentials
    llvm::SmallVector<mlir::Value> mixed; ///< of values times exponentials

    llvm::SmallVector<mlir::Value> flat() const;
    static Sums of(mlir::ValueRange flat);
  };

  mlir::MemRefType typeOf(unsigned input) { return mlir::cast<mlir::MemRefType>(op.getInputs()[input].getType()); }
  mlir::Value real(double value) { return b.real(f32, value); }
  mlir::Value tokenOf(mlir::Value pair) { return b.div(pair, b.index(group)); }
  mlir::Value headOf(mlir::Value pair);
  /// Of a host's extents: pairs of a row and key head; tiles of them.
  static mlir::Value hostPairs(KernelOp op);
  static mlir::Value hostTiles(KernelOp op);

  /// Says which pairs the block works on, of which row and key head, and fetches their queries.
  void begin(mlir::Value tile, mlir::Value keyHead, mlir::Value row);
  Sums none();
  /// The sums over the segment that begins at key `first`.
  Sums segment(mlir::Value first);
  /// What a thread that compares a pair knows of it, told to all threads, and what it has been told of those of its own sums.
  void tell(mlir::Value value, mlir::Value array);
  llvm::SmallVector<mlir::Value> told(mlir::Value array);

  KernelOp op;
  int64_t depth, width, group; ///< D, E, N / NK
  DeviceKernel kernel;
  PlainBuilder &b;
  std::unique_ptr<AttentionTiles> tiles;
  mlir::Type f32;
  mlir::Value thread, row, keyHead, firstPair, all, limit; ///< `all`: how many pairs there are; `limit`: of the keys that are read
  mlir::Value ownPair, lane;                               ///< which pair the thread compares, and with which keys
  mlir::Value factors;                                     ///< shared memory

private:
  mlir::Value md(mlir::Value v);
  mlir::Value placeOf(mlir::Value pair) { return b.add(past, tokenOf(pair)); }
  void compare(mlir::Value first, Sums &sums);
  void mix(mlir::Value first, Sums &sums);

  mlir::Value past;
};

/// The largest score, the sum of exponentials and that of values of two parts of the keys, as those of both.
struct MergedSoftmax {
  MergedSoftmax(PlainBuilder &b, mlir::Value peak, mlir::Value otherPeak);
  mlir::Value sum(PlainBuilder &b, mlir::Value own, mlir::Value other) const;
  mlir::Value peak, factor, otherFactor;
};

} // namespace nnterp::device
