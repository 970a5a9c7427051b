// Follows values of the graph to the function's arguments.
#include "passes/Inputs.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"

using namespace mlir;

namespace nnterp {

StringRef inputName(BlockArgument argument) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "nnterp.input").getValue();
}

BlockArgument idsOf(Value v) {
  while (!isa<BlockArgument>(v)) {
    Operation *def = v.getDefiningOp();
    auto next = llvm::find_if(def->getOperands(), [](Value operand) {
      return !isa_and_nonnull<hybrid::WeightOp, BufferOp, hybrid::MemoryOp>(operand.getDefiningOp());
    });
    if (next == def->operand_end()) // memory alone: of whichever world, its first input has the rows
      return def->getParentOfType<func::FuncOp>().getArgument(0);
    v = *next;
  }
  auto argument = cast<BlockArgument>(v);
  StringRef name = inputName(argument), world = name.take_front(name.rfind('/') + 1);
  for (BlockArgument other : argument.getOwner()->getArguments()) {
    StringRef candidate = inputName(other);
    if (candidate.consume_front(world) && (candidate == "ids" || candidate == "ids@gen"))
      return other;
  }
  return argument;
}

} // namespace nnterp
