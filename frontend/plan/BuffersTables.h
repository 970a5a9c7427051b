// Tables: for one axis of an edited or gathered value which positions are meant, once for all calls or anew in each.
#pragma once

#include "frontend/plan/BuffersSource.h"

#include <functional>

namespace nnterp {

/// A table that every call has for itself. Its memory is made once and used by all calls.
class CallTable {
public:
  struct Extents {
    int64_t rows, columns; ///< `columns` < 0: a table [rows]
  };
  /// `extents` of a call's table; `write` gets it filled with -1.
  CallTable(std::string name, int64_t capacity, std::function<Extents()> extents, std::function<void(int64_t *)> write)
      : name(std::move(name)), capacity(capacity), extents(std::move(extents)), write(std::move(write)) {}
  void fill(BufferMap &into);

private:
  std::string name;
  int64_t capacity; ///< the most entries it has in any call
  std::function<Extents()> extents;
  std::function<void(int64_t *)> write;
  void *made = nullptr; ///< memory with room for `capacity` entries
};

/// A region in the calls of one phase of one world. What it points to must outlive the tables.
struct RegionInCalls {
  const Region *region;
  const RowsInCall *rows;
  Phase phase;

  /// Whether a row without an axis of tokens is in the current call.
  bool here(size_t rank) const;
  /// Whether a row is in the call on the current generated token.
  bool fed(size_t rank) const;
};

/// Whether a table has the same entries in every call.
bool isFixed(const Region &region, size_t axis);

/// Table over one axis of an edited value: a position's place in the region over the whole run, rows right-aligned; -1 outside.
Tensor fixedOrdinals(const Region &region, size_t axis, bool perRow);
/// `leftOut`: rows that the call does not edit, null for none.
CallTable ordinals(std::string name, RegionInCalls at, size_t axis, std::function<bool(size_t rank)> leftOut);

/// Table over one axis of a gathered region: the position in the value, rows right-aligned in `extent` places; -1 where
/// a row has none.
Tensor fixedGather(const Region &region, size_t axis, bool perRow, int64_t extent);
CallTable gather(std::string name, RegionInCalls at, size_t axis, int64_t extent);

/// Table over the edited value's axis that meets an axis of the source: the gathered entry for each position of the region.
Tensor fixedEntries(const SourcePair &pair, size_t sourceAxis, bool perRow);
/// `theirs`: the gathered value's rows.
CallTable entries(std::string name, const SourcePair &pair, size_t sourceAxis, RegionInCalls at,
                  const RowsInCall &theirs);

} // namespace nnterp
