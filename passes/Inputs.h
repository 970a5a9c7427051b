// Which of a function's inputs a value of the graph belongs to.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nnterp {

/// The name of an argument of `@main` or `@step`: `ids`, `clean/lengths`, `ids@gen`.
llvm::StringRef inputName(mlir::BlockArgument argument);

/// The ids of the world that a value belongs to: [B,S]. Every value of a world depends on its input's ids or lengths; an edit's
/// source of another world comes after the value that is edited, so the first operand leads to the value's own world.
mlir::BlockArgument idsOf(mlir::Value v);

} // namespace nnterp
