// Makes one copy of a function's graph per world of its plan.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_MAKEWORLDS
#include "passes/Passes.h.inc"

namespace {

struct MakeWorldsPass : impl::MakeWorldsBase<MakeWorldsPass> {
  void runOnOperation() override {
    for (PlanOp plan : getOperation().getOps<PlanOp>()) {
      auto worlds = llvm::to_vector(plan.getBody().getOps<PlanWorldOp>());
      auto function = getOperation().lookupSymbol<func::FuncOp>(plan.getOf());
      if (!worlds.empty() && function)
        copy(function, worlds);
    }
  }

  static void copy(func::FuncOp function, ArrayRef<PlanWorldOp> worlds) {
    Block &body = function.getBody().front();
    OpBuilder b(function.getContext());
    auto original = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
    unsigned inputs = body.getNumArguments();
    llvm::MapVector<StringRef, SmallVector<Value>> arguments; // by input
    SmallVector<Attribute> names;
    for (PlanWorldOp world : worlds) {
      SmallVector<Value> &own = arguments[world.getInput()];
      if (!own.empty())
        continue;
      for (unsigned i = 0; i < inputs; ++i) {
        own.push_back(body.addArgument(body.getArgument(i).getType(), function.getLoc()));
        StringRef name = function.getArgAttrOfType<StringAttr>(i, "nnterp.input").getValue();
        names.push_back(b.getStringAttr(world.getInput() + "/" + name));
      }
    }
    b.setInsertionPoint(body.getTerminator());
    for (auto [index, op] : llvm::enumerate(worlds)) {
      PlanWorldOp world = op;
      IRMapping map;
      map.map(body.getArguments().take_front(inputs), arguments[world.getInput()]);
      for (Operation *op : original) {
        Operation *made = b.clone(*op, map);
        setWorldIndex(made, int64_t(index));
        rename(made, world.getWorld());
      }
    }
    for (Operation *op : llvm::reverse(original))
      op->erase();
    body.eraseArguments(0, inputs);
    function.removeArgAttrsAttr(); // of arguments that are gone
    function.setFunctionType(FunctionType::get(function.getContext(), body.getArgumentTypes(), {}));
    for (auto [i, name] : llvm::enumerate(names))
      function.setArgAttr(unsigned(i), "nnterp.input", name);
  }

  /// What has a name of the model gets the world's.
  static void rename(Operation *op, StringRef world) {
    auto inWorld = [&](StringRef name) { return (world + "/" + name).str(); };
    if (auto point = dyn_cast<PointOp>(op))
      point.setAt(inWorld(point.getAt()));
    else if (auto memory = dyn_cast<hybrid::MemoryOp>(op))
      memory.setPart(inWorld(memory.getPart()));
    else if (auto remember = dyn_cast<hybrid::RememberOp>(op))
      remember.setPart(inWorld(remember.getPart()));
  }
};

} // namespace
} // namespace nnterp
