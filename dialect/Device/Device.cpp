// The device dialect: verification, effects, bufferization.
#include "dialect/Device/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace nnterp::device;

#include "dialect/Device/DeviceDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/Device/DeviceOps.cpp.inc"

void DeviceDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/Device/DeviceOps.cpp.inc"
      >();
}

MutableOperandRange KernelOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, unsigned(getInputs().size()), unsigned(getOuts().size() + getStates().size()));
}

Value KernelOp::resultOf(OpOperand &destination) {
  return getNumResults() == 0 ? Value() : getResult(destination.getOperandNumber() - unsigned(getInputs().size()));
}

/// What a region ends with; none where it does not end with device.yield.
static std::optional<ValueRange> yielded(Region &region) {
  Block &block = region.front();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  return yield ? std::optional<ValueRange>(yield.getValues()) : std::nullopt;
}

LogicalResult KernelOp::verify() {
  if (!getEpilogue().empty()) {
    if (getScattered() > getOuts().size())
      return emitOpError("expects no more scattered outs than outs");
    std::optional<ValueRange> elements = yielded(getEpilogue());
    if (!elements || elements->size() != getOwnOuts().size())
      return emitOpError("expects its epilogue to yield one element per out of its domain");
    for (auto [value, out] : llvm::zip(*elements, getOwnOuts()))
      if (value.getType() != cast<ShapedType>(out.getType()).getElementType())
        return emitOpError("expects its epilogue to yield elements of its outs, but one is ") << value.getType();
    WalkResult scatters = getEpilogue().walk([&](ScatterOp scatter) {
      if (scatter.getOut() >= getScattered())
        return WalkResult(scatter.emitOpError("expects the number of a scattered out of its kernel"));
      auto out = cast<ShapedType>(getScatteredOuts()[scatter.getOut()].getType());
      if (out.getElementType() != scatter.getValue().getType() || size_t(out.getRank()) != scatter.getIndices().size())
        return WalkResult(scatter.emitOpError("expects an element and an index of ") << out);
      return WalkResult::advance();
    });
    if (scatters.wasInterrupted())
      return failure();
  } else if (!getOuts().empty()) {
    return emitOpError("expects an epilogue, as it has outs");
  }
  if (!getStateEdit().empty()) {
    ValueRange arguments = getStateEdit().getArguments();
    std::optional<ValueRange> values = yielded(getStateEdit());
    if (arguments.size() < 4 || !llvm::all_of(arguments.drop_back(), [](Value v) { return v.getType().isIndex(); }) || !values ||
        values->size() != 2 || values->front().getType() != arguments.back().getType() || !values->back().getType().isInteger(1))
      return emitOpError("expects its state_edit to take indices and a value, and to yield such a value and a truth");
  }
  bool tensors = llvm::all_of(getDpsInits(), [](Value v) { return isa<TensorType>(v.getType()); });
  size_t expected = tensors ? getOuts().size() + getStates().size() : 0;
  if (getNumResults() != expected)
    return emitOpError("expects ") << expected << " results, one per destination that is a tensor";
  return success();
}

void KernelOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  bool memory = llvm::any_of(getOperandTypes(), llvm::IsaPred<BaseMemRefType>);
  if (!memory)
    return;
  effects.emplace_back(MemoryEffects::Read::get()); // the regions may read anything
  for (OpOperand &operand : getDpsInitsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

/// Each region runs any number of times; what it takes and gives passes through the builder's hands.
void KernelOp::getSuccessorRegions(RegionBranchPoint, SmallVectorImpl<RegionSuccessor> &successors) {
  for (Region &region : getOperation()->getRegions())
    if (!region.empty())
      successors.emplace_back(&region);
  successors.emplace_back(getOperation(), getResults().take_front(0));
}

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) { return MutableOperandRange(*this, 0, 0); }
//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

Value ViewOp::getViewSource() { return getSource(); }

int64_t ViewOp::axisOfSource(int64_t axis) {
  for (auto [place, index] : llvm::enumerate(getMap().getResults()))
    if (auto own = dyn_cast<AffineDimExpr>(index); own && int64_t(own.getPosition()) == axis)
      return int64_t(place);
  return -1;
}

LogicalResult ViewOp::verify() {
  auto from = cast<ShapedType>(getSource().getType()), to = cast<ShapedType>(getResult().getType());
  if (isa<TensorType>(from) != isa<TensorType>(to) || from.getElementType() != to.getElementType())
    return emitOpError("expects a result of its source's kind and element type");
  AffineMap map = getMap();
  if (int64_t(map.getNumDims()) != to.getRank() || map.getNumSymbols() != 0 || int64_t(map.getNumResults()) != from.getRank())
    return emitOpError("expects a map from ") << to.getRank() << " indices to " << from.getRank();
  for (AffineExpr index : map.getResults())
    if (index.walk([](AffineExpr part) {
          return part.getKind() == AffineExprKind::CeilDiv ? WalkResult::interrupt() : WalkResult::advance();
        }).wasInterrupted())
      return emitOpError("expects quotients that are rounded down");
  for (int64_t axis = 0; axis < to.getRank(); ++axis)
    if (to.isDynamicDim(unsigned(axis)) && (axisOfSource(axis) < 0 || !from.isDynamicDim(unsigned(axisOfSource(axis)))))
      return emitOpError("expects its dynamic axis ") << axis << " to be one of the source";
  return success();
}

/// Indices are not negative, so that quotients and remainders are those of unsigned numbers.
static Value indexOf(AffineExpr expression, OpBuilder &b, Location loc, ValueRange at) {
  if (auto own = dyn_cast<AffineDimExpr>(expression))
    return at[own.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return arith::ConstantIndexOp::create(b, loc, constant.getValue());
  auto both = cast<AffineBinaryOpExpr>(expression);
  Value left = indexOf(both.getLHS(), b, loc, at), right = indexOf(both.getRHS(), b, loc, at);
  switch (both.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(b, loc, left, right);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(b, loc, left, right);
  case AffineExprKind::FloorDiv:
    return arith::DivUIOp::create(b, loc, left, right);
  case AffineExprKind::Mod:
    return arith::RemUIOp::create(b, loc, left, right);
  default:
    llvm_unreachable("the map has a quotient that is rounded up");
  }
}

SmallVector<Value> ViewOp::indicesAt(OpBuilder &b, ValueRange at) {
  SmallVector<Value> indices;
  for (AffineExpr index : getMap().getResults())
    indices.push_back(indexOf(index, b, getLoc(), at));
  return indices;
}

bool ViewOp::compose() {
  auto inner = getSource().getDefiningOp<ViewOp>();
  if (!inner)
    return false;
  setMap(inner.getMap().compose(getMap()));
  getSourceMutable().assign(inner.getSource());
  return true;
}

bool ViewOp::readThrough(RewriterBase &rewriter) {
  bool some = false;
  for (Operation *user : llvm::make_early_inc_range(getResult().getUsers())) {
    rewriter.setInsertionPoint(user);
    auto indices = [&](ValueRange at) { return indicesAt(rewriter, at); };
    if (auto load = dyn_cast<memref::LoadOp>(user))
      rewriter.replaceOpWithNewOp<memref::LoadOp>(load, getSource(), indices(load.getIndices()));
    else if (auto extract = dyn_cast<tensor::ExtractOp>(user))
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(extract, getSource(), indices(extract.getIndices()));
    else if (auto dim = dyn_cast<memref::DimOp>(user); dim && dim.getConstantIndex())
      rewriter.replaceOpWithNewOp<memref::DimOp>(dim, getSource(), axisOfSource(*dim.getConstantIndex()));
    else if (auto dim = dyn_cast<tensor::DimOp>(user); dim && dim.getConstantIndex())
      rewriter.replaceOpWithNewOp<tensor::DimOp>(dim, getSource(), axisOfSource(*dim.getConstantIndex()));
    else
      continue;
    some = true;
  }
  return some;
}

namespace {

struct ReadThrough : OpRewritePattern<ViewOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ViewOp op, PatternRewriter &rewriter) const override {
    return success(op.readThrough(rewriter));
  }
};

struct ComposeViews : OpRewritePattern<ViewOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ViewOp op, PatternRewriter &rewriter) const override {
    if (!op.getSource().getDefiningOp<ViewOp>())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.compose(); });
    return success();
  }
};

} // namespace

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReadThrough, ComposeViews>(context);
}

//===----------------------------------------------------------------------===//
// Bufferization
//===----------------------------------------------------------------------===//

namespace {

struct ViewBufferization : bufferization::BufferizableOpInterface::ExternalModel<ViewBufferization, ViewOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &, const bufferization::AnalysisState &) const { return false; }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &, const bufferization::AnalysisState &) const { return false; }
  bufferization::AliasingValueList getAliasingValues(Operation *op, OpOperand &, const bufferization::AnalysisState &) const {
    return {{op->getResult(0), bufferization::BufferRelation::Unknown}};
  }
  bool isWritable(Operation *, Value, const bufferization::AnalysisState &) const { return false; }
  FailureOr<bufferization::BufferLikeType> getBufferType(Operation *, Value value, const bufferization::BufferizationOptions &,
                                                         const bufferization::BufferizationState &, SmallVector<Value> &) const {
    auto type = cast<RankedTensorType>(value.getType());
    return cast<bufferization::BufferLikeType>(MemRefType::get(type.getShape(), type.getElementType()));
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto view = cast<ViewOp>(op);
    FailureOr<Value> source = bufferization::getBuffer(rewriter, view.getSource(), options, state);
    if (failed(source))
      return failure();
    auto type = cast<RankedTensorType>(view.getType());
    auto memory = MemRefType::get(type.getShape(), type.getElementType());
    bufferization::replaceOpWithNewBufferizedOp<ViewOp>(rewriter, op, memory, *source, view.getMap());
    return success();
  }
};

struct KernelBufferization
    : bufferization::DstBufferizableOpInterfaceExternalModel<KernelBufferization, nnterp::device::KernelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand, const bufferization::AnalysisState &) const {
    auto kernel = cast<nnterp::device::KernelOp>(op);
    bool isOut = llvm::is_contained(llvm::map_range(kernel.getOutsMutable(), [](OpOperand &o) { return o.getOperandNumber(); }),
                                    operand.getOperandNumber());
    return !isOut;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter, const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto kernel = cast<nnterp::device::KernelOp>(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isa<TensorType>(operand.getType())) {
        FailureOr<Value> buffer = bufferization::getBuffer(rewriter, operand, options, state);
        if (failed(buffer))
          return failure();
        operand = *buffer;
      }
      operands.push_back(operand);
    }
    rewriter.setInsertionPoint(op);
    size_t inputs = kernel.getInputs().size(), outs = kernel.getOuts().size();
    auto all = ArrayRef(operands);
    auto memory = nnterp::device::KernelOp::create(rewriter, op->getLoc(), TypeRange(), kernel.getKind(), kernel.getConfig(),
                                                   all.take_front(inputs), all.slice(inputs, outs), all.drop_front(inputs + outs),
                                                   kernel.getScattered());
    for (auto [mine, its] : llvm::zip(memory->getRegions(), kernel->getRegions()))
      mine.takeBody(its);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, all.drop_front(inputs));
    return success();
  }
};

} // namespace

void nnterp::device::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DeviceDialect *) {
    nnterp::device::KernelOp::attachInterface<KernelBufferization>(*context);
    nnterp::device::ViewOp::attachInterface<ViewBufferization>(*context);
  });
}
