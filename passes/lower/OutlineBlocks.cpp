// Outlines each block of the model into a function; equal blocks share one, whatever their world or entry.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/Liveness.h"
#include "passes/lower/EntryFrame.h"
#include "passes/lower/Pieces.h"
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

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_OUTLINEBLOCKS
#include "passes/Passes.h.inc"

namespace {

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

/// What the entries of a program have in common.
struct Outlining {
  SlotTable slots;
  SmallVector<Outlined> functions;
  llvm::StringSet<> names;
};

/// A value that a function leaves outside, and where.
struct Store {
  Value value;
  StringRef kind, key;
};

class EntryOutliner {
public:
  EntryOutliner(func::FuncOp main, StringRef symbol, Outlining &shared)
      : b(main.getContext()), main(main), body(main.getBody().front()), shared(shared),
        frame(b, main, symbol, shared.slots) {
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      auto kind = main.getResultAttrOfType<StringAttr>(unsigned(i), "nnterp.kind");
      stores[value].push_back({value, kind ? kind.getValue() : "output",
                               main.getResultAttrOfType<StringAttr>(unsigned(i), "nnterp.key").getValue()});
    }
  }

  /// Returns the number of blocks of the model that the entry computes.
  int64_t run() {
    const std::string stem = main.getName() == "images" ? "images_" : "";
    SmallVector<Piece> pieces = cutIntoPieces(body);
    int64_t last = -1;
    for (const Piece &piece : pieces)
      last = std::max(last, piece.block);
    llvm::SmallSet<int64_t, 8> blocks;
    for (auto [done, piece] : llvm::enumerate(pieces)) {
      bool block = piece.block >= 0 && (piece.block < last || hasMixer(piece));
      if (block)
        blocks.insert(piece.block);
      outline(piece, stem + (piece.block < 0 ? "before"
                             : !block        ? "behind"
                                      : "block" + std::to_string(piece.block) + (piece.channelMixer ? "_mlp" : "")));
      frame.progress(int64_t(done) + 1, int64_t(pieces.size()));
    }
    frame.finish();
    main.erase();
    return int64_t(blocks.size());
  }

private:
  OpBuilder b;
  func::FuncOp main;
  Block &body;
  Outlining &shared;
  EntryFrame frame;
  llvm::DenseMap<Value, SmallVector<Store>> stores;
  llvm::DenseMap<Value, Value> passed; ///< values that crossed a function boundary, in the entry function

  /// Told from what stands behind the last block by what only blocks have.
  static bool hasMixer(const Piece &piece) {
    return llvm::any_of(
        piece.ops,
        llvm::IsaPred<hybrid::DeltaRuleOp, hybrid::AttentionMixOp, hybrid::ExpertsOp, hybrid::SegmentAttentionOp>);
  }

  using Ops = llvm::DenseSet<Operation *>;

  /// Values that a piece fetches from the descriptor table itself. A part of memory is fetched where all its readers
  /// are, as it may be written there in place.
  bool isParameter(Value v, const Ops &own) {
    if (isa<BlockArgument>(v) || isa<hybrid::WeightOp, BufferOp>(v.getDefiningOp()))
      return true;
    return isa<hybrid::MemoryOp>(v.getDefiningOp()) && own.contains(v.getDefiningOp()) && !isReadElsewhere(v, own);
  }

  /// Whether another piece reads the value, be it through an op of this one that is read in place.
  bool isReadElsewhere(Value value, const Ops &own) {
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
  void collect(Operation *op, const Ops &own, Uses &uses) {
    op->walk([&](Operation *nested) {
      for (Value v : nested->getOperands()) {
        Operation *def = v.getDefiningOp();
        if (isa<BlockArgument>(v) && cast<BlockArgument>(v).getOwner() != &body)
          continue; // of a nested region
        if (isParameter(v, own)) {
          uses.parameters.insert(v);
        } else if (Operation *ancestor = body.findAncestorOpInBlock(*def); !own.contains(ancestor)) {
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

  void outline(const Piece &piece, const std::string &name) {
    Ops own(piece.ops.begin(), piece.ops.end());
    Uses uses;
    for (Operation *op : piece.ops)
      collect(op, own, uses);
    // Results: values other pieces read. Stores: values the run writes out or remembers.
    SmallVector<Value> results;
    SmallVector<Store> left;
    for (Operation *op : piece.ops)
      for (Value v : op->getResults()) {
        if (!isReadInPlace(op) && isReadElsewhere(v, own))
          results.push_back(v);
        llvm::append_range(left, stores.lookup(v));
      }

    SmallVector<Type> argTypes{LLVM::LLVMPointerType::get(b.getContext()), b.getI64Type()}, resultTypes;
    for (Value v : uses.arguments)
      argTypes.push_back(v.getType());
    for (Value v : results) {
      argTypes.push_back(v.getType());
      resultTypes.push_back(v.getType());
    }
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(frame.function());
    auto function = func::FuncOp::create(b, main.getLoc(), name, b.getFunctionType(argTypes, resultTypes));
    function.setPrivate();
    SmallVector<int64_t> site = fill(function, piece.ops, own, uses, results, left);

    auto known = llvm::find_if(shared.functions, [&](Outlined &other) { return same(other.function, function); });
    if (known != shared.functions.end()) {
      function.erase();
    } else {
      function.setName(uniqueName(name));
      shared.functions.push_back({function, {}});
      known = std::prev(shared.functions.end());
    }
    known->sites.push_back(site);
    call(*known, uses.arguments.getArrayRef(), results);
  }

  std::string uniqueName(const std::string &name) {
    std::string unique = name;
    for (int64_t next = 1; !shared.names.insert(unique).second; ++next)
      unique = name + "_" + std::to_string(next);
    return unique;
  }

  static bool same(func::FuncOp x, func::FuncOp y) {
    return x.getFunctionType() == y.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(
               &x.getBody(), &y.getBody(), OperationEquivalence::Flags(OperationEquivalence::IgnoreLocations));
  }

  /// Writes the function's body; returns the slots of its parameters at this site.
  SmallVector<int64_t> fill(func::FuncOp function, ArrayRef<Operation *> ops, const Ops &own, Uses &uses,
                            ArrayRef<Value> results, ArrayRef<Store> left) {
    OpBuilder::InsertionGuard guard(b);
    Block *entry = function.addEntryBlock();
    b.setInsertionPointToStart(entry);
    Location loc = function.getLoc();
    SmallVector<int64_t> site;
    llvm::DenseMap<int64_t, Value>
        states; ///< memory of the parameters that are parts of the sequence's memory, by slot
    IRMapping map;
    auto slot = [&](RankedTensorType type, int64_t number) -> Value {
      site.push_back(number);
      return SlotOp::create(b, loc, MemRefType::get(type.getShape(), type.getElementType()), entry->getArgument(0),
                            entry->getArgument(1), int64_t(site.size()) - 1);
    };
    auto fetch = [&](Value v, bool writable) {
      auto type = cast<RankedTensorType>(v.getType());
      int64_t number = shared.slots.add(v, main);
      Value memref = slot(type, number);
      if (writable)
        states[number] = memref;
      map.map(v, bufferization::ToTensorOp::create(b, loc, type, memref, /*restrict=*/true, writable));
    };
    for (Value v : uses.parameters)
      fetch(v, /*writable=*/isa_and_nonnull<hybrid::MemoryOp>(v.getDefiningOp()));
    for (auto [i, v] : llvm::enumerate(uses.arguments)) {
      function.setArgAttr(unsigned(i) + 2, "bufferization.writable", b.getBoolAttr(false));
      map.map(v, entry->getArgument(unsigned(i) + 2));
    }
    auto clone = [&](Operation *op) {
      Operation *copy = b.clone(*op, map);
      copy->walk([](Operation *nested) {
        dropMarks(nested);
        // The plan's entry is only for messages: equal edits of different entries share their code.
        if (isa<EditOp, DropOp, RerouteOp, RaiseOp, ForceOp>(nested))
          nested->setAttr("entry", IntegerAttr::get(IntegerType::get(nested->getContext(), 64), 0));
      });
    };
    for (Operation *op : uses.readInPlace)
      clone(op);
    for (Operation *op : ops) {
      if (isa<hybrid::MemoryOp>(op)) {
        if (!map.contains(op->getResult(0)))
          fetch(op->getResult(0), /*writable=*/false);
      } else if (!isReadInPlace(op) || usedHere(op, own)) {
        clone(op);
      }
    }
    // What is left outside must not be the memory that others go on reading, but a cache, which lies there already.
    SmallVector<Value> stored;
    for (const Store &store : left) {
      Value value = map.lookup(store.value);
      bool isCache = isa_and_nonnull<hybrid::KvAppendOp, hybrid::KvStoreOp>(store.value.getDefiningOp());
      if (!isCache && !store.value.hasOneUse())
        value = GatherOp::create(b, loc, value, ArrayRef<int64_t>(), ValueRange());
      stored.push_back(value);
    }
    // Results before stores: a part of memory may be a result as it was, and be written as it becomes.
    SmallVector<Value> returned;
    unsigned firstDest = 2 + unsigned(uses.arguments.size());
    for (auto [i, v] : llvm::enumerate(results))
      returned.push_back(bufferization::MaterializeInDestinationOp::create(b, loc, v.getType(), map.lookup(v),
                                                                           entry->getArgument(firstDest + unsigned(i)))
                             ->getResult(0));
    for (auto [store, value] : llvm::zip(left, stored)) {
      int64_t number = shared.slots.add(store.kind, store.key, store.value.getType());
      Value memref = states.lookup(number);
      if (!memref)
        memref = slot(cast<RankedTensorType>(store.value.getType()), number);
      auto op = bufferization::MaterializeInDestinationOp::create(b, loc, Type(), value, memref);
      op.setRestrict(true);
      op.setWritable(true);
    }
    func::ReturnOp::create(b, loc, returned);
    return site;
  }

  /// Whether an op that is read in place serves its own piece or is left outside.
  bool usedHere(Operation *op, const Ops &own) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      Operation *ancestor = body.findAncestorOpInBlock(*user);
      return own.contains(ancestor) || ancestor == body.getTerminator();
    });
  }

  /// Calls a function at the end of the entry, with fresh memory for its results.
  void call(Outlined &outlined, ArrayRef<Value> arguments, ArrayRef<Value> results) {
    SmallVector<Value> operands = frame.site(int64_t(outlined.sites.size()) - 1);
    for (Value v : arguments)
      operands.push_back(passed.lookup(v));
    for (Value v : results)
      operands.push_back(frame.memoryFor(v));
    for (auto [v, result] : llvm::zip(results, frame.call(outlined.function, operands)))
      passed[v] = result;
  }
};

struct OutlineBlocksPass : impl::OutlineBlocksBase<OutlineBlocksPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (modelBodies(module).empty())
      return;
    Outlining shared;
    int64_t blocks = 0;
    for (auto [name, symbol] :
         {std::pair{"images", "nnterp_images"}, std::pair{"main", "nnterp_main"}, std::pair{"step", "nnterp_step"}})
      if (auto function = module.lookupSymbol<func::FuncOp>(name)) {
        bool text = function.getName() != "images";
        int64_t computed = EntryOutliner(function, symbol, shared).run();
        blocks = std::max(blocks, text ? computed : 0);
      }
    Builder b(&getContext());
    for (Outlined &outlined : shared.functions)
      outlined.function->setAttr("nnterp.sites", sitesAttr(b, outlined.sites));
    shared.slots.write(module);
    module->setAttr("nnterp.blocks", b.getI64IntegerAttr(blocks));
  }
};

} // namespace
} // namespace nnterp
