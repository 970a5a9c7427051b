// Moves loops whose only reader is the epilogue of a later kernel, element by element, into it: the sum over a token's
// experts, for example, to which the shared expert's product is added.
#include "passes/Passes.h"

#include "dialect/Device/Device.h"
#include "passes/lower/gpu/Elementwise.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_INLINELOOPS
#include "passes/Passes.h.inc"

namespace {

class Inlining {
public:
  explicit Inlining(linalg::GenericOp loops) : loops(loops) {}

  void run() {
    if (!makesFreshValues(loops) || loops.getNumDpsInits() != 1 || !findReader())
      return;
    for (tensor::ExtractOp read : reads) {
      OpBuilder b(read);
      read.replaceAllUsesWith(cloneElement(b, loops, read.getIndices()).front());
      read.erase();
    }
    loops.erase();
  }

private:
  /// Whether one kernel reads all of it, each element where it computes the one of the same index.
  bool findReader() {
    auto rank = size_t(loops.getNumLoops());
    for (Operation *user : loops->getUsers()) {
      auto read = dyn_cast<tensor::ExtractOp>(user);
      auto kernel = read ? read->getParentOfType<device::KernelOp>() : device::KernelOp();
      if (!kernel || kernel->getBlock() != loops->getBlock() || (reader && kernel != reader) ||
          !kernel.getEpilogue().isAncestor(read->getParentRegion()) || kernel.getOuts().empty())
        return false;
      reader = kernel;
      ValueRange own = ValueRange(kernel.getEpilogue().getArguments()).take_front(rank);
      if (!llvm::equal(read.getIndices(), own) ||
          !haveSameExtents(loops.getDpsInitOperand(0)->get(), kernel.getOuts()[0]))
        return false;
      reads.push_back(read);
    }
    return reader != nullptr;
  }

  linalg::GenericOp loops;
  device::KernelOp reader;
  SmallVector<tensor::ExtractOp> reads;
};

struct InlineLoopsPass : impl::InlineLoopsBase<InlineLoopsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> all;
    getOperation().walk([&](linalg::GenericOp loops) { all.push_back(loops); });
    for (linalg::GenericOp loops : all)
      Inlining(loops).run();
  }
};

} // namespace
} // namespace nnterp
