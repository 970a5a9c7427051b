// What a kernel costs, as a function of its launch.
#pragma once

#include "runtime/abi/Polynomial.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <vector>

namespace nnterp {

/// One piece of memory that a kernel is given.
struct MemoryWork {
  Polynomial whole;   ///< bytes of all of it
  Polynomial touched; ///< bytes of all accesses, repeated ones counted again: no more than the smaller of the two comes from memory
};

/// Extents are those of a launch: `p0`, `p1`, … are the values of the kernel's parameters, `threads` how many threads are started.
struct KernelWork {
  Polynomial flops; ///< additions, multiplications, divisions, comparisons do not count; a fused multiply-add is two, exp is one
  std::vector<MemoryWork> memory;
};

/// Counts from above: both sides of a branch, and of loops whose length is data as many rounds as the memory that they walk over is long.
KernelWork workOf(mlir::gpu::GPUFuncOp kernel);

} // namespace nnterp
