// Chooses the plain lowering for every kernel: inlines its body, whose ops are then lowered one by one.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_OPENKERNELS
#include "passes/Passes.h.inc"

namespace {
struct OpenKernelsPass : impl::OpenKernelsBase<OpenKernelsPass> {
  void runOnOperation() override {
    getOperation().walk([](hybrid::KernelOp kernel) {
      Block &body = kernel.getBody().front();
      for (auto [arg, input] : llvm::zip(body.getArguments(), kernel.getInputs()))
        arg.replaceAllUsesWith(input);
      Operation *yield = body.getTerminator();
      kernel->replaceAllUsesWith(yield->getOperands());
      yield->erase();
      kernel->getBlock()->getOperations().splice(kernel->getIterator(), body.getOperations());
      kernel->erase();
    });
  }
};
} // namespace
} // namespace nnterp
