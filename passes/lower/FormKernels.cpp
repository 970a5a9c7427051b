// Groups each op of the model with its edits and taps into a hybrid.kernel.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/Passes.h.inc"

namespace {

bool isModelOp(Operation &op) {
  return isa<hybrid::HybridDialect>(op.getDialect()) && !isa<hybrid::KernelOp, hybrid::YieldOp>(op);
}
bool isPlanOp(Operation &op) {
  return (isa<NnterpDialect>(op.getDialect()) && !isa<SlotOp>(op)) || isa<tensor::ExtractSliceOp, tensor::DimOp>(op);
}

struct FormKernelsPass : impl::FormKernelsBase<FormKernelsPass> {
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      SmallVector<SmallVector<Operation *>> groups;
      for (Operation &op : block) {
        if (isModelOp(op))
          groups.push_back({&op});
        else if (isPlanOp(op) && !isa<ProgressOp>(op))
          (groups.empty() ? groups.emplace_back() : groups.back()).push_back(&op);
      }
      for (ArrayRef<Operation *> group : groups)
        wrap(group);
    }
  }

  void wrap(ArrayRef<Operation *> group) {
    llvm::SetVector<Value> inputs;
    SmallVector<Value> results;
    llvm::DenseSet<Operation *> own(group.begin(), group.end());
    Block *block = group.front()->getBlock();
    auto outside = [&](Operation *op) { return !own.contains(block->findAncestorOpInBlock(*op)); };
    for (Operation *op : group) {
      op->walk([&](Operation *nested) {
        for (Value v : nested->getOperands())
          if (v.getDefiningOp() ? outside(v.getDefiningOp()) : cast<BlockArgument>(v).getOwner() == block)
            inputs.insert(v);
      });
      for (Value v : op->getResults())
        if (llvm::any_of(v.getUsers(), outside))
          results.push_back(v);
    }
    OpBuilder b(group.back());
    b.setInsertionPointAfter(group.back());
    auto kernel = hybrid::KernelOp::create(b, group.front()->getLoc(), ValueRange(results).getTypes(),
                                           group.front()->getName().getStringRef(), inputs.getArrayRef());
    Block *body = b.createBlock(&kernel.getBody(), {}, ValueRange(inputs.getArrayRef()).getTypes(),
                                SmallVector<Location>(inputs.size(), kernel.getLoc()));
    IRMapping map;
    map.map(inputs.getArrayRef(), body->getArguments());
    for (Operation *op : group)
      b.clone(*op, map);
    SmallVector<Value> yielded;
    for (Value v : results)
      yielded.push_back(map.lookup(v));
    hybrid::YieldOp::create(b, kernel.getLoc(), yielded);
    for (auto [v, result] : llvm::zip(results, kernel.getResults()))
      v.replaceAllUsesWith(result);
    for (Operation *op : llvm::reverse(group))
      op->erase();
  }
};

} // namespace
} // namespace nnterp
