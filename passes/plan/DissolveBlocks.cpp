// Inlines hybrid.block: from here on a block's index stands on its ops.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_DISSOLVEBLOCKS
#include "passes/Passes.h.inc"

namespace {
struct DissolveBlocksPass : impl::DissolveBlocksBase<DissolveBlocksPass> {
  void runOnOperation() override {
    SmallVector<hybrid::BlockOp> blocks;
    getOperation().walk([&](hybrid::BlockOp op) { blocks.push_back(op); });
    // What stands before the first block and behind the last one counts as a block of its own.
    if (!blocks.empty()) {
      int64_t index = -1;
      for (Operation &op : blocks.front()->getBlock()->without_terminator()) {
        if (&op == blocks.back())
          index = int64_t(blocks.back().getIndex()) + 1;
        setBlockIndex(&op, index);
      }
    }
    for (hybrid::BlockOp block : blocks) {
      Block &body = block.getBody().front();
      Operation *yield = body.getTerminator();
      bool second = false;
      for (Operation &op : body.without_terminator()) {
        setBlockIndex(&op, int64_t(block.getIndex()));
        if (second)
          setChannelMixer(&op);
        auto point = dyn_cast<PointOp>(op);
        second |= point && point.getAt().ends_with(".layer_mid");
      }
      block->replaceAllUsesWith(yield->getOperands());
      yield->erase();
      block->getBlock()->getOperations().splice(block->getIterator(), body.getOperations());
      block->erase();
    }
  }
};
} // namespace
} // namespace nnterp
