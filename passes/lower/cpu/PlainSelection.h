// The entries of a value that a plan's tables select, and where an edit's sources have theirs.
#pragma once

#include "PlainBuilder.h"

namespace nnterp::plain {

/// A product of selections, one per axis with a table: an entry belongs to it if every table has an entry >= 0 there.
/// `offset`: position of the value's axis 1 in the tables of that axis. `causal`: axes 2 and 3 are query and key, and
/// keys later than their query are outside; `past`: tokens of each row before the first query, or null.
class Selection {
public:
  Selection(PlainBuilder &b, ArrayRef<int64_t> axes, ValueRange tables, Value offset = {}, bool causal = false,
            Value past = {})
      : b(b), axes(axes), tables(tables), offset(offset), past(past), causal(causal) {}

  /// True if the entry `at` is selected; `at` may lack last axes, which then do not count.
  Value contains(ValueRange at) const;
  /// What a table over `axis` holds for the entry `at`.
  Value lookUp(Value table, ValueRange at, int64_t axis) const;
  /// The position of the entry `at` on an axis.
  Value position(ValueRange at, int64_t axis) const;

private:
  PlainBuilder &b;
  ArrayRef<int64_t> axes;
  ValueRange tables;
  Value offset, past;
  bool causal;
};

/// An operand of an edit, and per axis where its entry stands: -1 at index 0, -2 at the value's own index, k >= 0
/// through `tables[k]`. Axes are aligned with the value's from the last.
struct Source {
  Value tensor;
  ArrayRef<int64_t> axes;
  ValueRange tables;

  /// An index, and whether all tables have an entry for it.
  struct Place {
    SmallVector<Value> at;
    Value exists;
  };
  /// Where the entry for the value's entry `at` is, over the first `count` axes of the source.
  Place locate(PlainBuilder &b, const Selection &selection, ValueRange at, int64_t valueRank, int64_t count) const;
};

} // namespace nnterp::plain
