// Reads a plan's tables.
#include "PlainSelection.h"

using namespace mlir;
using namespace nnterp::plain;

Value Selection::position(ValueRange at, int64_t axis) const {
  return axis == 1 && offset ? b.add(at[axis], offset) : at[axis];
}

Value Selection::lookUp(Value table, ValueRange at, int64_t axis) const {
  Value own = position(at, axis);
  auto entry = [&] { return rankOf(table) == 2 ? b.extract(table, {at[0], own}) : b.extract(table, own); };
  if (!b.device || !typeOf(table).isDynamicDim(rankOf(table) - 1))
    return entry();
  return b.ifElse(b.less(own, b.dim(table, rankOf(table) - 1)), entry, [&] { return b.i64(-1); });
}

Value Selection::contains(ValueRange at) const {
  Value inside = b.boolean(true);
  for (auto [axis, table] : llvm::zip(axes, tables))
    if (axis < int64_t(at.size()))
      inside = b.both(inside, b.atLeast(lookUp(table, at, axis), b.i64(0)));
  if (causal && at.size() == 4)
    inside = b.both(inside, b.atMost(at[3], b.tokenPlace(past, at[0], at[2])));
  return inside;
}

Source::Place Source::locate(PlainBuilder &b, const Selection &selection, ValueRange at, int64_t valueRank,
                             int64_t count) const {
  Place place{{}, b.boolean(true)};
  int64_t shift = valueRank - int64_t(axes.size());
  for (int64_t axis = 0; axis < count; ++axis) {
    if (axes[axis] == -1) {
      place.at.push_back(b.index(0));
    } else if (axes[axis] == -2) {
      place.at.push_back(selection.position(at, axis + shift));
      if (b.device && typeOf(tensor).isDynamicDim(axis))
        place.exists = b.both(place.exists, b.less(place.at.back(), b.dim(tensor, axis)));
    } else {
      Value entry = selection.lookUp(tables[axes[axis]], at, axis + shift);
      place.exists = b.both(place.exists, b.atLeast(entry, b.i64(0)));
      place.at.push_back(b.toIndex(entry));
    }
  }
  return place;
}
