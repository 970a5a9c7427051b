// Verifiers and type inference of the nnterp dialect.
#include "dialect/Nnterp/Nnterp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace nnterp;

#include "dialect/Nnterp/NnterpDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialect/Nnterp/NnterpOps.cpp.inc"

void NnterpDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/Nnterp/NnterpOps.cpp.inc"
      >();
}

namespace {

/// (T1) one axis per table, (T2) axes distinct and within the value, (T3) tables of rank 1 or 2.
LogicalResult verifyTables(Operation *op, RankedTensorType value, ArrayRef<int64_t> axes, ValueRange tables) {
  if (axes.size() != tables.size())
    return op->emitOpError() << "names " << axes.size() << " table axes but has " << tables.size() << " tables";
  llvm::SmallBitVector seen(value.getRank());
  for (auto [axis, table] : llvm::zip(axes, tables)) {
    if (axis < 0 || axis >= value.getRank())
      return op->emitOpError() << "has a table for axis " << axis << " of a value of rank " << value.getRank();
    if (seen.test(axis))
      return op->emitOpError() << "has two tables for axis " << axis;
    seen.set(axis);
    int64_t rank = cast<RankedTensorType>(table.getType()).getRank();
    if (rank != 1 && rank != 2)
      return op->emitOpError() << "expects tables of rank 1 or 2, found rank " << rank;
  }
  return success();
}

/// The type of a gathered region: axes with a table become dynamic.
RankedTensorType regionType(RankedTensorType value, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape(value.getShape());
  for (int64_t axis : axes)
    if (axis >= 0 && axis < value.getRank())
      shape[axis] = ShapedType::kDynamic;
  return RankedTensorType::get(shape, value.getElementType());
}

} // namespace

LogicalResult PointOp::verify() {
  if (getAt().empty())
    return emitOpError("has an empty name");
  return success();
}

LogicalResult PlanEditOp::verify() {
  if (getSource() && !getSource()->getAs<StringAttr>("kind"))
    return emitOpError("has a source without a kind");
  return success();
}

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(regionType(cast<RankedTensorType>(adaptor.getValue().getType()), adaptor.getTableAxes()));
  return success();
}

LogicalResult GatherOp::verify() {
  return verifyTables(*this, cast<RankedTensorType>(getValue().getType()), getTableAxes(), getTables());
}

LogicalResult MeanOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto value = cast<RankedTensorType>(adaptor.getValue().getType());
  SmallVector<int64_t> shape(value.getShape());
  for (int64_t axis : adaptor.getAxes())
    if (axis >= 0 && axis < value.getRank())
      shape[axis] = 1;
  Type element = value.getElementType();
  types.push_back(
      RankedTensorType::get(shape, isa<FloatType>(element) ? Float32Type::get(element.getContext()) : element));
  return success();
}

LogicalResult MeanOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  for (int64_t axis : getAxes())
    if (axis < 0 || axis >= value.getRank())
      return emitOpError() << "averages over axis " << axis << " of a value of rank " << value.getRank();
  return verifyTables(*this, value, getTableAxes(), getTables());
}

LogicalResult EditOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  if (failed(verifyTables(*this, value, getTableAxes(), getTables())))
    return failure();
  if (getSourceAxes().size() != getSources().size())
    return emitOpError() << "describes the axes of " << getSourceAxes().size() << " sources but has "
                         << getSources().size();
  for (auto [attr, source] : llvm::zip(getSourceAxes(), getSources())) {
    auto axes = dyn_cast<DenseI64ArrayAttr>(attr);
    int64_t rank = cast<RankedTensorType>(source.getType()).getRank();
    if (!axes || int64_t(axes.size()) != rank)
      return emitOpError() << "expects one entry of source_axes per axis of a source of rank " << rank;
    for (int64_t axis : axes.asArrayRef())
      if (axis < -2 || axis >= int64_t(getSourceTables().size()))
        return emitOpError() << "refers to source table " << axis << " of " << getSourceTables().size();
  }
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 + getSources().size())
    return emitOpError() << "expects a function of " << 1 + getSources().size() << " scalars, found "
                         << body.getNumArguments();
  Type scalar = isa<FloatType>(value.getElementType()) ? Type(Float32Type::get(getContext())) : value.getElementType();
  auto yield = cast<YieldOp>(body.getTerminator());
  if (body.getArgument(0).getType() != scalar || yield.getValues().size() != 1 ||
      yield.getValues().front().getType() != scalar)
    return emitOpError() << "expects a function from " << scalar << " to " << scalar;
  return success();
}
