// nnterp-lsp-server: MLIR's language server with this project's dialects.
#include "passes/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  nnterp::registerForPipelines(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
