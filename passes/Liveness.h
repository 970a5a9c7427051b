// What the calls of a run need: decided over all functions of the graph, which hand memory and kept values to each other.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/DenseSet.h"

namespace nnterp {

/// The functions that hold the model's graph: `@images` where inputs have images, `@main`, and `@step` with generated tokens.
llvm::SmallVector<mlir::Block *, 3> modelBodies(mlir::ModuleOp module);

/// The ops that something the run writes depends on: taps, memory that is saved, and memory or kept values that an op
/// which is itself needed reads in some later call. Nested ops stand with the op of the function's body.
llvm::DenseSet<mlir::Operation *> neededOps(mlir::ModuleOp module);

} // namespace nnterp
