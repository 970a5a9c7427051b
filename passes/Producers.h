// The ops that an op reads from, nested ops counting for the op of the block they stand in.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

#include "llvm/ADT/SetVector.h"

namespace nnterp {

/// The ops of `block` whose results `op` or an op nested in it reads, `op` itself left out, in order of first use.
inline llvm::SetVector<mlir::Operation *> producersOf(mlir::Operation *op, mlir::Block &block) {
  llvm::SetVector<mlir::Operation *> found;
  op->walk([&](mlir::Operation *nested) {
    for (mlir::Value v : nested->getOperands())
      if (mlir::Operation *def = v.getDefiningOp())
        if (mlir::Operation *producer = block.findAncestorOpInBlock(*def); producer && producer != op)
          found.insert(producer);
  });
  return found;
}

} // namespace nnterp
