// Loop nests that compute each element of a value on its own: what they are, and over which extents they go.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

namespace nnterp {

/// Whether a loop nest computes each element of its results on its own.
bool isElementwise(mlir::linalg::GenericOp op);
/// Whether it does so in fresh memory, whose old entries nobody reads.
bool makesFreshValues(mlir::linalg::GenericOp op);

/// Writes extents of results as extents of the memory they are made in, and those as the sizes it was made with: a reader that takes its
/// own extents from the value would otherwise depend on it.
void resolveExtents(mlir::func::FuncOp function);
/// Whether two tensors have the same extents, whatever they are.
bool haveSameExtents(mlir::Value one, mlir::Value other);

/// Copies the body of a loop nest for the element `at`; gives the elements that it yields.
llvm::SmallVector<mlir::Value> cloneElement(mlir::OpBuilder &b, mlir::linalg::GenericOp op, mlir::ValueRange at);

} // namespace nnterp
