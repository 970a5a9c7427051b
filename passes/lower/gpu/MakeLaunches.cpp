// Turns what computes on memory into kernels: a host function keeps calls, allocations, loops over tokens, and
// launches.
//
// A parallel loop is a kernel with a thread per element. Loops of the host that start launches stay on the host: their
// bounds are extents, which it knows. What is left is sequential and becomes a kernel of one thread.
#include "passes/Passes.h"

#include "dialect/Nnterp/Nnterp.h"
#include "passes/lower/gpu/DeviceKernel.h"
#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "runtime/abi/Frame.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_MAKELAUNCHES
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t threadsPerBlock = 128;

/// Whether an op contains what only the host can do.
bool needsHost(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<func::CallOp, memref::AllocOp, memref::DeallocOp, scf::ParallelOp, device::KernelOp, ProgressOp>(
                   inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

bool writesMemory(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<memref::StoreOp, FailOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

struct MakeLaunchesPass : impl::MakeLaunchesBase<MakeLaunchesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(), UnitAttr::get(&getContext()));
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (!function.isExternal())
        visit(function.getBody().front());
  }

private:
  /// The ops of a block that the host goes through.
  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto parallel = dyn_cast<scf::ParallelOp>(op))
        perElement(parallel);
      else if (auto kernel = dyn_cast<device::KernelOp>(op))
        build(kernel);
      else if (isa<scf::ForOp, scf::IfOp>(op) && needsHost(&op))
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            visit(inner);
      else if (isa<scf::ForOp, scf::IfOp, memref::StoreOp>(op) && writesMemory(&op))
        oneThread(&op);
    }
  }

  /// A thread per index of a parallel loop.
  void perElement(scf::ParallelOp loop) {
    DeviceKernel kernel(loop, kernelKind(loop), threadsPerBlock);
    kernel.perElement(loop.getUpperBound(), [&](ValueRange at) {
      kernel.inside.map(loop.getInductionVars(), at);
      copyBody(kernel, loop.getBody()->without_terminator());
    });
    loop.erase();
  }

  static void build(device::KernelOp op) {
    using namespace device;
    bool known = false;
    for (auto area : {buildAttention, buildDelta, buildMemory, buildMixture, buildNorms, buildProducts})
      known = known || area(op);
    if (known)
      op.erase();
    else
      op.emitOpError("has no builder named '") << op.getKind() << "'";
  }

  void oneThread(Operation *op) {
    DeviceKernel kernel(op, kernelKind(op), 1);
    copyBody(kernel, llvm::make_range(op->getIterator(), std::next(op->getIterator())));
    OpBuilder host(op);
    kernel.launch(arith::ConstantIndexOp::create(host, op->getLoc(), 1));
    op->erase();
  }

  template <typename Range> void copyBody(DeviceKernel &kernel, Range ops) {
    for (Operation &op : ops) {
      // Where a kernel leaves failures: memory that the executor looks at when the call is done.
      op.walk([&](FailOp fail) {
        if (kernel.inside.contains(fail.getFrame()))
          return;
        OpBuilder host(kernel.anchorOp());
        auto pointer = LLVM::LLVMPointerType::get(&getContext());
        Value place = LLVM::GEPOp::create(host, fail.getLoc(), pointer, host.getI8Type(), fail.getFrame(),
                                          ArrayRef<LLVM::GEPArg>(offsetof(abi::Frame, failures)));
        kernel.inside.map(fail.getFrame(), kernel.import(LLVM::LoadOp::create(host, fail.getLoc(), pointer, place)));
      });
      kernel.clone(&op)->walk([](FailOp fail) {
        ImplicitLocOpBuilder b(fail.getLoc(), fail);
        Value place = LLVM::GEPOp::create(b, fail.getFrame().getType(), b.getI64Type(), fail.getFrame(),
                                          ArrayRef<LLVM::GEPArg>(int32_t(fail.getEntry())));
        LLVM::StoreOp::create(b, LLVM::ConstantOp::create(b, b.getI64Type(), int64_t(fail.getReason())), place);
        fail.erase();
      });
    }
  }
};

} // namespace
} // namespace nnterp
