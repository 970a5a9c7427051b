// Math ops that a GPU has instructions for become LLVM's intrinsics.
#include "passes/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_DEVICEMATH
#include "passes/Passes.h.inc"

namespace {

/// The intrinsic of an op, as LLVM spells it without types; empty for ops that are no instruction.
StringRef intrinsicOf(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case([](math::SqrtOp) { return "llvm.sqrt"; })
      .Case([](math::AbsFOp) { return "llvm.fabs"; })
      .Case([](math::FmaOp) { return "llvm.fma"; })
      .Case([](math::FloorOp) { return "llvm.floor"; })
      .Case([](math::CeilOp) { return "llvm.ceil"; })
      .Case([](math::TruncOp) { return "llvm.trunc"; })
      .Case([](math::RoundEvenOp) { return "llvm.roundeven"; })
      .Case([](math::CopySignOp) { return "llvm.copysign"; })
      .Default([](Operation *) { return ""; });
}

struct DeviceMathPass : impl::DeviceMathBase<DeviceMathPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      StringRef intrinsic = intrinsicOf(op);
      if (intrinsic.empty())
        return;
      // As calls by name: the conversion to NVVM refuses LLVM's own ops for these, since it would make them calls of a
      // library.
      OpBuilder b(op);
      auto call = LLVM::CallIntrinsicOp::create(b, op->getLoc(), op->getResultTypes(), b.getStringAttr(intrinsic),
                                                op->getOperands(), LLVM::FastmathFlagsAttr());
      op->replaceAllUsesWith(call);
      op->erase();
    });
  }
};

} // namespace
} // namespace nnterp
