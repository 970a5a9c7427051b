// The region of a selection in one run: which batch rows, and which positions along every other axis (spec/plan.md 4).
#pragma once

#include "frontend/plan/Resolved.h"
#include "frontend/plan/Selection.h"

namespace nnterp {

/// What a region holds along one axis but the batch.
struct RegionAxis {
  bool token = false;  ///< counts real tokens: every row has its own positions
  bool listed = false; ///< `positions` is filled; otherwise every entry is meant
  bool perRow = false; ///< one list per chosen batch row, otherwise one for all
  int64_t size = 0;    ///< extent of the value's axis
  int64_t extent = 0;  ///< extent of the region: that of the longest row
  std::vector<std::vector<int64_t>> positions;

  /// Positions of the chosen row number `rank`; only where `listed`.
  const std::vector<int64_t> &of(size_t rank) const { return positions[perRow ? rank : 0]; }
  int64_t count(size_t rank) const { return listed ? int64_t(of(rank).size()) : size; }
};

struct Region {
  bool hasBatch = false;
  bool batchListed = false;     ///< `batch` was selected
  int64_t batchSize = 1;        ///< B
  std::vector<int64_t> rows;    ///< the chosen batch rows, in order; a value without batch has one row
  std::vector<RegionAxis> axes; ///< one per axis of the layout; the batch axis' own entry has only extents

  /// Whether a chosen row has a position on every axis.
  bool live(size_t rank) const;
  /// Whether any row is live.
  bool live() const;
  Shape shape() const;
};

/// "1 row", "3 entries".
std::string count(int64_t n, const std::string &noun);
/// `prompt[0]` or `prompt[-1]`: where a placed value stands.
std::string placeName(const PointInfo &info);

/// Reads a selection against a run; reports indices that do not exist, in any chosen row, per-row values that do
/// not fit the batch, and selections that miss the place of a placed value. Errors: NNT0702, NNT0704, NNT0706.
std::optional<Region> readRegion(const Select *select, const PointRef &point, const Plan &plan, const BatchInfo &batch,
                                 Diagnostics &diags);

} // namespace nnterp
