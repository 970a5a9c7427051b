// Computes once what two worlds have in common.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/Liveness.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_SHAREWORLDS
#include "passes/Passes.h.inc"

namespace {
struct ShareWorldsPass : impl::ShareWorldsBase<ShareWorldsPass> {
  void runOnOperation() override {
    // Marks would tell equal ops apart, so they are taken off while ops are merged. Merging makes no op.
    llvm::DenseMap<Operation *, Attribute> worlds;
    for (Block *body : modelBodies(getOperation()))
      for (Operation &op : *body)
        if (Attribute world = op.removeDiscardableAttr(worldIndexAttr))
          worlds[&op] = world;
    // Function after function: what one leaves to the next is known to be equal once it is merged.
    for (Block *body : modelBodies(getOperation())) {
      IRRewriter rewriter(&getContext());
      DominanceInfo dominance(body->getParentOp());
      eliminateCommonSubExpressions(rewriter, dominance, body->getParentOp());
      mergeLeft(cast<func::FuncOp>(body->getParentOp()));
    }
    for (Block *body : modelBodies(getOperation()))
      for (Operation &op : *body)
        if (Attribute world = worlds.lookup(&op))
          op.setDiscardableAttr(worldIndexAttr, world);
  }

  /// Worlds whose images are encoded alike read the features from one place.
  void mergeLeft(func::FuncOp function) {
    if (function.getName() != "images")
      return;
    Operation *end = function.getBody().front().getTerminator();
    llvm::DenseMap<Value, StringAttr> first;
    llvm::StringMap<StringAttr> renamed;
    llvm::BitVector repeated(end->getNumOperands());
    for (auto [i, value] : llvm::enumerate(end->getOperands())) {
      auto key = function.getResultAttrOfType<StringAttr>(unsigned(i), "nnterp.key");
      if (!function.getResultAttr(unsigned(i), "nnterp.kind"))
        continue;
      auto [known, isNew] = first.try_emplace(value, key);
      if (!isNew) {
        renamed[key] = known->second;
        repeated.set(unsigned(i));
      }
    }
    if (repeated.none() || failed(function.eraseResults(repeated)))
      return;
    end->eraseOperands(repeated);
    getOperation().walk([&](Operation *op) {
      if (auto memory = dyn_cast<hybrid::MemoryOp>(op)) {
        if (StringAttr to = renamed.lookup(memory.getPart()))
          memory.setPartAttr(to);
      } else if (auto buffer = dyn_cast<BufferOp>(op); buffer && buffer.getKept()) {
        if (StringAttr to = renamed.lookup(buffer.getBuffer()))
          buffer.setBufferAttr(to);
      }
    });
  }
};
} // namespace
} // namespace nnterp
