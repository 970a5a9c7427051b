// Moves reads of a value's regions, which taps with a selection are, into the kernel that computes the value.
//
// An element of the value is an entry of the region where the tables hold its index: the epilogue looks for it there. A
// table with many entries would make every element pay for all of them: then the kernel writes nothing of the region,
// and another one gathers it.
#include "passes/Passes.h"

#include "dialect/Device/Device.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/lower/cpu/LowerPlainOps.h"
#include "passes/lower/gpu/DeviceKernel.h"
#include "passes/lower/gpu/Elementwise.h"
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_FUSEGATHERS
#include "passes/Passes.h.inc"

namespace {

using plain::PlainBuilder;

/// A loop nest as a kernel whose epilogue computes the elements; null where it does not compute each on its own in
/// fresh memory.
device::KernelOp asKernel(linalg::GenericOp loops) {
  if (!makesFreshValues(loops))
    return nullptr;
  OpBuilder b(loops);
  auto kind = NameLoc::get(b.getStringAttr(kernelKind(loops)), loops.getLoc());
  auto kernel = device::KernelOp::create(b, kind, loops.getResultTypes(), "elements", b.getDictionaryAttr({}),
                                         ValueRange(), loops.getDpsInits(), ValueRange());
  SmallVector<Type> indices(loops.getNumLoops(), b.getIndexType());
  Block *body = b.createBlock(&kernel.getEpilogue(), {}, indices, SmallVector<Location>(indices.size(), kind));
  device::YieldOp::create(b, kind, cloneElement(b, loops, body->getArguments()));
  loops.replaceAllUsesWith(kernel.getResults());
  loops.erase();
  return kernel;
}

/// One region, written by the kernel of its value.
class Scatter {
public:
  Scatter(device::KernelOp kernel, GatherOp gather)
      : kernel(kernel), gather(gather), b(gather.getLoc(), kernel),
        number(cast<OpResult>(gather.getValue()).getResultNumber()) {}

  void fuse() {
    device::KernelOp wider = withOneMoreOut();
    Block &body = wider.getEpilogue().front();
    b.setInsertionPoint(body.getTerminator());
    element = body.getTerminator()->getOperand(number);
    at = ValueRange(body.getArguments()).take_front(size_t(plain::rankOf(gather.getValue())));
    scattered = wider.getScattered() - 1;
    Value entries = b.index(0);
    for (Value table : gather.getTables())
      entries = b.add(entries, entriesOf(table));
    few = b.less(entries, b.index(device::scatteredEntries + 1));
    search(0, SmallVector<Value>(at), b.boolean(true));

    b.setInsertionPointAfter(wider);
    SmallVector<Value> inputs{wider.getResult(number)};
    llvm::append_range(inputs, gather.getTables());
    auto axes = b.getNamedAttr("table_axes", gather.getTableAxesAttr());
    Value region = wider.getResult(unsigned(wider.getOuts().size() - 1));
    // Right behind it: later ops may overwrite the value.
    auto many = device::KernelOp::create(b, region.getType(), "gather", b.getDictionaryAttr(axes), inputs, ValueRange(),
                                         region);
    gather.getResult().replaceAllUsesWith(many.getResult(0));
    gather.erase();
  }

private:
  Value entriesOf(Value table) { return b.dim(table, plain::rankOf(table) - 1); }

  device::KernelOp withOneMoreOut() {
    auto type = plain::typeOf(gather.getResult());
    SmallVector<Value> sizes, outs(kernel.getOuts());
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(unsigned(axis)))
        continue;
      const auto *place = llvm::find(gather.getTableAxes(), axis);
      bool whole = place == gather.getTableAxes().end();
      sizes.push_back(whole ? b.dim(kernel.getOuts()[number], axis)
                            : entriesOf(gather.getTables()[size_t(place - gather.getTableAxes().begin())]));
    }
    outs.push_back(tensor::EmptyOp::create(b, type, sizes));
    SmallVector<Type> types(ValueRange(outs).getTypes());
    llvm::append_range(types, kernel.getStates().getTypes());
    auto wider = device::KernelOp::create(b, kernel.getLoc(), types, kernel.getKind(), kernel.getConfig(),
                                          kernel.getInputs(), outs, kernel.getStates(), kernel.getScattered() + 1);
    wider.getEpilogue().takeBody(kernel.getEpilogue());
    wider.getStateEdit().takeBody(kernel.getStateEdit());
    size_t before = kernel.getOuts().size();
    for (auto [i, result] : llvm::enumerate(kernel.getResults()))
      result.replaceAllUsesWith(wider.getResult(unsigned(i < before ? i : i + 1)));
    kernel.erase();
    return wider;
  }

  /// Goes through the entries of table `k` and the following ones: `entry` is the region's, as far as it is known. An
  /// entry that no element of the value has is zero, and written where its index would be 0.
  void search(size_t k, SmallVector<Value> entry, Value exists) {
    if (k == gather.getTables().size()) {
      Value value = b.select(exists, element, b.zero(element.getType()));
      device::ScatterOp::create(b, value, scattered, entry);
      return;
    }
    Value table = gather.getTables()[k], own = at[size_t(gather.getTableAxes()[k])];
    b.loop(b.select(few, entriesOf(table), b.index(0)), {}, [&](Value i, ValueRange) -> SmallVector<Value> {
      SmallVector<Value> next(entry);
      next[size_t(gather.getTableAxes()[k])] = i;
      Value place = plain::rankOf(table) == 2 ? b.extract(table, {next[0], i}) : b.extract(table, i);
      Value known = b.atLeast(place, b.i64(0));
      Value here = b.equal(b.toIndex(b.select(known, place, b.i64(0))), own);
      scf::IfOp::create(b, here, [&](OpBuilder &, Location) {
        search(k + 1, next, b.both(exists, known));
        scf::YieldOp::create(b);
      });
      return {};
    });
  }

  device::KernelOp kernel;
  GatherOp gather;
  PlainBuilder b;
  unsigned number; ///< of the value among the kernel's outs
  Value element, few;
  ValueRange at;
  uint64_t scattered = 0; ///< number of the region among the scattered outs
};

struct FuseGathersPass : impl::FuseGathersBase<FuseGathersPass> {
  void runOnOperation() override {
    SmallVector<GatherOp> gathers;
    getOperation().walk([&](GatherOp gather) { gathers.push_back(gather); });
    for (GatherOp gather : gathers)
      if (device::KernelOp kernel = kernelOf(gather))
        Scatter(kernel, gather).fuse();
      else
        lower(gather);
  }

private:
  /// The kernel that computes the value, if it can write the region as well.
  static device::KernelOp kernelOf(GatherOp gather) {
    Operation *def = gather.getValue().getDefiningOp();
    if (!def || def->getBlock() != gather->getBlock())
      return nullptr;
    // The tables have to be there before.
    for (Value table : gather.getTables())
      if (Operation *made = table.getDefiningOp();
          made && made->getBlock() == def->getBlock() && !made->isBeforeInBlock(def))
        return nullptr;
    if (auto loops = dyn_cast<linalg::GenericOp>(def)) {
      unsigned number = cast<OpResult>(gather.getValue()).getResultNumber();
      device::KernelOp kernel = asKernel(loops);
      if (kernel)
        gather.getValueMutable().assign(kernel.getResult(number));
      return kernel;
    }
    auto kernel = dyn_cast<device::KernelOp>(def);
    bool isOwn = kernel && cast<OpResult>(gather.getValue()).getResultNumber() < kernel.getOwnOuts().size();
    return isOwn ? kernel : nullptr;
  }

  static void lower(GatherOp gather) {
    PlainBuilder b(NameLoc::get(StringAttr::get(gather.getContext(), "gather"), gather.getLoc()), gather);
    b.device = true;
    gather.getResult().replaceAllUsesWith(plain::lowerPlan(b, gather)->front());
    gather.erase();
  }
};

} // namespace
} // namespace nnterp
