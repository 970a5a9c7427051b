// Edits of a state's entries: some entries of a thread go through an edit side by side.
//
// What depends on no entry is made once, and a branch on it is one branch for all of them, in which their loads do not
// wait for each other.
#include "passes/lower/gpu/kernels/Delta.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

namespace {

class EntriesEdit {
public:
  EntriesEdit(DeviceKernel &kernel, size_t count) : kernel(kernel), b(kernel.b), count(count) {}

  /// Says what a value of the region is for each entry.
  void set(Value v, ArrayRef<Value> values) {
    if (llvm::all_equal(values))
      kernel.inside.map(v, values.front());
    else
      own[v].assign(values.begin(), values.end());
  }

  SmallVector<Value> get(Value v) {
    auto known = own.find(v);
    return known == own.end() ? SmallVector<Value>(count, kernel.import(v)) : known->second;
  }

  void copy(Block &block) {
    for (Operation &op : block.without_terminator()) {
      auto branch = dyn_cast<scf::IfOp>(op);
      if (!varies(&op))
        kernel.clone(&op);
      else if (branch && !own.contains(branch.getCondition()))
        copyBranch(branch);
      else
        copyPerEntry(&op);
    }
  }

private:
  /// Whether an op, or one inside it, uses what entries do not have in common.
  bool varies(Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          return llvm::any_of(inner->getOperands(), [&](Value v) { return own.contains(v); }) ? WalkResult::interrupt()
                                                                                              : WalkResult::advance();
        })
        .wasInterrupted();
  }

  void copyPerEntry(Operation *op) {
    SmallVector<SmallVector<Value>> results(op->getNumResults());
    for (size_t i = 0; i < count; ++i) {
      for (auto &[v, values] : own)
        kernel.inside.map(v, values[i]);
      for (auto [result, copy] : llvm::zip(results, kernel.clone(op)->getResults()))
        result.push_back(copy);
    }
    for (auto [result, values] : llvm::zip(op->getResults(), results))
      set(result, values);
  }

  void copyBranch(scf::IfOp branch) {
    auto side = [&](Block *block) {
      return [this, block](OpBuilder &, Location) {
        copy(*block);
        SmallVector<Value> yielded;
        for (Value v : block->getTerminator()->getOperands())
          llvm::append_range(yielded, get(v));
        scf::YieldOp::create(b, yielded);
      };
    };
    auto both =
        scf::IfOp::create(b, kernel.import(branch.getCondition()), side(branch.thenBlock()), side(branch.elseBlock()));
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      set(result, llvm::to_vector_of<Value>(both.getResults().slice(i * count, count)));
  }

  DeviceKernel &kernel;
  PlainBuilder &b;
  size_t count;
  llvm::DenseMap<Value, SmallVector<Value>> own; ///< values of the region that differ between entries
};

} // namespace

Value isEdited(DeviceKernel &kernel, Region &edit, ValueRange at) {
  Block &body = edit.front();
  Value some = body.getTerminator()->getOperand(1);
  kernel.inside.map(body.getArguments().take_front(at.size()), at);
  llvm::DenseSet<Value> needed{some};
  SmallVector<Operation *> makers;
  for (Operation &op : llvm::reverse(body))
    if (llvm::any_of(op.getResults(), [&](Value v) { return needed.contains(v); })) {
      makers.push_back(&op);
      op.walk([&](Operation *inner) { needed.insert(inner->operand_begin(), inner->operand_end()); });
    }
  for (Operation *op : llvm::reverse(makers))
    kernel.clone(op);
  return kernel.import(some);
}

SmallVector<Value> editEntries(DeviceKernel &kernel, Region &edit, ArrayRef<SmallVector<Value>> places,
                               ValueRange entries) {
  EntriesEdit copies(kernel, entries.size());
  Block &body = edit.front();
  for (BlockArgument index : body.getArguments().drop_back())
    copies.set(index, llvm::map_to_vector(places, [&](ArrayRef<Value> place) { return place[index.getArgNumber()]; }));
  copies.set(body.getArguments().back(), llvm::to_vector(entries));
  copies.copy(body);
  return copies.get(body.getTerminator()->getOperand(0));
}

} // namespace nnterp::device
