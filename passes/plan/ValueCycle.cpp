// Names the values on a cycle that edits have closed.
#include "passes/plan/ValueCycle.h"

#include "passes/Producers.h"

using namespace mlir;

namespace nnterp {

int64_t entryOf(Operation *op) {
  if (!isa<EditOp, ProjectOutOp, DropOp, RerouteOp, RaiseOp, ForceOp>(op))
    return -1;
  return op->getAttrOfType<IntegerAttr>("entry").getInt();
}

PlanEditOp editOfEntry(PlanOp plan, int64_t entry) {
  for (PlanEditOp edit : plan.getBody().getOps<PlanEditOp>())
    if (int64_t(edit.getEntry()) == entry)
      return edit;
  return {};
}

namespace {

/// Depth-first search for a cycle among the ops of one block; nested ops count for their parent.
class CycleFinder {
public:
  explicit CycleFinder(Block *block) : block(block) {}

  /// The ops on a cycle, each reading from the next one, or nothing.
  SmallVector<Operation *> find() {
    for (Operation &op : *block)
      if (visit(&op))
        return SmallVector<Operation *>(cycle.begin(), cycle.end());
    return {};
  }

private:
  Block *block;
  llvm::DenseMap<Operation *, int> state; // 1: on the path, 2: done
  SmallVector<Operation *> path, cycle;

  bool visit(Operation *root) {
    // Iterative: chains of a deep model are long.
    struct Level {
      Operation *op;
      SmallVector<Operation *> inputs;
      size_t next = 0;
    };
    if (state.lookup(root))
      return false;
    SmallVector<Level> stack{{root, inputs(root)}};
    state[root] = 1;
    while (!stack.empty()) {
      Level &level = stack.back();
      if (level.next == level.inputs.size()) {
        state[level.op] = 2;
        stack.pop_back();
        continue;
      }
      Operation *input = level.inputs[level.next++];
      int seen = state.lookup(input);
      if (seen == 1) {
        auto start = llvm::find_if(stack, [&](const Level &l) { return l.op == input; });
        for (auto it = start; it != stack.end(); ++it)
          cycle.push_back(it->op);
        return true;
      }
      if (seen == 0) {
        state[input] = 1;
        stack.push_back({input, inputs(input)});
      }
    }
    return false;
  }

  SmallVector<Operation *> inputs(Operation *op) { return producersOf(op, *block).takeVector(); }
};

} // namespace

LogicalResult reportCycle(func::FuncOp function, PlanOp plan) {
  SmallVector<Operation *> cycle = CycleFinder(&function.getBody().front()).find();
  Operation *closing = nullptr;
  SmallVector<StringRef> names;
  for (Operation *op : llvm::reverse(cycle)) { // forward order: each feeds the next
    op->walk([&](Operation *nested) {
      if (!closing && entryOf(nested) >= 0)
        closing = nested;
    });
    if (auto point = dyn_cast<PointOp>(op))
      names.push_back(point.getAt());
  }
  PlanEditOp edit = closing ? editOfEntry(plan, entryOf(closing)) : PlanEditOp();
  auto error = (edit ? edit.emitError() : function.emitError())
               << "NNT0805: the edit's source depends on what it edits";
  if (edit)
    error << " ('" << edit.getAt() << "')";
  if (!names.empty()) {
    std::string chain;
    for (StringRef name : names)
      chain += name.str() + " -> ";
    error.attachNote() << "values on the cycle: " << chain << names.front();
  }
  return failure();
}

} // namespace nnterp
