// What a block does in the kernels of attention: an on-line softmax over a segment of the keys.
//
// Inputs of all of them: queries [B,N,S,D], keys [B,NK,T,D], values [B,NK,T,E], and past [B] where rows stand behind earlier tokens.
// Out: [B,S,N,E].
#pragma once

#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "passes/lower/gpu/kernels/Warp.h"

namespace nnterp::device {

/// A block works on 16 pairs of a token and a query head, all reading one key head, and goes through its keys in tiles of 16. Segments
/// of 128 keys are summed each on its own and merged from the first to the last, tiles and segments beginning at fixed places. Keys
/// behind a pair's own place add nothing. So the order of a sum depends on the places of its keys alone, and segments may be different
/// blocks' or one block's.
class AttentionBlock {
public:
  static constexpr int64_t keysPerSegment = 128;

  AttentionBlock(KernelOp op, llvm::StringRef name);

  /// Whether heads of these extents find place in shared memory.
  static bool fits(int64_t depth, int64_t width);

protected:
  static constexpr int64_t threads = 128, pairs = 16, keysPerTile = 16;

  /// The sums of a block's part of the keys: of the pair that the thread compares, and for the thread's columns of all pairs.
  struct Sums {
    mlir::Value peak, total;           ///< the largest score; the sum of exponentials
    llvm::SmallVector<mlir::Value> mixed; ///< of values times exponentials: pair by pair, each the thread's columns

    llvm::SmallVector<mlir::Value> flat() const;
    static Sums of(mlir::ValueRange flat);
  };

  mlir::MemRefType typeOf(unsigned input) { return mlir::cast<mlir::MemRefType>(op.getInputs()[input].getType()); }
  mlir::Value real(double value) { return b.real(f32, value); }
  int64_t columnsPerThread() const { return llvm::divideCeil(width, threads); }
  mlir::Value column(int64_t c) { return b.add(thread, b.index(c * threads)); }
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
  /// What a thread that compares a pair knows of it, told to all threads.
  void tell(mlir::Value value, mlir::Value array);

  KernelOp op;
  int64_t depth, width, group; ///< D, E, N / NK
  DeviceKernel kernel;
  PlainBuilder &b;
  mlir::Type f32;
  mlir::Value thread, row, keyHead, firstPair, all, limit; ///< `all`: how many pairs there are; `limit`: of the keys that are read
  mlir::Value ownPair, lane;                               ///< which pair the thread compares, and with which keys
  mlir::Value queries, factors;                            ///< shared memory

private:
  static constexpr int64_t lanes = threads / pairs; ///< threads that compare a pair with keys
  static constexpr int64_t parts = 8;               ///< sums that a dot product is made of

  static int64_t padded(int64_t depth) { return int64_t(llvm::alignTo(depth, parts)); }
  mlir::Value md(mlir::Value v);
  mlir::Value placeOf(mlir::Value pair) { return b.add(past, tokenOf(pair)); }
  mlir::Value tileKey(int64_t i) { return b.add(lane, b.index(i * lanes)); }
  void fill(mlir::Value array, int64_t rows, int64_t length, int64_t paddedLength,
            mlir::function_ref<mlir::Value(mlir::Value i)> exists,
            mlir::function_ref<mlir::Value(mlir::Value i, mlir::Value d)> entry);
  void readTile(unsigned input, mlir::Value first, int64_t length, int64_t paddedLength);
  void compare(mlir::Value first, Sums &sums);
  llvm::SmallVector<mlir::Value> dots();
  void mix(mlir::Value first, Sums &sums);

  mlir::Value past, tile, exponentials; ///< the last two: shared memory
};

/// The largest score, the sum of exponentials and that of values of two parts of the keys, as those of both.
struct MergedSoftmax {
  MergedSoftmax(PlainBuilder &b, mlir::Value peak, mlir::Value otherPeak);
  mlir::Value sum(PlainBuilder &b, mlir::Value own, mlir::Value other) const;
  mlir::Value peak, factor, otherFactor;
};

} // namespace nnterp::device
