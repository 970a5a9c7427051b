// Sources in one run: extents that must fit, row by row on axes of tokens, and the tables that say which entry serves
// which position.
#include "frontend/plan/Buffers.h"

#include "frontend/plan/Sources.h"

#include <algorithm>

namespace nnterp {

SourceFiller::SourceFiller(const PlanEdit &edit, const EditSpec &spec, const Region &region, const Region *from,
                           Diagnostics &diags)
    : edit(edit), spec(spec), source(spec.sources[0]), region(region), from(from), diags(diags) {
  if (!from) {
    extents = source.shape;
    skipped = spec.ordinals.size() - extents.size();
    return;
  }
  for (size_t axis = 0; axis < from->axes.size(); ++axis)
    if (!(source.squeezeSeq && axis == 1)) {
      fromAxes.push_back(axis);
      extents.push_back(isMean(axis) ? 1 : from->axes[axis].extent);
    }
  skipped = spec.ordinals.size() - extents.size();
}

bool SourceFiller::isMean(size_t fromAxis) const {
  const std::vector<int64_t> &means = source.place.meanAxes;
  return std::find(means.begin(), means.end(), int64_t(fromAxis)) != means.end();
}

void SourceFiller::fill(std::map<std::string, Tensor> &buffers) {
  if (!checkExtents() || !checkMeans() || !from || !checkTokens())
    return;
  for (size_t axis = 0; axis < source.axes.size(); ++axis)
    if (!fillAxis(axis, buffers))
      return;
}

/// Whether gathered rows and the region's rows correspond, so that an axis of tokens is judged row by row.
std::optional<size_t> SourceFiller::rowFor(size_t rank) const {
  if (!from || !from->hasBatch || isMean(0))
    return std::nullopt;
  if (from->rows.size() == 1)
    return 0;
  bool aligned = skipped == 0 && region.hasBatch;
  return aligned && from->rows.size() == region.rows.size() ? std::optional(rank) : std::nullopt;
}

bool SourceFiller::checkExtents() {
  Shape have(extents.begin(), extents.end()), want = region.shape();
  for (size_t i = 0; i < extents.size(); ++i) {
    size_t axis = skipped + i;
    bool byRow =
        from && from->axes[fromAxes[i]].token && region.axes[axis].token && rowFor(0); // fillAxis names the row
    if (extents[i] == 1 || extents[i] == want[axis] || byRow)
      continue;
    diags.error("NNT0707", edit.source->loc,
                "the source has shape " + toString(have) + ", which does not fit the region " + toString(want) +
                    " of " + spec.point + " in this run");
    return false;
  }
  return true;
}

/// A mean is over real entries; a row of the region that uses one needs some.
bool SourceFiller::checkMeans() {
  if (!from || source.place.meanAxes.empty())
    return true;
  for (size_t rank = 0; rank < region.rows.size(); ++rank) {
    std::optional<size_t> row = rowFor(rank);
    if (!region.live(rank) || (row ? from->live(*row) : from->live()))
      continue;
    diags.error("NNT0717", edit.source->loc,
                "row " + std::to_string(region.rows[rank]) +
                    ": \"mean\" has nothing to average, the source selects nothing of " + source.place.point);
    return false;
  }
  return true;
}

/// A state of one token: every row that uses it selects that token (indices per row may be absent).
bool SourceFiller::checkTokens() {
  for (size_t rank = 0; source.squeezeSeq && !isMean(1) && rank < region.rows.size(); ++rank) {
    std::optional<size_t> row = rowFor(rank);
    if (!row || !region.live(rank) || from->axes[1].count(*row) == 1)
      continue;
    diags.error("NNT0709", edit.source->loc,
                "row " + std::to_string(region.rows[rank]) + ": the source has " +
                    count(from->axes[1].count(*row), "token") + " of " + source.place.point + ", a State needs one");
    return false;
  }
  return true;
}

/// Row by row as many tokens as the region, or one: also where another axis leaves a row nothing to edit.
bool SourceFiller::checkRow(size_t axis, size_t fromAxis, size_t rank) {
  std::optional<size_t> row = rowByRow(axis, fromAxis, rank);
  if (!row)
    return true;
  int64_t have = from->axes[fromAxis].count(*row), want = region.axes[axis].count(rank);
  if (have == want || have == 1)
    return true;
  diags.error("NNT0709", edit.source->loc,
              "row " + std::to_string(region.rows[rank]) + ": the source has " + count(have, "position") + " on \"" +
                  axes(source.place.layout)[fromAxis] + "\", the region has " + std::to_string(want) + " on \"" +
                  axes(spec.layout)[axis] + "\"; as many or one would fit");
  return false;
}

/// The gathered row to compare with where both axes count tokens and rows correspond; else whole extents decide.
std::optional<size_t> SourceFiller::rowByRow(size_t axis, size_t fromAxis, size_t rank) const {
  return region.axes[axis].token && from->axes[fromAxis].token ? rowFor(rank) : std::nullopt;
}

/// The source entry for the region's place number `place` of row `rank` on one axis.
int64_t SourceFiller::entryFor(size_t axis, size_t fromAxis, size_t rank, int64_t place) const {
  const RegionAxis &own = region.axes[axis], &theirs = from->axes[fromAxis];
  std::optional<size_t> row = rowByRow(axis, fromAxis, rank);
  int64_t have = row ? theirs.count(*row) : theirs.extent;
  return theirs.extent - (have == 1 ? 1 : own.count(rank) - place);
}

bool SourceFiller::fillAxis(size_t sourceAxis, std::map<std::string, Tensor> &buffers) {
  const AxisTable &table = source.axes[sourceAxis].table;
  size_t axis = skipped + sourceAxis, fromAxis = fromAxes[sourceAxis];
  if (table.buffer.empty() || table.buffer == spec.ordinals[axis].buffer)
    return true; // identity, or the edit's own table
  // The ordinals, each replaced by the entry that serves it.
  Tensor filled = ordinalTable(region, axis, table.perRow);
  int64_t *entries = filled.as<int64_t>();
  const RegionAxis &own = region.axes[axis];
  if (axis == 0 && region.hasBatch) {
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      entries[region.rows[rank]] = extents[sourceAxis] == 1 ? 0 : int64_t(rank);
  } else if (!table.perRow) {
    if (extents[sourceAxis] == 1)
      std::for_each(entries, entries + own.size, [](int64_t &entry) { entry = std::min<int64_t>(entry, 0); });
  } else {
    for (size_t rank = 0; rank < region.rows.size(); ++rank) {
      if (!checkRow(axis, fromAxis, rank))
        return false;
      const std::vector<int64_t> &positions = own.of(rank);
      for (size_t place = 0; place < positions.size(); ++place)
        entries[region.rows[rank] * own.size + positions[place]] = entryFor(axis, fromAxis, rank, int64_t(place));
    }
  }
  buffers[table.buffer] = std::move(filled);
  return true;
}

} // namespace nnterp
