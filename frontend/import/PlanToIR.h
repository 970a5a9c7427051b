// Writes a resolved plan as an nnterp.plan op.
#pragma once

#include "frontend/plan/Resolved.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace nnterp {

/// Appends the plan to the module as `nnterp.plan`, one for each function of the graph: an op per world, buffer,
/// edit, tap and kept value, located in the user's file.
void addPlan(mlir::ModuleOp module, const ResolvedPlan &plan);

} // namespace nnterp
