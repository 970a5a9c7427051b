// Names the values on a cycle that edits have closed.
#pragma once

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnterp {

/// Emits the error for a function whose ops depend on themselves, at the edit that closes the cycle, with the named values on it
/// as notes. Always fails.
llvm::LogicalResult reportCycle(mlir::func::FuncOp function, PlanOp plan);

/// The plan's entry that an op belongs to (nnterp.edit and its relatives), or -1.
int64_t entryOf(mlir::Operation *op);

/// The first op of the plan that stands for an edit entry.
PlanEditOp editOfEntry(PlanOp plan, int64_t entry);

} // namespace nnterp
