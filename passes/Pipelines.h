// The pipeline of each stage (design.md 5), shared by all tools and tests.
#pragma once

namespace mlir {
class OpPassManager;
class DialectRegistry;
} // namespace mlir

namespace nnterp {

// Each function adds what leads from the stage before to its own, and the check of its contract.
void populatePlanPipeline(mlir::OpPassManager &pm);
void populateCheckedPipeline(mlir::OpPassManager &pm);
void populateSimplifiedPipeline(mlir::OpPassManager &pm);
void populateKernelsPipeline(mlir::OpPassManager &pm);
void populateBufferizedStagePipeline(mlir::OpPassManager &pm);
void populateLlvmStagePipeline(mlir::OpPassManager &pm);

/// Registers every dialect, interface and translation that the pipelines need.
void registerForPipelines(mlir::DialectRegistry &registry);

/// Registers the pipelines as `nnterp-to-plan`, `nnterp-to-checked`, …: each from an imported graph to its stage.
void registerPipelines();

} // namespace nnterp
