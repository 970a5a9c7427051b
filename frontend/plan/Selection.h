// What a `select` means on one axis: as text, where a run decides the extent, and as indices where it is known.
// Meaning: spec/plan.md 4.
#pragma once

#include "frontend/plan/Resolved.h"

#include <string_view>

namespace nnterp {

/// In a per-row value: no index (this row selects fewer).
constexpr int64_t absentIndex = INT64_MIN;

/// The selection on an axis, or null where everything is selected (no key, or "*").
const AxisSelection *chosen(const Select *select, std::string_view axis);
inline const Select *pointerTo(const std::optional<Select> &select) { return select ? &*select : nullptr; }

/// What selects a rectangle of one image instead of entries of an axis; null is everything.
struct Picture {
  const AxisSelection *image = nullptr, *rows = nullptr, *cols = nullptr;
  explicit operator bool() const { return image || rows || cols; }
  /// The first that is written.
  const AxisSelection &any() const { return *(image ? image : rows ? rows : cols); }
};
Picture pictureOf(const Select *select);
/// Whether an axis is selected from, by its own name or in a picture.
bool isChosen(const Select *select, std::string_view axis);

/// In which phases something holds.
struct Phases {
  bool prompt = false, gen = false, images = false;
  bool has(Phase phase) const { return phase == Phase::images ? images : phase == Phase::prompt ? prompt : gen; }
};
/// Where the tokens of a selection stand, as written; null is everywhere. Indices per row count within the prompt.
Phases phasesOf(const AxisSelection *selection);
/// Where a selected part of a value exists: by its tokens (`seq` or `query`), by its places, or before all tokens.
Phases phasesOf(const Select *select, const PointInfo &info);
/// The axis on which calls follow each other, `seq` or `query`; nothing for values that have no such axis.
std::optional<size_t> tokenAxisOf(Layout layout);
/// Where a value without an axis of tokens stands in the prompt; `none` for values with one, and for sizes.
Place standsAt(const PointInfo &info);

/// Indices on an axis.
struct Picked {
  std::vector<int64_t> indices;   ///< from the start, in the order written, each once
  std::optional<int64_t> outside; ///< the first index written that the axis does not have; then `indices` is not whole
};
/// The indices that lists and ranges mean on an axis of `size` entries that counts no tokens; ranges clip.
Picked pick(const AxisSelection &selection, int64_t size);
/// The same for one row of the batch, per-row values looked up.
Picked pickRow(const AxisSelection &selection, const Plan &plan, int64_t row, int64_t size);

/// Tokens of one row: those of the prompt from 0, behind them the generated ones, before them (negative) those of a loaded state, which
/// only "*" means. `outside` is as written.
struct PickedTokens : Picked {
  bool inGen = false; ///< `outside` stands in gen[…]
};
struct RowTokens {
  int64_t loaded = 0, length = 0, steps = 0;
};
PickedTokens pickTokens(const AxisSelection *selection, const Plan &plan, int64_t row, const RowTokens &tokens);
/// The generated tokens of a selection, ascending.
std::vector<int64_t> pickSteps(const AxisSelection *selection, int64_t steps);

/// The tensor of a per-row selection.
const Tensor &rowIndices(const AxisSelection &selection, const Plan &plan);

/// Whether a selection is written as exactly one index (per row, for a value); `phase`: looking at tokens of that phase alone.
bool isOneIndex(const AxisSelection &selection, const Plan &plan, std::optional<Phase> phase = std::nullopt);
/// Whether an index, not only ranges, is written in gen[…].
bool hasGenIndex(const AxisSelection &selection);

/// What can be said of an axis before its extent is known (at least 1).
enum class Answer { no, yes, maybe };
/// Whether two selections share a position in every row; `steps`: whether generated tokens are fed back at all.
Answer overlap(const AxisSelection &a, const AxisSelection &b, bool steps);
/// Whether a selection of tokens has the first (or the last) one of the prompt.
Answer holdsFirst(const AxisSelection &selection);
Answer holdsLast(const AxisSelection &selection);

/// Whether two selections are written alike; null is everything.
bool sameSelection(const AxisSelection *a, const AxisSelection *b);
bool sameSelection(const Select *a, const Select *b);

} // namespace nnterp
