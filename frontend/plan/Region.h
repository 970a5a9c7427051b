// The region of a selection in one run: which batch rows, and which positions along every other axis, over the prompt and all
// generated tokens (spec/plan.md 4).
#pragma once

#include "frontend/plan/Resolved.h"
#include "frontend/plan/Selection.h"

#include <array>

namespace nnterp {

/// The rows of one input, as a run knows them.
struct InputRows {
  std::string label;                    ///< behind the number of a row in messages: ` of input "clean"`, or nothing
  std::vector<int64_t> lengths;         ///< tokens of the prompt
  std::vector<int64_t> loaded;          ///< tokens of a loaded state, before those
  int64_t seq = 0;                      ///< S, the padded length
  int64_t steps = 0;                    ///< generated tokens that are fed back
  std::vector<std::array<int64_t, 3>> grids; ///< t, h, w in patches of its images
  int64_t merge = 1;                    ///< patches along the side of a cell that becomes one token

  int64_t rows() const { return int64_t(lengths.size()); }
  int64_t longest() const;              ///< of the rows with what was loaded
  std::string row(int64_t row) const { return "row " + std::to_string(row) + label; }
  std::string whole() const { return label.empty() ? "the input" : label.substr(sizeof(" of ") - 1); }
  /// Patches of an image, and of those before it.
  int64_t patchesOf(size_t image) const { return grids[image][0] * grids[image][1] * grids[image][2]; }
  int64_t patchesBefore(size_t image) const;
};

/// What a region holds along one axis but the batch.
struct RegionAxis {
  enum Kind {
    entries, ///< of an axis without tokens
    tokens,  ///< `seq` or `query`: positions are those of the prompt; generated tokens are Region::steps
    keys     ///< `key`: positions over the whole run, prompt[0] is 0; generated keys only where the region reaches generated tokens
  } kind = entries;
  bool listed = false; ///< `positions` is filled; otherwise every entry is meant
  bool perRow = false; ///< one list per chosen batch row, otherwise one for all
  int64_t size = 0;    ///< extent of the value's axis, where that is no axis of tokens
  std::vector<std::vector<int64_t>> positions;

  /// Positions of the chosen row number `rank`; only where `listed`.
  const std::vector<int64_t> &of(size_t rank) const { return positions[perRow ? rank : 0]; }
};

struct Region {
  bool hasBatch = false;
  bool batchListed = false;     ///< `batch` was selected
  std::vector<int64_t> rows;    ///< the chosen batch rows, in order; a value without batch has one row
  std::vector<RegionAxis> axes; ///< one per axis of the layout; the batch axis' own entry has only its size
  std::vector<bool> inPrompt;   ///< by rank: the prompt's place is selected; values with tokens: true
  std::vector<int64_t> steps;   ///< the selected generated tokens, ascending
  Place place = Place::none;    ///< of values without an axis of tokens
  const InputRows *input = nullptr;

  /// Tokens of the prompt of a chosen row.
  int64_t length(size_t rank) const { return input->lengths[size_t(rows[rank])]; }
  /// Positions of a row on an axis in one phase: of a call on a generated token one on `tokens`, and on `keys` those of the whole run.
  int64_t count(size_t axis, size_t rank, Phase phase) const;
  /// Keys of a row that are there when a generated token is fed.
  int64_t keysAt(size_t axis, size_t rank, int64_t step) const;
  /// Positions over the whole run.
  int64_t wholeCount(size_t axis, size_t rank) const;
  /// Extents: those of the longest row.
  int64_t extent(size_t axis, Phase phase) const;
  int64_t wholeExtent(size_t axis) const;
  Shape shape(Phase phase) const;
  Shape wholeShape() const;
  /// Whether a chosen row has a position on every axis; whether any row has.
  bool live(size_t rank, Phase phase) const;
  bool live(Phase phase) const;
  /// The place of a generated token among `steps`, or -1.
  int64_t stepPlace(int64_t step) const;
};

/// "1 row", "3 entries".
std::string count(int64_t n, const std::string &noun);
/// `prompt[0]` or `prompt[-1]`: where a placed value stands.
std::string placeName(const PointInfo &info);

/// Reads a selection against a run; reports indices that do not exist, in any chosen row, per-row values that do
/// not fit the batch, and selections that miss the place of a placed value. `input` must outlive the region.
/// Errors: NNT0702, NNT0704, NNT0706.
std::optional<Region> readRegion(const Select *select, const PointRef &point, const Plan &plan, const InputRows &input,
                                 Diagnostics &diags);

} // namespace nnterp
