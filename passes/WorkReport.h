// What a program does per call, read off the graph: for `nnterp explain`.
#pragma once

#include "runtime/codegen/ProgramReport.h"

#include "mlir/IR/BuiltinOps.h"

namespace nnterp {

/// Arithmetic, weights read and sharing between worlds, of a module in stage `simplified`.
void reportWork(mlir::ModuleOp module, ProgramReport &report);

/// Kernels per call, of a module in stage `kernels`.
void reportKernels(mlir::ModuleOp module, ProgramReport &report);

} // namespace nnterp
