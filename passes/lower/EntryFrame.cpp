// Builds the entry function of a program.
#include "passes/lower/EntryFrame.h"

#include "passes/Inputs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace nnterp {

DenseIntElementsAttr sitesAttr(Builder &b, ArrayRef<SmallVector<int64_t>> sites) {
  SmallVector<int64_t> flat;
  for (ArrayRef<int64_t> site : sites)
    flat.append(site.begin(), site.end());
  int64_t params = sites.empty() ? 0 : int64_t(sites.front().size());
  return DenseIntElementsAttr::get(RankedTensorType::get({int64_t(sites.size()), params}, b.getI64Type()), flat);
}

EntryFrame::EntryFrame(OpBuilder &outer, func::FuncOp main, StringRef symbol, SlotTable &slots)
    : b(outer.getContext()), main(main), slots(slots) {
  b.setInsertionPointToEnd(main->getBlock());
  entry = func::FuncOp::create(b, main.getLoc(), symbol,
                               b.getFunctionType({LLVM::LLVMPointerType::get(b.getContext())}, {}));
  Block *body = entry.addEntryBlock();
  frame = body->getArgument(0);
  b.setInsertionPointToStart(body);
  firstSite = arith::ConstantOp::create(b, main.getLoc(), b.getI64IntegerAttr(0));
}

Value EntryFrame::slot(StringRef kind, StringRef name, Type type) {
  Value &known = memory[(kind + ":" + name).str()];
  if (!known) {
    auto tensor = cast<RankedTensorType>(type);
    own.push_back(slots.add(kind, name, type));
    known = SlotOp::create(b, main.getLoc(), MemRefType::get(tensor.getShape(), tensor.getElementType()), frame,
                           firstSite, int64_t(own.size()) - 1);
  }
  return known;
}

Value EntryFrame::input(Value argument) {
  return slot("input", inputName(cast<BlockArgument>(argument)), argument.getType());
}

SmallVector<Value> EntryFrame::site(int64_t number) {
  return {frame, arith::ConstantOp::create(b, main.getLoc(), b.getI64IntegerAttr(number))};
}

Value EntryFrame::extent(Value v, int64_t axis) {
  Location loc = main.getLoc();
  Operation *def = v.getDefiningOp();
  if (main.getName() == "images")
    return patchExtent(v);
  if (auto view = dyn_cast_or_null<hybrid::KvViewOp>(def); view && axis == 2)
    return load(view.getTotal(), 0);
  if (auto scores = dyn_cast_or_null<hybrid::AttentionScoresOp>(def); scores && axis == 3)
    return extent(scores.getKeys(), 2);
  if (auto softmax = dyn_cast_or_null<hybrid::SoftmaxOp>(def))
    return extent(softmax.getInput(), axis);
  if (isa_and_nonnull<EditOp, ProjectOutOp, hybrid::KvAppendOp, hybrid::KvStoreOp>(def))
    return extent(def->getOperand(0), axis);
  if (auto cache = dyn_cast_or_null<hybrid::MemoryOp>(def))
    return memref::DimOp::create(
        b, loc, slot(cache.getOfRun() ? "kept" : "state", cache.getPart(), cache.getResult().getType()), axis);
  return memref::DimOp::create(b, loc, input(idsOf(v)), axis == 0 ? 0 : 1);
}

Value EntryFrame::load(Value argument, int64_t at) {
  Location loc = main.getLoc();
  Value place = arith::ConstantIndexOp::create(b, loc, at);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), memref::LoadOp::create(b, loc, input(argument), place));
}

Value EntryFrame::patchExtent(Value v) {
  Location loc = main.getLoc();
  if (auto argument = dyn_cast<BlockArgument>(v)) {
    bool rows = inputName(argument).ends_with("pixels"); // else the places of patches, [6,P]
    return memref::DimOp::create(b, loc, input(argument), rows ? 0 : 1);
  }
  Operation *def = v.getDefiningOp();
  if (auto merge = dyn_cast<hybrid::MergePatchesOp>(def)) {
    Value joined = arith::ConstantIndexOp::create(b, loc, int64_t(merge.getN()));
    return arith::DivUIOp::create(b, loc, patchExtent(merge.getInput()), joined);
  }
  if (auto scores = dyn_cast<hybrid::SegmentScoresOp>(def)) {
    int64_t segment = int64_t(scores.getSegment());
    return arith::SubIOp::create(b, loc, load(scores.getSegments(), segment + 1), load(scores.getSegments(), segment));
  }
  if (auto table = dyn_cast<hybrid::PosEmbedOp>(def))
    return patchExtent(table.getPatches());
  return patchExtent(def->getOperand(0)); // every other op has its value's patches first
}

Value EntryFrame::memoryFor(Value v) {
  auto type = cast<RankedTensorType>(v.getType());
  SmallVector<Value> dims;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      dims.push_back(extent(v, axis));
  return tensor::EmptyOp::create(b, main.getLoc(), type.getShape(), type.getElementType(), dims);
}

ResultRange EntryFrame::call(func::FuncOp callee, ValueRange operands) {
  return func::CallOp::create(b, main.getLoc(), callee, operands).getResults();
}

void EntryFrame::progress(int64_t done, int64_t total) { ProgressOp::create(b, main.getLoc(), frame, done, total); }

void EntryFrame::finish() {
  func::ReturnOp::create(b, main.getLoc());
  entry->setAttr("nnterp.sites", sitesAttr(b, {own}));
}

} // namespace nnterp
