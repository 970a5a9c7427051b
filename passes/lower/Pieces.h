// Cuts a function's graph into the pieces that are outlined: the ops of half a block of the model in one world.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace nnterp {

/// Ops that run together, in order. Half a block of a world is one piece, unless two worlds read from each other within
/// it: then it is several.
struct Piece {
  int64_t block = 0;
  bool channelMixer = false;
  int64_t world = 0;
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The pieces in an order in which each needs only those before it: blocks ascending, worlds in the plan's order, as far
/// as dependencies allow. Weights, buffers and the terminator belong to none.
llvm::SmallVector<Piece> cutIntoPieces(mlir::Block &body);

} // namespace nnterp
