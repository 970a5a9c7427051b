// Liveness across calls.
#include "passes/Liveness.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/Producers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace nnterp {

SmallVector<Block *, 3> modelBodies(ModuleOp module) {
  SmallVector<Block *, 3> bodies;
  for (StringRef name : {"images", "main", "step"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      bodies.push_back(&function.getBody().front());
  return bodies;
}

llvm::DenseSet<Operation *> neededOps(ModuleOp module) {
  llvm::DenseSet<Operation *> needed;
  llvm::StringMap<SmallVector<Operation *>> remembering, keeping; // by part of memory, by buffer
  SmallVector<Operation *> work;
  for (Block *body : modelBodies(module)) {
    for (auto op : body->getOps<hybrid::RememberOp>()) {
      remembering[op.getPart()].push_back(op);
      if (op.getSaved())
        work.push_back(op);
    }
    for (auto op : body->getOps<TapOp>()) {
      if (op.getKept())
        keeping[op.getKey()].push_back(op);
      else
        work.push_back(op);
    }
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!needed.insert(op).second)
      continue;
    llvm::append_range(work, producersOf(op, *op->getBlock()));
    if (auto memory = dyn_cast<hybrid::MemoryOp>(op))
      llvm::append_range(work, remembering[memory.getPart()]);
    if (auto buffer = dyn_cast<BufferOp>(op); buffer && buffer.getKept())
      llvm::append_range(work, keeping[buffer.getBuffer()]);
  }
  return needed;
}

} // namespace nnterp
