// Plain lowering of what a plan does to values: reading regions, editing them entry by entry, removing directions.
#include "LowerPlainOps.h"
#include "PlainSelection.h"

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

#include <functional>

using namespace mlir;
using namespace nnterp;
using namespace nnterp::plain;

namespace {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, GatherOp op) {
  RankedTensorType type = typeOf(op.getResult());
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    extents.push_back(b.dim(op.getValue(), axis));
  for (auto [axis, table] : llvm::zip(op.getTableAxes(), op.getTables()))
    extents[axis] = b.dim(table, rankOf(table) - 1);
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(extents[axis]);

  Selection selection(b, op.getTableAxes(), op.getTables());
  return {b.tabulate(type, sizes, [&](ValueRange at) {
    auto entry = [&] {
      SmallVector<Value> from(at);
      for (auto [axis, table] : llvm::zip(op.getTableAxes(), op.getTables()))
        from[axis] = b.toIndex(selection.lookUp(table, at, axis));
      return b.extract(op.getValue(), from);
    };
    return b.ifElse(selection.contains(at), entry, [&] { return b.zero(type.getElementType()); });
  })};
}

Results lowerOp(PlainBuilder &b, MeanOp op) {
  RankedTensorType type = typeOf(op.getResult());
  Type f64 = b.getF64Type();
  Selection selection(b, op.getTableAxes(), op.getTables());
  return {b.tabulate(type, b.sizesLike(type, op.getValue()), [&](ValueRange at) {
    SmallVector<Value> entry(at);
    // One loop per averaged axis, the last one innermost; carried are the sum and the number of entries.
    std::function<SmallVector<Value>(ArrayRef<int64_t>, ValueRange)> add = [&](ArrayRef<int64_t> axes,
                                                                               ValueRange carried) {
      if (axes.empty()) {
        Value exists = selection.contains(entry), v = b.convert(b.extract(op.getValue(), entry), f64);
        return SmallVector<Value>{b.add(carried[0], b.select(exists, v, b.zero(f64))),
                                  b.add(carried[1], b.select(exists, b.real(f64, 1), b.zero(f64)))};
      }
      return b.loop(b.dim(op.getValue(), axes.front()), carried, [&](Value i, ValueRange inner) {
        entry[axes.front()] = i;
        return add(axes.drop_front(), inner);
      });
    };
    SmallVector<Value> total = add(op.getAxes(), {b.zero(f64), b.zero(f64)});
    Value some = b.greater(total[1], b.zero(f64));
    Value mean = b.div(total[0], b.select(some, total[1], b.real(f64, 1)));
    return b.convert(mean, type.getElementType());
  })};
}

//===----------------------------------------------------------------------===//
// Editing
//===----------------------------------------------------------------------===//

Results lowerOp(PlainBuilder &b, EditOp op) {
  return {b.update(op.getValue(), [&](ValueRange at, Value old) { return editEntry(b, op, at, op.getOffset(), old); })};
}

//===----------------------------------------------------------------------===//
// Removing a direction
//===----------------------------------------------------------------------===//

/// v - (v.d)d over the selected entries of the last axis, d = x / ||x||: first the norms and the products per position
/// (an index without the last axis), then the difference.
class ProjectOut {
public:
  ProjectOut(PlainBuilder &b, ProjectOutOp op)
      : b(b), op(op), selection(b, op.getTableAxes(), op.getTables(), op.getOffset(), op.getCausal(), op.getPast()),
        source{op.getSource(), op.getSourceAxes(), op.getSourceTables()}, rank(rankOf(op.getValue())),
        f32(b.getF32Type()), f64(b.getF64Type()) {}

  Results lower() {
    norms = computeNorms();
    reportZeroNorms();
    products = computeProducts();
    return {b.update(op.getValue(), [&](ValueRange at, Value old) {
      auto without = [&] {
        Value along = b.mul(b.extract(products, at.drop_back()), direction(at));
        return b.convert(b.sub(b.convert(old, f32), along), old.getType());
      };
      return b.ifElse(isEdited(at), without, [&] { return old; });
    })};
  }

private:
  Value perPosition(Type element, PlainBuilder::ElementBody body) {
    auto type = RankedTensorType::get(typeOf(op.getValue()).getShape().drop_back(), element);
    return b.tabulate(type, b.sizesLike(type, op.getValue()), body);
  }

  /// The norm of the source over its last axis, in float64; 1 where no position is selected.
  Value computeNorms() {
    return perPosition(f64, [&](ValueRange position) {
      int64_t leading = rankOf(source.tensor) ? rankOf(source.tensor) - 1 : 0;
      Source::Place place = source.locate(b, selection, position, rank, leading);
      auto norm = [&]() -> Value {
        Value extent = rankOf(source.tensor) ? b.dim(source.tensor, leading) : b.index(1);
        Value squares = b.sum(extent, f64, [&](Value i) {
          SmallVector<Value> at(place.at);
          if (rankOf(source.tensor))
            at.push_back(i);
          Value x = b.convert(b.extract(source.tensor, at), f64);
          return b.mul(x, x);
        });
        return math::SqrtOp::create(b, squares);
      };
      return b.ifElse(b.both(selection.contains(position), place.exists), norm, [&] { return b.real(f64, 1); });
    });
  }

  void reportZeroNorms() {
    Value frame = op->getParentOfType<func::FuncOp>().getArgument(0);
    std::function<void(SmallVector<Value>)> visit = [&](SmallVector<Value> position) {
      if (int64_t(position.size()) == rank - 1) {
        Value isZero = b.equal(b.extract(norms, position), b.zero(f64));
        scf::IfOp::create(b, isZero, [&](OpBuilder &, Location) {
          FailOp::create(b, frame, op.getEntry(), /*reason=*/1);
          scf::YieldOp::create(b);
        });
        return;
      }
      b.loop(b.dim(op.getValue(), position.size()), {}, [&](Value i, ValueRange) -> SmallVector<Value> {
        SmallVector<Value> inner(position);
        inner.push_back(i);
        visit(inner);
        return {};
      });
    };
    visit({});
  }

  /// Selected, and with a direction that is not zero.
  Value isEdited(ValueRange at) {
    Value exists = source.locate(b, selection, at, rank, source.axes.size()).exists;
    Value hasNorm = b.greater(b.extract(norms, at.drop_back()), b.zero(f64));
    return b.both(b.both(selection.contains(at), exists), hasNorm);
  }

  /// d at an entry, rounded to float32.
  Value direction(ValueRange at) {
    Value x = b.extract(source.tensor, source.locate(b, selection, at, rank, source.axes.size()).at);
    return b.convert(b.div(b.convert(x, f64), b.extract(norms, at.drop_back())), f32);
  }

  /// v.d, summed in float64 and rounded to float32.
  Value computeProducts() {
    return perPosition(f32, [&](ValueRange position) {
      Value product = b.sum(b.dim(op.getValue(), rank - 1), f64, [&](Value i) {
        SmallVector<Value> at(position);
        at.push_back(i);
        auto term = [&] { return b.mul(b.convert(b.extract(op.getValue(), at), f64), b.convert(direction(at), f64)); };
        return b.ifElse(isEdited(at), term, [&] { return b.zero(f64); });
      });
      return b.convert(product, f32);
    });
  }

  PlainBuilder &b;
  ProjectOutOp op;
  Selection selection;
  Source source;
  int64_t rank;
  Type f32, f64;
  Value norms, products;
};

Results lowerOp(PlainBuilder &b, ProjectOutOp op) { return ProjectOut(b, op).lower(); }

} // namespace

Value nnterp::plain::editEntry(PlainBuilder &b, EditOp op, ValueRange at, Value offset, Value old) {
  Selection selection(b, op.getTableAxes(), op.getTables(), offset, op.getCausal(), op.getPast());
  Block &function = op.getBody().front();
  Value selected = selection.contains(at);
  SmallVector<SmallVector<Value>> places;
  for (auto [tensor, axes] : llvm::zip(op.getSources(), op.getSourceAxes())) {
    Source source{tensor, cast<DenseI64ArrayAttr>(axes).asArrayRef(), op.getSourceTables()};
    Source::Place place = source.locate(b, selection, at, at.size(), source.axes.size());
    selected = b.both(selected, place.exists);
    places.push_back(place.at);
  }
  auto replaced = [&] {
    IRMapping map;
    map.map(function.getArgument(0), b.convert(old, function.getArgument(0).getType()));
    for (auto [tensor, place, argument] : llvm::zip(op.getSources(), places, function.getArguments().drop_front()))
      map.map(argument, b.convert(b.extract(tensor, place), argument.getType()));
    for (Operation &inner : function.without_terminator())
      b.clone(inner, map);
    return b.convert(map.lookupOrDefault(function.getTerminator()->getOperand(0)), old.getType());
  };
  return b.ifElse(selected, replaced, [&] { return old; });
}

std::optional<Results> nnterp::plain::lowerPlan(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<GatherOp, MeanOp, EditOp, ProjectOutOp>([&](auto op) { return lowerOp(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}
