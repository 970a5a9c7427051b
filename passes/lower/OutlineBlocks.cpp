// Outlines each block of the model into a function; equal blocks share one.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/lower/SlotTable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_OUTLINEBLOCKS
#include "passes/Passes.h.inc"

namespace {

/// Values that a function fetches from the descriptor table itself.
bool isParameter(Value v) {
  return isa<BlockArgument>(v) || isa_and_nonnull<hybrid::WeightOp, BufferOp>(v.getDefiningOp());
}

/// Constants, and parts of values whose extents only a run knows, are made where they are used: what crosses a function
/// boundary has the model's own extents.
bool isReadInPlace(Operation *op) {
  return op &&
         (isa<GatherOp, MeanOp, tensor::ExtractSliceOp, tensor::DimOp>(op) || op->hasTrait<OpTrait::ConstantLike>());
}

/// One outlined function and the slots of each of its call sites.
struct Outlined {
  func::FuncOp function;
  SmallVector<SmallVector<int64_t>> sites;
};

class BlockOutliner {
public:
  explicit BlockOutliner(func::FuncOp main)
      : b(main.getContext()), main(main), module(main->getParentOfType<ModuleOp>()) {}

  void run() {
    Block &body = main.getBody().front();
    Operation *end = body.getTerminator();
    for (auto [i, value] : llvm::enumerate(end->getOperands()))
      outputs[value].push_back(main.getResultAttrOfType<StringAttr>(unsigned(i), "nnterp.key"));
    for (Operation &op : body.without_terminator())
      if (!isa<hybrid::WeightOp, BufferOp>(op))
        segments[segmentOf(&op)].push_back(&op);
    SmallVector<int64_t> order;
    for (auto &[index, ops] : segments)
      order.push_back(index);
    llvm::sort(order);

    b.setInsertionPointToEnd(module.getBody());
    entry = func::FuncOp::create(b, main.getLoc(), "nnterp_main",
                                 b.getFunctionType({LLVM::LLVMPointerType::get(b.getContext())}, {}));
    frame = entry.addEntryBlock()->getArgument(0);
    b.setInsertionPointToStart(&entry.getBody().front());
    Value site = arith::ConstantOp::create(b, main.getLoc(), b.getI64IntegerAttr(0));
    auto ids = cast<RankedTensorType>(main.getArgument(0).getType());
    int64_t idsSlot = slots.add("input", "ids", ids);
    Value memref =
        SlotOp::create(b, main.getLoc(), MemRefType::get(ids.getShape(), ids.getElementType()), frame, site, 0);
    entry->setAttr("nnterp.sites", sitesAttr({{idsSlot}}));
    batch = memref::DimOp::create(b, main.getLoc(), memref, 0);
    sequence = memref::DimOp::create(b, main.getLoc(), memref, 1);
    for (auto [done, index] : llvm::enumerate(order)) {
      outline(index, segments[index]);
      ProgressOp::create(b, main.getLoc(), frame, int64_t(done) + 1, int64_t(order.size()));
    }
    func::ReturnOp::create(b, main.getLoc());
    for (Outlined &outlined : functions)
      outlined.function->setAttr("nnterp.sites", sitesAttr(outlined.sites));
    int64_t blocks = llvm::count_if(order, [&](int64_t index) { return isBlock(index); });
    slots.write(module);
    module->setAttr("nnterp.blocks", b.getI64IntegerAttr(blocks));
    main.erase();
  }

private:
  OpBuilder b;
  func::FuncOp main, entry;
  ModuleOp module;
  Value frame, batch, sequence;
  SlotTable slots;
  llvm::MapVector<int64_t, SmallVector<Operation *>> segments;
  llvm::DenseMap<Operation *, int64_t> segmentIndex;
  llvm::DenseMap<Value, SmallVector<StringAttr>> outputs; ///< output keys of values
  llvm::DenseMap<Value, Value> passed; ///< values that crossed a function boundary, in the entry function
  SmallVector<Outlined> functions;

  DenseIntElementsAttr sitesAttr(ArrayRef<SmallVector<int64_t>> sites) {
    SmallVector<int64_t> flat;
    for (ArrayRef<int64_t> site : sites)
      flat.append(site.begin(), site.end());
    int64_t params = sites.empty() ? 0 : int64_t(sites.front().size());
    return DenseIntElementsAttr::get(RankedTensorType::get({int64_t(sites.size()), params}, b.getI64Type()), flat);
  }

  /// The op's mark, or the last block among the producers of what it reads: a pattern may have lost the mark, and an
  /// edit may read a value of a later block where nothing of that block depends on the edit.
  int64_t segmentOf(Operation *op) {
    int64_t index = blockIndex(op).value_or(-1);
    op->walk([&](Operation *nested) {
      for (Value v : nested->getOperands())
        if (auto producer = segmentIndex.find(v.getDefiningOp()); producer != segmentIndex.end())
          index = std::max(index, producer->second);
    });
    segmentIndex[op] = index;
    return index;
  }

  /// Whether another segment reads the value, be it through an op of this one that is read in place.
  bool isReadElsewhere(Value value, const llvm::DenseSet<Operation *> &own) {
    Block &body = main.getBody().front();
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      Operation *reader = body.findAncestorOpInBlock(*user);
      if (!own.contains(reader))
        return reader != body.getTerminator();
      return isReadInPlace(reader) &&
             llvm::any_of(reader->getResults(), [&](Value v) { return isReadElsewhere(v, own); });
    });
  }

  /// Values a set of ops uses from outside, in order of first use, ops that are read in place included in the set.
  struct Uses {
    llvm::SetVector<Operation *> readInPlace;
    llvm::SetVector<Value> parameters, arguments;
  };
  void collect(Operation *op, const llvm::DenseSet<Operation *> &own, Uses &uses) {
    op->walk([&](Operation *nested) {
      for (Value v : nested->getOperands()) {
        Operation *def = v.getDefiningOp();
        if (isa<BlockArgument>(v) && cast<BlockArgument>(v).getOwner() != &main.getBody().front())
          continue; // of a nested region
        if (isParameter(v)) {
          uses.parameters.insert(v);
        } else if (Operation *ancestor = main.getBody().front().findAncestorOpInBlock(*def); !own.contains(ancestor)) {
          if (isReadInPlace(def)) {
            if (!uses.readInPlace.contains(def)) {
              collect(def, own, uses);
              uses.readInPlace.insert(def);
            }
          } else {
            uses.arguments.insert(v);
          }
        }
      }
    });
  }

  void outline(int64_t index, ArrayRef<Operation *> ops) {
    llvm::DenseSet<Operation *> own(ops.begin(), ops.end());
    Uses uses;
    for (Operation *op : ops)
      collect(op, own, uses);
    // Results: values other segments read. Stores: values the run writes out.
    SmallVector<Value> results;
    SmallVector<std::pair<Value, StringAttr>> stores;
    for (Operation *op : ops)
      for (Value v : op->getResults()) {
        if (!isReadInPlace(op) && isReadElsewhere(v, own))
          results.push_back(v);
        for (StringAttr key : outputs.lookup(v))
          stores.push_back({v, key});
      }

    SmallVector<Type> argTypes{LLVM::LLVMPointerType::get(b.getContext()), b.getI64Type()}, resultTypes;
    for (Value v : uses.arguments)
      argTypes.push_back(v.getType());
    for (Value v : results) {
      argTypes.push_back(v.getType());
      resultTypes.push_back(v.getType());
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(entry);
    std::string name = index < 0 ? "before" : isBlock(index) ? "block" + std::to_string(index) : "behind";
    auto function = func::FuncOp::create(b, main.getLoc(), name, b.getFunctionType(argTypes, resultTypes));
    function.setPrivate();
    SmallVector<int64_t> site = fill(function, ops, own, uses, results, stores);

    Outlined *shared = nullptr;
    for (Outlined &other : functions)
      if (same(other.function, function))
        shared = &other;
    if (shared) {
      function.erase();
    } else {
      shared = &functions.emplace_back();
      shared->function = function;
    }
    shared->sites.push_back(site);
    b.setInsertionPointToEnd(&entry.getBody().front());
    call(*shared, uses.arguments.getArrayRef(), results);
  }

  /// Whether a segment is a block of the model, not what stands before the first or behind the last one.
  bool isBlock(int64_t index) {
    return index >= 0 && (segments.count(index + 1) || llvm::any_of(segments[index], [](Operation *op) {
                            return isa<hybrid::DeltaRuleOp, hybrid::AttentionMixOp, hybrid::ExpertsOp>(op);
                          }));
  }

  static bool same(func::FuncOp x, func::FuncOp y) {
    return x.getFunctionType() == y.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(
               &x.getBody(), &y.getBody(), OperationEquivalence::Flags(OperationEquivalence::IgnoreLocations));
  }

  /// Writes the function's body; returns the slots of its parameters at this site.
  SmallVector<int64_t> fill(func::FuncOp function, ArrayRef<Operation *> ops, const llvm::DenseSet<Operation *> &own,
                            Uses &uses, ArrayRef<Value> results, ArrayRef<std::pair<Value, StringAttr>> stores) {
    OpBuilder::InsertionGuard guard(b);
    Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    Location loc = function.getLoc();
    SmallVector<int64_t> site;
    IRMapping map;
    auto slot = [&](RankedTensorType type, int64_t number) -> Value {
      site.push_back(number);
      return SlotOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()), body->getArgument(0),
                            body->getArgument(1), int64_t(site.size()) - 1);
    };
    for (Value v : uses.parameters) {
      auto type = cast<RankedTensorType>(v.getType());
      Value memref = slot(type, slots.add(v, main));
      map.map(v, bufferization::ToTensorOp::create(b, loc, type, memref, /*restrict=*/true, /*writable=*/false));
    }
    for (auto [i, v] : llvm::enumerate(uses.arguments)) {
      function.setArgAttr(unsigned(i) + 2, "bufferization.writable", b.getBoolAttr(false));
      map.map(v, body->getArgument(unsigned(i) + 2));
    }
    auto clone = [&](Operation *op) {
      Operation *copy = b.clone(*op, map);
      copy->walk([](Operation *nested) {
        nested->removeDiscardableAttr(blockIndexAttr);
        // The plan's entry is only for messages: equal edits of different entries share their code.
        if (isa<EditOp, DropOp, RerouteOp, RaiseOp, ForceOp>(nested))
          nested->setAttr("entry", IntegerAttr::get(IntegerType::get(nested->getContext(), 64), 0));
      });
    };
    for (Operation *op : uses.readInPlace)
      clone(op);
    for (Operation *op : ops) {
      bool elsewhere = isReadInPlace(op) && !usedHere(op, own);
      if (!elsewhere)
        clone(op);
    }
    for (auto [value, key] : stores) {
      Value memref =
          slot(cast<RankedTensorType>(value.getType()), slots.add("output", key.getValue(), value.getType()));
      auto store = bufferization::MaterializeInDestinationOp::create(b, loc, Type(), map.lookup(value), memref);
      store.setRestrict(true);
      store.setWritable(true);
    }
    SmallVector<Value> returned;
    unsigned firstDest = 2 + unsigned(uses.arguments.size());
    for (auto [i, v] : llvm::enumerate(results))
      returned.push_back(bufferization::MaterializeInDestinationOp::create(b, loc, v.getType(), map.lookup(v),
                                                                           body->getArgument(firstDest + unsigned(i)))
                             ->getResult(0));
    func::ReturnOp::create(b, loc, returned);
    return site;
  }

  /// Whether an op that is read in place serves its own segment or an output.
  bool usedHere(Operation *op, const llvm::DenseSet<Operation *> &own) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *ancestor = main.getBody().front().findAncestorOpInBlock(*user);
      return own.contains(ancestor) || ancestor == main.getBody().front().getTerminator();
    });
  }

  /// Calls a function at the end of the entry, with fresh memory for its results. Dynamic extents are the batch on axis
  /// 0, else the sequence.
  void call(Outlined &outlined, ArrayRef<Value> arguments, ArrayRef<Value> results) {
    Location loc = main.getLoc();
    SmallVector<Value> operands{
        frame, arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(int64_t(outlined.sites.size()) - 1))};
    for (Value v : arguments)
      operands.push_back(passed.lookup(v));
    for (Value v : results) {
      auto type = cast<RankedTensorType>(v.getType());
      SmallVector<Value> dims;
      for (int64_t axis = 0; axis < type.getRank(); ++axis)
        if (type.isDynamicDim(axis))
          dims.push_back(axis == 0 ? batch : sequence);
      operands.push_back(tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType(), dims));
    }
    auto op = func::CallOp::create(b, loc, outlined.function, operands);
    for (auto [v, result] : llvm::zip(results, op.getResults()))
      passed[v] = result;
  }
};

struct OutlineBlocksPass : impl::OutlineBlocksBase<OutlineBlocksPass> {
  void runOnOperation() override {
    if (auto main = getOperation().lookupSymbol<func::FuncOp>("main"))
      BlockOutliner(main).run();
  }
};

} // namespace
} // namespace nnterp
