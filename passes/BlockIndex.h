// The block of the model an op belongs to, after hybrid.block is gone.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace nnterp {

inline constexpr llvm::StringLiteral blockIndexAttr = "nnterp.block";

/// Marks an op; the mark may be lost by upstream patterns, so readers fall back on operands.
inline void setBlockIndex(mlir::Operation *op, int64_t index) {
  op->setDiscardableAttr(blockIndexAttr, mlir::Builder(op->getContext()).getI64IntegerAttr(index));
}

inline std::optional<int64_t> blockIndex(mlir::Operation *op) {
  if (auto attr = llvm::dyn_cast_or_null<mlir::IntegerAttr>(op->getDiscardableAttr(blockIndexAttr)))
    return attr.getInt();
  return std::nullopt;
}

/// Gives `op` the mark of `of`, if it has one.
inline void copyBlockIndex(mlir::Operation *of, mlir::Operation *op) {
  if (std::optional<int64_t> index = blockIndex(of))
    setBlockIndex(op, *index);
}

} // namespace nnterp
