// Turns copies of memory into linalg ops, which become loops: memref.copy of parts would call a library.
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_COPYTOLOOPS
#include "passes/Passes.h.inc"

namespace {
struct CopyToLoopsPass : impl::CopyToLoopsBase<CopyToLoopsPass> {
  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp copy) {
      OpBuilder b(copy);
      linalg::makeMemRefCopyOp(b, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    });
  }
};
} // namespace
} // namespace nnterp
