// The device dialect: verification, effects, bufferization.
#include "dialect/Device/Device.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
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

LogicalResult KernelOp::verify() {
  if (!getEpilogue().empty()) {
    Block &block = getEpilogue().front();
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!yield || yield.getValues().size() != getOuts().size())
      return emitOpError("expects its epilogue to yield one element per out");
    for (auto [value, out] : llvm::zip(yield.getValues(), getOuts()))
      if (value.getType() != cast<ShapedType>(out.getType()).getElementType())
        return emitOpError("expects its epilogue to yield elements of its outs, but one is ") << value.getType();
  } else if (!getOuts().empty()) {
    return emitOpError("expects an epilogue, as it has outs");
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
  effects.emplace_back(MemoryEffects::Read::get()); // the epilogue may read anything
  for (OpOperand &operand : getDpsInitsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

namespace {

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
    auto memory = nnterp::device::KernelOp::create(rewriter, op->getLoc(), TypeRange(), kernel.getKindAttr(), kernel.getConfigAttr(),
                                                   all.take_front(inputs), all.slice(inputs, outs), all.drop_front(inputs + outs));
    memory.getEpilogue().takeBody(kernel.getEpilogue());
    bufferization::replaceOpWithBufferizedValues(rewriter, op, all.drop_front(inputs));
    return success();
  }
};

} // namespace

void nnterp::device::registerBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DeviceDialect *) {
    nnterp::device::KernelOp::attachInterface<KernelBufferization>(*context);
  });
}
