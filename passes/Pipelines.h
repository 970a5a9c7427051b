// The pipeline of each stage (design.md 5), shared by all tools and tests.
#pragma once

namespace mlir {
class OpPassManager;
class DialectRegistry;
} // namespace mlir

namespace nnterp {

/// What a program's kernels run on. The host code is the CPU's in both cases.
enum class Target { cpu, gpu };

// Each function adds what leads from the stage before to its own, and the check of its contract.
void populatePlanPipeline(mlir::OpPassManager &pm);
void populateCheckedPipeline(mlir::OpPassManager &pm);
void populateSimplifiedPipeline(mlir::OpPassManager &pm);
void populateKernelsPipeline(mlir::OpPassManager &pm, Target target);
void populateBufferizedStagePipeline(mlir::OpPassManager &pm, Target target);
void populateLaunchesStagePipeline(mlir::OpPassManager &pm); ///< GPU only
void populateLlvmStagePipeline(mlir::OpPassManager &pm, Target target);

/// Registers every dialect, interface and translation that the pipelines need.
void registerForPipelines(mlir::DialectRegistry &registry);

/// Registers the pipelines as `nnterp-to-plan`, `nnterp-to-checked`, …: each from an imported graph to its stage; those for a GPU as
/// `nnterp-gpu-to-kernels`, ….
void registerPipelines();

} // namespace nnterp
