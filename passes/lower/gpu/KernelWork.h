// What a kernel costs, as a function of its launch.
#pragma once

#include "runtime/abi/Manifest.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <vector>

namespace nnterp {

/// As functions of a launch, whose extents are named as in KernelSpec.
struct KernelWork {
  Polynomial flops; ///< additions, multiplications and divisions; a fused multiply-add is two, exp is one
  std::vector<KernelSpec::Memory> memory;
};

/// Counts from above: both sides of a branch, and of loops whose length is data as many rounds as the memory that they walk over is long.
KernelWork workOf(mlir::gpu::GPUFuncOp kernel);

} // namespace nnterp
