// What a `select` means on one axis: as text, where a run decides the extent, and as indices where it is known.
// Meaning: spec/plan.md 4.
#pragma once

#include "frontend/plan/Plan.h"

#include <string_view>

namespace nnterp {

/// In a per-row value: no index (this row selects fewer).
constexpr int64_t absentIndex = INT64_MIN;

/// The selection on an axis, or null where everything is selected (no key, or "*").
const AxisSelection *chosen(const Select *select, std::string_view axis);
inline const Select *pointerTo(const std::optional<Select> &select) { return select ? &*select : nullptr; }

/// Indices on an axis.
struct Picked {
  std::vector<int64_t> indices;   ///< from the start, in the order written, each once
  std::optional<int64_t> outside; ///< the first index written that the axis does not have; then `indices` is not whole
};
/// The indices that lists and ranges mean on an axis of `size` entries; ranges clip.
Picked pick(const AxisSelection &selection, int64_t size);
/// The same for one row of the batch, per-row values looked up.
Picked pickRow(const AxisSelection &selection, const Plan &plan, int64_t row, int64_t size);

/// The tensor of a per-row selection.
const Tensor &rowIndices(const AxisSelection &selection, const Plan &plan);

/// Whether a selection is written as exactly one index (per row, for a value).
bool isOneIndex(const AxisSelection &selection, const Plan &plan);

/// What can be said of an axis before its extent is known (at least 1).
enum class Answer { no, yes, maybe };
/// Whether two selections share a position in every row.
Answer overlap(const AxisSelection &a, const AxisSelection &b);
/// Whether a selection has the first (or the last) position.
Answer holdsFirst(const AxisSelection &selection);
Answer holdsLast(const AxisSelection &selection);

/// Whether two selections are written alike; null is everything.
bool sameSelection(const AxisSelection *a, const AxisSelection *b);
bool sameSelection(const Select *a, const Select *b);

} // namespace nnterp
