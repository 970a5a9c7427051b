// What the kernels of this folder are written with: guarded work, memory, and reductions by shuffles.
#pragma once

#include "passes/lower/gpu/DeviceKernel.h"

namespace nnterp::device {

using plain::PlainBuilder;

constexpr int64_t warpSize = 32;

mlir::Value load(PlainBuilder &b, mlir::Value memory, mlir::ValueRange at);
void store(PlainBuilder &b, mlir::Value value, mlir::Value memory, mlir::ValueRange at);
/// An entry of an int64 table, as an index.
mlir::Value loadIndex(PlainBuilder &b, mlir::Value table, mlir::ValueRange at);
mlir::Value least(PlainBuilder &b, mlir::Value i, mlir::Value j);
/// a * b + c, rounded once.
mlir::Value fma(PlainBuilder &b, mlir::Value x, mlir::Value y, mlir::Value z);

/// Runs `body` for i = begin, begin + step, ... below `end`.
void forEach(PlainBuilder &b, mlir::Value begin, mlir::Value end, int64_t step, mlir::function_ref<void(mlir::Value i)> body);
/// The same, carrying values.
llvm::SmallVector<mlir::Value> forEach(PlainBuilder &b, mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange init,
                                       PlainBuilder::LoopBody body);

using Combine = mlir::function_ref<mlir::Value(mlir::Value, mlir::Value)>;

/// The value of the lane whose number differs in the bits of `mask`. All lanes of the warp take part.
mlir::Value shuffleXor(PlainBuilder &b, mlir::Value value, int64_t mask);
/// Combines `value` over the lanes whose numbers differ in the bits first, 2 * first, ... below `end` only (powers of two), by a fixed
/// tree: each of them has the result. All lanes of the warp take part.
mlir::Value acrossLanes(PlainBuilder &b, mlir::Value value, int64_t first, int64_t end, Combine combine);
/// Combines `value` over a block of `threads` threads (a multiple of the warp), by a fixed tree: each has the result. Has a barrier.
mlir::Value acrossBlock(DeviceKernel &kernel, mlir::Value value, int64_t threads, Combine combine);

} // namespace nnterp::device
