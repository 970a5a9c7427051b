// Builds the ops of one edit of a plan: spec/plan.md section 5.
#include "passes/plan/EditBuilder.h"

#include "passes/BlockIndex.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include "llvm/ADT/APFloat.h"

using namespace mlir;

namespace nnterp {

/// The lowest finite value of a float type.
static double lowestFinite(Type type) {
  return APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true).convertToDouble();
}

EditBuilder::EditBuilder(OpBuilder &builder, PlanOp plan, Block *function,
                         std::function<Value(StringRef, bool)> valueOf)
    : b(builder), plan(plan), function(function), valueOf(std::move(valueOf)) {
  for (PlanBufferOp op : plan.getBody().getOps<PlanBufferOp>())
    declared[op.getBuffer()] = op;
}

Value EditBuilder::buffer(StringRef name) {
  Value &value = buffers[name];
  if (!value) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(function);
    auto type = declared.find(name);
    if (type == declared.end()) {
      plan.emitError() << "the plan uses the buffer '" << name << "' without declaring it";
      return {};
    }
    value = BufferOp::create(b, plan.getLoc(), type->second.getType(), name, type->second.getKept());
  }
  return value;
}

void EditBuilder::tables(ArrayAttr names, SmallVectorImpl<int64_t> &axes, SmallVectorImpl<Value> &values) {
  for (auto [axis, attr] : llvm::enumerate(names)) {
    StringRef name = cast<StringAttr>(attr).getValue();
    if (name.empty())
      continue;
    if (Value table = buffer(name)) {
      axes.push_back(int64_t(axis));
      values.push_back(table);
    }
  }
}

Value EditBuilder::gather(Location loc, Value value, ArrayAttr names, Operation *like) {
  SmallVector<int64_t> axes;
  SmallVector<Value> values;
  tables(names, axes, values);
  if (axes.empty())
    return value;
  auto op = GatherOp::create(b, loc, value, axes, values);
  copyMarks(like, op);
  return op;
}

Value EditBuilder::mean(Location loc, Value gathered, ArrayRef<int64_t> over, ArrayAttr names, Operation *like) {
  SmallVector<int64_t> axes;
  SmallVector<Value> values;
  tables(names, axes, values);
  auto op = MeanOp::create(b, loc, gathered, b.getDenseI64ArrayAttr(over), b.getDenseI64ArrayAttr(axes), values);
  copyMarks(like, op);
  return op;
}

EditBuilder::Source EditBuilder::source(PlanEditOp edit, SmallVectorImpl<Value> &sourceTables, Operation *like) {
  DictionaryAttr spec = *edit.getSource();
  Source result;
  if (auto name = spec.getAs<StringAttr>("buffer")) {
    result.value = buffer(name.getValue());
  } else {
    StringRef at = spec.getAs<StringAttr>("at").getValue();
    Value value = valueOf(at, spec.getAs<StringAttr>("when").getValue() == "before");
    if (!value) {
      edit.emitError() << "the graph has no value named '" << at << "'";
      return result;
    }
    Operation *owner = value.getDefiningOp();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfter(owner);
    auto names = spec.getAs<ArrayAttr>("tables");
    result.value = gather(edit.getLoc(), value, names, owner);
    if (auto axes = spec.getAs<DenseI64ArrayAttr>("mean"))
      result.value = mean(edit.getLoc(), result.value, axes, names, owner);
    if (spec.contains("squeeze_seq")) {
      auto type = cast<RankedTensorType>(result.value.getType());
      SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)), strides(type.getRank(), b.getIndexAttr(1)),
          sizes;
      SmallVector<int64_t> shape;
      for (int64_t axis = 0; axis < type.getRank(); ++axis) {
        if (axis == 1) {
          sizes.push_back(b.getIndexAttr(1));
          continue;
        }
        shape.push_back(type.getDimSize(axis));
        if (type.isDynamicDim(axis)) {
          auto dim = tensor::DimOp::create(b, edit.getLoc(), result.value, axis);
          copyMarks(owner, dim);
          sizes.push_back(dim.getResult());
        } else {
          sizes.push_back(b.getIndexAttr(type.getDimSize(axis)));
        }
      }
      auto op = tensor::ExtractSliceOp::create(b, edit.getLoc(), RankedTensorType::get(shape, type.getElementType()),
                                               result.value, offsets, sizes, strides);
      copyMarks(owner, op);
      result.value = op;
    }
  }
  for (Attribute attr : spec.getAs<ArrayAttr>("axes")) {
    StringRef axis = cast<StringAttr>(attr).getValue();
    if (axis == "1") {
      result.axes.push_back(-1);
    } else if (axis == "=") {
      result.axes.push_back(-2);
    } else {
      result.axes.push_back(int64_t(sourceTables.size()));
      sourceTables.push_back(buffer(axis));
    }
  }
  return result;
}

Value EditBuilder::apply(PlanEditOp edit, Value value, const EditSite &site) {
  SmallVector<int64_t> axes;
  SmallVector<Value> values;
  tables(edit.getTables(), axes, values);
  Location loc = edit.getLoc();
  StringRef op = edit.getOp();
  int64_t entry = edit.getEntry();
  Operation *made = nullptr;
  if (op == "drop" || op == "drop_renorm") {
    std::string indices = edit.getAt().str();
    indices.replace(indices.rfind("expert_weights"), std::string::npos, "expert_indices");
    Value chosen = valueOf(indices, /*before=*/false);
    if (!chosen) {
      edit.emitError() << "the graph has no value named '" << indices << "'";
      return {};
    }
    made = DropOp::create(b, loc, value, chosen, buffer(*edit.getExperts()), axes, values, entry, op == "drop_renorm");
  } else if (op == "reroute") {
    made = RerouteOp::create(b, loc, value, buffer(*edit.getExperts()), axes, values, entry);
  } else if (op == "project_out") {
    SmallVector<Value> sourceTables;
    Source d = source(edit, sourceTables, site.like);
    if (!d.value)
      return {};
    made = ProjectOutOp::create(b, loc, value, axes, values, d.axes, d.value, sourceTables, site.offset, site.past,
                                entry, site.causal);
  } else {
    return elementwise(edit, value, site);
  }
  copyMarks(site.like, made);
  return made->getResult(0);
}

Value EditBuilder::elementwise(PlanEditOp edit, Value value, const EditSite &site) {
  SmallVector<int64_t> axes;
  SmallVector<Value> values, sources, sourceTables;
  tables(edit.getTables(), axes, values);
  Location loc = edit.getLoc();
  SmallVector<Attribute> sourceAxes;
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  auto takeNumber = [&](Value number) {
    sources.push_back(number);
    sourceAxes.push_back(b.getDenseI64ArrayAttr({}));
  };
  // Sources come in this order: the source itself, its scale, the operation's numbers.
  bool hasSource = edit.getSource().has_value(), hasScale = false;
  if (hasSource) {
    Source s = source(edit, sourceTables, site.like);
    if (!s.value)
      return {};
    sources.push_back(s.value);
    sourceAxes.push_back(b.getDenseI64ArrayAttr(s.axes));
    if (auto scale = edit.getSource()->getAs<StringAttr>("scale")) {
      hasScale = true;
      takeNumber(buffer(scale.getValue()));
    }
  }
  if (ArrayAttr numbers = edit.getNumbersAttr())
    for (Attribute number : numbers)
      takeNumber(buffer(cast<StringAttr>(number).getValue()));

  auto op = EditOp::create(b, loc, value.getType(), value, b.getDenseI64ArrayAttr(axes), values,
                           b.getArrayAttr(sourceAxes), sources, sourceTables, site.offset, site.past,
                           b.getI64IntegerAttr(edit.getEntry()), site.causal ? b.getUnitAttr() : UnitAttr());
  copyMarks(site.like, op);
  OpBuilder::InsertionGuard guard(b);
  bool floats = isa<FloatType>(element);
  Type scalar = floats ? Type(b.getF32Type()) : element;
  SmallVector<Type> argTypes{scalar};
  for (Value s : sources) {
    Type t = cast<RankedTensorType>(s.getType()).getElementType();
    argTypes.push_back(isa<FloatType>(t) ? Type(b.getF32Type()) : t);
  }
  Block *body = b.createBlock(&op.getBody(), {}, argTypes, SmallVector<Location>(argTypes.size(), loc));
  Value v = body->getArgument(0);
  unsigned next = 1;
  Value x;
  if (hasSource) {
    x = body->getArgument(next++);
    if (hasScale) {
      if (!isa<FloatType>(x.getType()))
        x = arith::SIToFPOp::create(b, loc, b.getF32Type(), x);
      x = arith::MulFOp::create(b, loc, x, body->getArgument(next++));
    }
  }
  auto number = [&] { return body->getArgument(next++); };
  auto mul = [&](Value a, Value c) -> Value { return arith::MulFOp::create(b, loc, a, c); };
  auto add = [&](Value a, Value c) -> Value { return arith::AddFOp::create(b, loc, a, c); };
  auto constant = [&](double c) -> Value { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(float(c))); };
  StringRef kind = edit.getOp();
  Value y;
  if (kind == "replace") {
    y = x;
  } else if (kind == "fill") {
    y = number();
  } else if (kind == "zero") {
    y = constant(0.0);
  } else if (kind == "mask") {
    y = constant(lowestFinite(element));
  } else if (kind == "scale") {
    y = mul(v, x);
  } else if (kind == "affine") {
    Value product = mul(v, number());
    y = add(product, number());
  } else if (kind == "clamp") {
    y = v;
    for (Attribute bound : edit.getBoundsAttr())
      y = cast<StringAttr>(bound).getValue() == "min" ? Value(arith::MaximumFOp::create(b, loc, y, number()))
                                                      : Value(arith::MinimumFOp::create(b, loc, y, number()));
  } else if (kind == "lerp") {
    Value difference = arith::SubFOp::create(b, loc, x, v);
    y = add(v, mul(number(), difference));
  } else if (kind == "add") {
    y = add(v, edit.getNumbers() ? mul(number(), x) : x);
  } else {
    edit.emitError() << "unknown operation '" << kind << "'";
    op.erase();
    return {};
  }
  if (isa<FloatType>(y.getType()) && !floats)
    y = arith::FPToSIOp::create(b, loc, scalar, y);
  else if (!isa<FloatType>(y.getType()) && floats)
    y = arith::SIToFPOp::create(b, loc, scalar, y);
  YieldOp::create(b, loc, y);
  return op.getResult();
}

} // namespace nnterp
