// Makes every reader of a cache read it whole.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_WHOLECACHES
#include "passes/Passes.h.inc"

namespace {
struct WholeCachesPass : impl::WholeCachesBase<WholeCachesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto view = dyn_cast<hybrid::KvViewOp>(op)) {
        view.replaceAllUsesWith(view.getCache());
        view.erase();
      } else if (auto store = dyn_cast<hybrid::KvStoreOp>(op)) { // a whole cache, edited, takes the old one's place
        store.replaceAllUsesWith(store.getView());
        store.erase();
      }
    });
  }
};
} // namespace
} // namespace nnterp
