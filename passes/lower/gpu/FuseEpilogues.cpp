// Moves elementwise readers of a value into the kernel that computes it: edits, taps of whole values, activations,
// residual sums.
//
// A reader that looks at each element of the value at its own index alone gets it from the register in which it was
// computed. Rounding stays what it was: it sees the element as it would have been stored.
#include "passes/Passes.h"

#include "dialect/Device/Device.h"
#include "passes/lower/gpu/Elementwise.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "passes/Passes.h.inc"

namespace {

/// A kernel or loop nest whose elements others may read from registers.
class Producer {
public:
  static std::optional<Producer> of(Value v) {
    Operation *op = v.getDefiningOp();
    if (auto kernel = dyn_cast_or_null<device::KernelOp>(op)) {
      if (kernel.getScattered() == 0 && cast<OpResult>(v).getResultNumber() < kernel.getOuts().size())
        return Producer{op};
    } else if (auto loops = dyn_cast_or_null<linalg::GenericOp>(op)) {
      if (isElementwise(loops))
        return Producer{op};
    }
    return std::nullopt;
  }

  Block &body() const { return op->getRegion(0).front(); }
  unsigned outs() const {
    auto kernel = dyn_cast<device::KernelOp>(op);
    return kernel ? unsigned(kernel.getOuts().size()) : op->getNumResults();
  }
  Value out(unsigned i) const { return cast<DestinationStyleOpInterface>(op).getDpsInitOperand(i)->get(); }

  Operation *op;
};

class Fusion {
public:
  Fusion(Producer producer, linalg::GenericOp reader) : producer(producer), reader(reader) {}

  bool run() {
    if (producer.op->getBlock() != reader->getBlock() || !readsOwnElementsOnly() || !sameDomain() ||
        !destinationsApart())
      return false;
    Operation *place = reader;
    if (!nothingReadsBetween()) {
      if (!readerMayMoveUp())
        return false;
      place = producer.op;
    }
    merge(place);
    return true;
  }

private:
  Producer producer;
  linalg::GenericOp reader;

  int64_t rank() { return int64_t(reader.getNumLoops()); }
  Block &readerBody() { return reader.getRegion().front(); }
  bool isOurs(Value v) const { return v.getDefiningOp() == producer.op; }

  /// Every use of the producer's results by the reader is one element at the reader's own index.
  bool readsOwnElementsOnly() {
    bool some = isOurs(reader.getDpsInitOperand(0)->get());
    WalkResult walked = readerBody().walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (!isOurs(operand))
          continue;
        auto extract = dyn_cast<tensor::ExtractOp>(inner);
        if (!extract || int64_t(extract.getIndices().size()) != rank())
          return WalkResult::interrupt();
        for (auto [axis, index] : llvm::enumerate(extract.getIndices()))
          if (auto own = index.getDefiningOp<linalg::IndexOp>(); !own || own.getDim() != axis)
            return WalkResult::interrupt();
        some = true;
      }
      return WalkResult::advance();
    });
    return some && !walked.wasInterrupted();
  }

  bool sameDomain() { return haveSameExtents(reader.getDpsInitOperand(0)->get(), producer.out(0)); }

  /// The reader writes to fresh memory or in place of the producer's result, and the producer to fresh memory: nothing
  /// that either reads elsewhere can be overwritten.
  bool destinationsApart() {
    Value own = reader.getDpsInitOperand(0)->get();
    if (!isOurs(own) && !own.getDefiningOp<tensor::EmptyOp>())
      return false;
    for (unsigned i = 0; i < producer.outs(); ++i)
      if (!producer.out(i).getDefiningOp<tensor::EmptyOp>())
        return false;
    return true;
  }

  bool nothingReadsBetween() {
    return llvm::none_of(producer.op->getUsers(), [&](Operation *user) {
      Operation *ancestor = reader->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && ancestor != reader && ancestor->isBeforeInBlock(reader);
    });
  }

  bool readerMayMoveUp() {
    auto known = [&](Value v) {
      if (isOurs(v))
        return true;
      Operation *def = v.getDefiningOp();
      if (!def)
        return true;
      if (auto empty = dyn_cast<tensor::EmptyOp>(def))
        return llvm::all_of(empty.getDynamicSizes(), [&](Value size) { return standsBefore(size.getDefiningOp()); });
      return standsBefore(def) || reader->isProperAncestor(def);
    };
    bool all = llvm::all_of(reader->getOperands(), known);
    readerBody().walk([&](Operation *inner) { all = all && llvm::all_of(inner->getOperands(), known); });
    return all;
  }
  bool standsBefore(Operation *def) {
    Operation *ancestor = def ? reader->getBlock()->findAncestorOpInBlock(*def) : nullptr;
    return !ancestor || ancestor->isBeforeInBlock(producer.op);
  }

  void merge(Operation *place) {
    OpBuilder b(place);
    SmallVector<unsigned> kept; // results of the producer that others read as well
    for (unsigned i = 0; i < producer.outs(); ++i)
      if (llvm::any_of(producer.op->getResult(i).getUsers(),
                       [&](Operation *user) { return !reader->isAncestor(user); }))
        kept.push_back(i);
    SmallVector<Value> outs;
    SmallVector<Type> types;
    for (unsigned i : kept) {
      outs.push_back(producer.out(i));
      types.push_back(outs.back().getType());
    }
    Value own = reader.getDpsInitOperand(0)->get();
    Value model = isOurs(own) ? producer.out(cast<OpResult>(own).getResultNumber()) : own;
    outs.push_back(b.clone(*model.getDefiningOp())->getResult(0));
    types.push_back(outs.back().getType());

    Operation *merged = isa<device::KernelOp>(producer.op) ? emptyKernel(b, types, outs) : emptyLoops(b, types, outs);
    fill(merged, kept);
    if (auto kernel = dyn_cast<device::KernelOp>(producer.op))
      cast<device::KernelOp>(merged).getStateEdit().takeBody(kernel.getStateEdit());

    for (auto [fresh, i] : llvm::enumerate(kept))
      producer.op->getResult(i).replaceAllUsesExcept(merged->getResult(unsigned(fresh)), reader);
    reader.getResult(0).replaceAllUsesWith(merged->getResult(unsigned(kept.size())));
    if (auto kernel = dyn_cast<device::KernelOp>(producer.op))
      for (unsigned i = 0; i < kernel.getStates().size(); ++i)
        kernel.getResult(producer.outs() + i).replaceAllUsesWith(merged->getResult(unsigned(kept.size()) + 1 + i));
    reader.erase();
    producer.op->erase();
  }

  Operation *emptyKernel(OpBuilder &b, SmallVector<Type> types, ValueRange outs) {
    auto kernel = cast<device::KernelOp>(producer.op);
    llvm::append_range(types, kernel.getStates().getTypes());
    return device::KernelOp::create(b, kernel.getLoc(), types, kernel.getKind(), kernel.getConfig(), kernel.getInputs(),
                                    outs, kernel.getStates());
  }
  Operation *emptyLoops(OpBuilder &b, TypeRange types, ValueRange outs) {
    SmallVector<AffineMap> maps(outs.size(), b.getMultiDimIdentityMap(unsigned(rank())));
    SmallVector<utils::IteratorType> parallel(size_t(rank()), utils::IteratorType::parallel);
    return linalg::GenericOp::create(b, producer.op->getLoc(), types, ValueRange(), outs, maps, parallel);
  }

  /// The body: the producer's, then the reader's on its elements.
  void fill(Operation *merged, ArrayRef<unsigned> kept) {
    Block &from = producer.body();
    OpBuilder b(merged->getContext());
    SmallVector<Type> arguments;
    if (isa<device::KernelOp>(merged))
      llvm::append_range(arguments, from.getArgumentTypes());
    else
      for (Type type : merged->getResultTypes())
        arguments.push_back(cast<RankedTensorType>(type).getElementType());
    Block *body =
        b.createBlock(&merged->getRegion(0), {}, arguments, SmallVector<Location>(arguments.size(), merged->getLoc()));
    IRMapping map;
    if (isa<device::KernelOp>(merged))
      map.map(from.getArguments(), body->getArguments()); // a loop nest's own are memory that nothing has written
    for (Operation &inner : from.without_terminator())
      b.clone(inner, map);
    SmallVector<Value> elements;
    for (Value element : from.getTerminator()->getOperands().take_front(producer.outs()))
      elements.push_back(map.lookupOrDefault(element));
    auto elementOf = [&](Value result) { return elements[cast<OpResult>(result).getResultNumber()]; };

    Value own = reader.getDpsInitOperand(0)->get();
    if (isOurs(own))
      map.map(readerBody().getArgument(0), elementOf(own));
    Value last = cloneReader(b, map, elementOf, isa<device::KernelOp>(merged) ? body->getArguments() : ValueRange());
    SmallVector<Value> yielded;
    for (unsigned i : kept)
      yielded.push_back(elements[i]);
    yielded.push_back(last);
    if (isa<device::KernelOp>(merged))
      device::YieldOp::create(b, merged->getLoc(), yielded);
    else
      linalg::YieldOp::create(b, merged->getLoc(), yielded);
  }

  /// Copies the reader's body; `indices` are those of an epilogue, empty where the copy stands in a loop nest.
  Value cloneReader(OpBuilder &b, IRMapping &map, function_ref<Value(Value)> elementOf, ValueRange indices) {
    auto known = [&](Operation *op) -> Value {
      if (auto index = dyn_cast<linalg::IndexOp>(op); index && !indices.empty())
        return indices[index.getDim()];
      if (auto extract = dyn_cast<tensor::ExtractOp>(op); extract && isOurs(extract.getTensor()))
        return elementOf(extract.getTensor());
      return Value();
    };
    for (Operation &inner : readerBody().without_terminator()) {
      if (Value value = known(&inner)) {
        map.map(inner.getResult(0), value);
        continue;
      }
      SmallVector<std::pair<Operation *, Value>> replaced;
      b.clone(inner, map)->walk([&](Operation *nested) {
        if (Value value = known(nested))
          replaced.push_back({nested, value});
      });
      for (auto [nested, value] : replaced) {
        nested->replaceAllUsesWith(ValueRange(value));
        nested->erase();
      }
    }
    return map.lookupOrDefault(readerBody().getTerminator()->getOperand(0));
  }
};

struct FuseEpiloguesPass : impl::FuseEpiloguesBase<FuseEpiloguesPass> {
  void runOnOperation() override {
    resolveExtents(getOperation());
    getOperation().walk([&](Block *block) {
      SmallVector<linalg::GenericOp> readers(block->getOps<linalg::GenericOp>());
      for (linalg::GenericOp reader : readers)
        if (isElementwise(reader) && reader.getNumDpsInits() == 1)
          fuse(reader);
    });
  }

  static void fuse(linalg::GenericOp reader) {
    SmallVector<Value> read(reader->getOperands());
    reader.getRegion().walk([&](tensor::ExtractOp extract) { read.push_back(extract.getTensor()); });
    for (Value v : read)
      if (std::optional<Producer> producer = Producer::of(v))
        if (Fusion(*producer, reader).run())
          return; // what came of it may be fused as the producer of others
  }
};

} // namespace
} // namespace nnterp
