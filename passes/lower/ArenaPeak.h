// How much memory for intermediate values an entry of a bufferized program holds at once.
#pragma once

#include "runtime/abi/Polynomial.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace nnterp {

/// The bytes held at the moments that may be the peak, as functions of the extents of slots: the peak of a run is the
/// largest of their values. Read off the allocations and deallocations in the order in which the entry meets them.
std::vector<Polynomial> arenaPeaks(mlir::ModuleOp module, llvm::StringRef entry);

} // namespace nnterp
