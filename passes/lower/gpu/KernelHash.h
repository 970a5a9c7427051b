// The hash that the name of a kernel carries.
#pragma once

#include "mlir/IR/Operation.h"

namespace nnterp {

/// A hash of an op with all that is in it: ops, what they use, types and attributes, but not the places where they come from. It is the
/// same in every process.
uint64_t hashOf(mlir::Operation *op);

} // namespace nnterp
