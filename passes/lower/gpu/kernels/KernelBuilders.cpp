// What builders have in common.
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace nnterp::device {

KernelOp makeKernel(PlainBuilder &b, StringRef builder, ValueRange inputs, ArrayRef<Out> outs, ValueRange states,
                    ArrayRef<NamedAttribute> config) {
  SmallVector<Value> destinations;
  SmallVector<Type> types, arguments;
  for (const Out &out : outs) {
    types.push_back(out.type);
    destinations.push_back(tensor::EmptyOp::create(b, out.type, out.sizes));
  }
  llvm::append_range(types, states.getTypes());
  auto kernel = KernelOp::create(b, types, builder, b.getDictionaryAttr(config), inputs, destinations, states);
  if (outs.empty())
    return kernel;
  arguments.assign(size_t(outs.front().type.getRank()), b.getIndexType());
  for (const Out &out : outs)
    arguments.push_back(out.accumulator);
  OpBuilder::InsertionGuard guard(b);
  Block *body =
      b.createBlock(&kernel.getEpilogue(), {}, arguments, SmallVector<Location>(arguments.size(), b.getLoc()));
  SmallVector<Value> elements;
  for (auto [out, accumulator] : llvm::zip(outs, body->getArguments().take_back(outs.size())))
    elements.push_back(b.convert(accumulator, out.type.getElementType()));
  YieldOp::create(b, elements);
  return kernel;
}

SmallVector<Value> extentsOf(KernelOp op, Value memory) {
  OpBuilder b(op);
  SmallVector<Value> extents;
  auto type = cast<MemRefType>(memory.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    extents.push_back(type.isDynamicDim(unsigned(axis))
                          ? Value(memref::DimOp::create(b, op.getLoc(), memory, axis))
                          : Value(arith::ConstantIndexOp::create(b, op.getLoc(), type.getDimSize(unsigned(axis)))));
  return extents;
}

bool readsElements(KernelOp op, OpOperand &operand) {
  bool isInput = operand.getOperandNumber() < op.getInputs().size();
  return isInput && op.getKind() != "linear" && !op.getKind().starts_with("experts");
}

void Epilogue::store(ValueRange indices, ValueRange accumulators) {
  Block &body = op.getEpilogue().front();
  auto &b = kernel.b;
  for (auto [argument, value] : llvm::zip(body.getArguments().take_front(indices.size()), indices))
    kernel.inside.map(argument, value);
  for (auto [argument, value] : llvm::zip(body.getArguments().drop_front(indices.size()), accumulators))
    kernel.inside.map(argument, value);
  for (Operation &inner : body.without_terminator())
    kernel.clone(&inner)->walk([&](ScatterOp scatter) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(scatter);
      memref::StoreOp::create(b, scatter.getValue(), kernel.import(op.getScatteredOuts()[scatter.getOut()]),
                              scatter.getIndices());
      scatter.erase();
    });
  for (auto [element, out] : llvm::zip(body.getTerminator()->getOperands(), op.getOwnOuts()))
    memref::StoreOp::create(b, kernel.import(element), kernel.import(out), indices);
}

} // namespace nnterp::device
