// Follows extents to where they come from, and copies bodies of loops.
#include "passes/lower/gpu/Elementwise.h"

#include "dialect/Device/Device.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace nnterp {

bool isElementwise(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 0 && op.getNumParallelLoops() == op.getNumLoops() && op.getNumLoops() > 0 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
}

bool makesFreshValues(linalg::GenericOp op) {
  return isElementwise(op) &&
         llvm::all_of(op.getDpsInits(), [](Value init) { return init.getDefiningOp<tensor::EmptyOp>(); }) &&
         llvm::all_of(op.getRegionOutputArgs(), [](Value old) { return old.use_empty(); });
}

/// An axis of a tensor as that of the memory it is made in, or of the tensor that it only groups or names in another
/// way.
static std::pair<Value, int64_t> axisBehind(Value tensor, int64_t axis) {
  while (Operation *def = tensor.getDefiningOp()) {
    if (auto style = dyn_cast<DestinationStyleOpInterface>(def)) {
      tensor = style.getTiedOpOperand(cast<OpResult>(tensor))->get();
    } else if (auto view = dyn_cast<device::ViewOp>(def); view && view.axisOfSource(axis) >= 0) {
      axis = view.axisOfSource(axis);
      tensor = view.getSource();
    } else if (auto collapsed = dyn_cast<tensor::CollapseShapeOp>(def);
               collapsed && collapsed.getReassociationIndices()[size_t(axis)].size() == 1) {
      axis = collapsed.getReassociationIndices()[size_t(axis)].front();
      tensor = collapsed.getSrc();
    } else {
      break;
    }
  }
  return {tensor, axis};
}

void resolveExtents(func::FuncOp function) {
  function.walk([](tensor::DimOp dim) {
    std::optional<int64_t> constant = dim.getConstantIndex();
    if (!constant)
      return;
    auto [tensor, axis] = axisBehind(dim.getSource(), *constant);
    auto empty = tensor.getDefiningOp<tensor::EmptyOp>();
    OpBuilder b(dim);
    Value extent = empty && empty.getType().isDynamicDim(unsigned(axis))
                       ? empty.getDynamicSize(unsigned(axis))
                       : b.createOrFold<tensor::DimOp>(dim.getLoc(), tensor, axis);
    dim.replaceAllUsesWith(extent);
    dim.erase();
  });
}

/// Where an extent comes from: a constant, or an axis of a tensor of the outside.
static std::pair<Value, int64_t> originOf(Value value, int64_t axisOfValue) {
  auto [tensor, axis] = axisBehind(value, axisOfValue);
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(unsigned(axis)))
    return {Value(), type.getDimSize(unsigned(axis))};
  if (auto empty = tensor.getDefiningOp<tensor::EmptyOp>()) {
    Value size = empty.getDynamicSize(unsigned(axis));
    if (auto dim = size.getDefiningOp<tensor::DimOp>(); dim && dim.getConstantIndex())
      return originOf(dim.getSource(), *dim.getConstantIndex());
    return {size, -1};
  }
  return {tensor, axis};
}

bool haveSameExtents(Value one, Value other) {
  int64_t rank = cast<RankedTensorType>(one.getType()).getRank();
  if (cast<RankedTensorType>(other.getType()).getRank() != rank)
    return false;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (originOf(one, axis) != originOf(other, axis))
      return false;
  return true;
}

SmallVector<Value> cloneElement(OpBuilder &b, linalg::GenericOp op, ValueRange at) {
  IRMapping map;
  Block &body = op.getRegion().front();
  for (Operation &inner : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      map.map(index.getResult(), at[index.getDim()]);
    else
      b.clone(inner, map);
  }
  SmallVector<Value> elements;
  for (Value element : body.getTerminator()->getOperands())
    elements.push_back(map.lookupOrDefault(element));
  return elements;
}

} // namespace nnterp
