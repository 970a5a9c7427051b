// The GPU pipelines, from loops on memory to kernels in the LLVM and NVVM dialects.
#pragma once

namespace mlir {
class OpPassManager;
}

namespace nnterp {

/// From parallel loops on memory to kernels and their launches.
void populateLaunchPipeline(mlir::OpPassManager &pm);

/// The bodies of kernels to the LLVM and NVVM dialects, without a call of any library.
void populateDevicePipeline(mlir::OpPassManager &pm);

} // namespace nnterp
