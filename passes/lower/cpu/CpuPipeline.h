// The CPU pipelines from tensors to the LLVM dialect.
#pragma once

namespace mlir {
class OpPassManager;
}

namespace nnterp {

/// From linalg, scf and arith on tensors to loops on memory: bufferization, deallocation, loops.
///
/// Functions are in destination style: what they return is what they were given for it. The entry is `nnterp_main`.
/// `parallelLoops`: what has no order becomes parallel loops, from which kernels are made.
void populateBufferizedPipeline(mlir::OpPassManager &pm, bool parallelLoops = false);

/// From loops on memory to the LLVM dialect alone. Leaves no call of a library, but allocation and services of the
/// host.
void populateLlvmPipeline(mlir::OpPassManager &pm);

} // namespace nnterp
