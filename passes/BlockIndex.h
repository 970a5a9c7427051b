// The block and the world of the model an op belongs to, once hybrid.block is gone and worlds are made.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace nnterp {

inline constexpr llvm::StringLiteral blockIndexAttr = "nnterp.block";
inline constexpr llvm::StringLiteral channelMixerAttr = "nnterp.channel_mixer";
inline constexpr llvm::StringLiteral worldIndexAttr = "nnterp.world";

/// Marks an op; the mark may be lost by upstream patterns, so readers fall back on operands.
inline void setBlockIndex(mlir::Operation *op, int64_t index) {
  op->setDiscardableAttr(blockIndexAttr, mlir::Builder(op->getContext()).getI64IntegerAttr(index));
}

inline std::optional<int64_t> blockIndex(mlir::Operation *op) {
  if (auto attr = llvm::dyn_cast_or_null<mlir::IntegerAttr>(op->getDiscardableAttr(blockIndexAttr)))
    return attr.getInt();
  return std::nullopt;
}

/// Marks an op of a block's second half, which mixes the channels of each token (behind `layer_mid`). The halves are compiled
/// apart: the second one is often the same where the first is not.
inline void setChannelMixer(mlir::Operation *op) {
  op->setDiscardableAttr(channelMixerAttr, mlir::UnitAttr::get(op->getContext()));
}
inline bool isChannelMixer(mlir::Operation *op) { return op->hasAttr(channelMixerAttr); }

/// The plan's world an op was made for; 0 in a plan with one.
inline int64_t worldIndex(mlir::Operation *op) {
  auto attr = llvm::dyn_cast_or_null<mlir::IntegerAttr>(op->getDiscardableAttr(worldIndexAttr));
  return attr ? attr.getInt() : 0;
}
inline void setWorldIndex(mlir::Operation *op, int64_t index) {
  op->setDiscardableAttr(worldIndexAttr, mlir::Builder(op->getContext()).getI64IntegerAttr(index));
}

/// Gives `op` the marks of `of`, as far as it has them.
inline void copyMarks(mlir::Operation *of, mlir::Operation *op) {
  for (llvm::StringRef mark : {blockIndexAttr, channelMixerAttr, worldIndexAttr})
    if (mlir::Attribute attr = of->getDiscardableAttr(mark))
      op->setDiscardableAttr(mark, attr);
}

/// Takes all marks off.
inline void dropMarks(mlir::Operation *op) {
  for (llvm::StringRef mark : {blockIndexAttr, channelMixerAttr, worldIndexAttr})
    op->removeDiscardableAttr(mark);
}

} // namespace nnterp
