// nnterp-opt: mlir-opt for this project.
#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "tools/nnterp-opt/AttachPlan.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  nnterp::registerForPipelines(registry);
  mlir::registerAllPasses();
  nnterp::registerNnterpPasses();
  nnterp::registerPipelines();
  nnterp::registerAttachPlan();
  std::vector<std::string> args = nnterp::expandPlanFlag(argc, argv);
  std::vector<char *> pointers;
  for (std::string &arg : args)
    pointers.push_back(arg.data());
  return mlir::asMainReturnCode(mlir::MlirOptMain(int(pointers.size()), pointers.data(),
                                                  "nnterp-opt: graphs, plans and passes of nnterp\n", registry));
}
