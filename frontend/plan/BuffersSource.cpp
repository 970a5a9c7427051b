// Sources in one run: extents that must fit, row by row on axes of tokens, at every generated token where those are
// edited.
#include "frontend/plan/BuffersSource.h"

#include "frontend/plan/Sources.h"

#include <algorithm>
#include <set>

namespace nnterp {

SourcePair::SourcePair(const PlanEdit &edit, const EditSpec &spec, const Region &region, const Region *from)
    : edit(edit), spec(spec), source(spec.sources[0]), region(region), from(from) {
  if (!from) {
    extents = source.shape;
    skipped = spec.ordinals.size() - extents.size();
    return;
  }
  fromPhase = source.place.phase;
  for (size_t axis = 0; axis < from->axes.size(); ++axis)
    if (!(source.squeezeSeq && axis == 1)) {
      fromAxes.push_back(axis);
      extents.push_back(isMean(axis) ? 1 : from->extent(axis, fromPhase));
    }
  skipped = spec.ordinals.size() - extents.size();
  for (size_t i = 0; i < fromAxes.size(); ++i) {
    ours.emplace_back();
    theirs.emplace_back();
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      ours[i].push_back(region.count(regionAxis(i), rank, spec.phase));
    for (size_t row = 0; row < from->rows.size(); ++row)
      theirs[i].push_back(from->count(fromAxes[i], row, fromPhase));
  }
}

bool SourcePair::isMean(size_t fromAxis) const {
  const std::vector<int64_t> &means = source.place.meanAxes;
  return std::find(means.begin(), means.end(), int64_t(fromAxis)) != means.end();
}

std::optional<size_t> SourcePair::rowFor(size_t rank) const {
  if (!from || !from->hasBatch || isMean(0))
    return std::nullopt;
  if (from->rows.size() == 1)
    return 0;
  bool aligned = skipped == 0 && region.hasBatch;
  return aligned && from->rows.size() == region.rows.size() ? std::optional(rank) : std::nullopt;
}

/// Whether both axes count tokens and rows correspond, so that lengths are judged row by row; else whole extents
/// decide.
bool SourcePair::rowByRow(size_t sourceAxis, size_t rank) const {
  return region.axes[regionAxis(sourceAxis)].kind != RegionAxis::entries &&
         from->axes[gatheredAxis(sourceAxis)].kind != RegionAxis::entries && rowFor(rank);
}

bool SourcePair::growsWithRow(size_t sourceAxis, size_t rank) const {
  return source.kind == SourceSpec::Kind::place && from->axes[gatheredAxis(sourceAxis)].kind == RegionAxis::keys &&
         rowByRow(sourceAxis, rank);
}

int64_t SourcePair::entryFor(size_t sourceAxis, size_t rank, int64_t place) const {
  int64_t extent = extents[sourceAxis];
  int64_t have = rowByRow(sourceAxis, rank) ? theirs[sourceAxis][*rowFor(rank)] : extent;
  return extent - (have == 1 ? 1 : ours[sourceAxis][rank] - place);
}

// -- whether the two fit --

bool SourcePair::check(Diagnostics &diags) const {
  if (!region.live(spec.phase))
    return true;
  if (!from)
    return checkValue(diags);
  if (!checkSteps(diags) || !checkExtents(diags) || !checkMeans(diags) || !checkStateTokens(diags))
    return false;
  for (size_t axis = 0; axis < fromAxes.size(); ++axis)
    if (!isMean(fromAxes[axis]) && !checkRows(axis, diags))
      return false;
  return true;
}

/// A value is aligned with the region over the whole run.
bool SourcePair::checkValue(Diagnostics &diags) const {
  Shape want = region.wholeShape();
  for (size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1 && extents[i] != want[skipped + i]) {
      diags.error("NNT0707", edit.source->loc,
                  "the source has shape " + toString(extents) + ", which does not fit the region " + toString(want) +
                      " of " + spec.point + " in this run");
      return false;
    }
  return true;
}

/// A source in the same call has every generated token that the region has.
bool SourcePair::checkSteps(Diagnostics &diags) const {
  if (fromPhase != Phase::gen)
    return true;
  for (int64_t step : region.steps)
    if (from->stepPlace(step) < 0) {
      diags.error("NNT0709", edit.source->loc,
                  region.input->row(region.rows[0]) + ", gen[" + std::to_string(step) +
                      "]: the region has this token, the source selects none of " + source.place.point + " there");
      return false;
    }
  return true;
}

bool SourcePair::checkExtents(Diagnostics &diags) const {
  Shape want = region.shape(spec.phase);
  for (size_t i = 0; i < extents.size(); ++i) {
    size_t axis = regionAxis(i);
    bool growing = spec.phase == Phase::gen && region.axes[axis].kind == RegionAxis::keys;
    if (extents[i] == 1 || extents[i] == want[axis] || rowByRow(i, 0) || growing) // checkRows names the row
      continue;
    diags.error("NNT0707", edit.source->loc,
                "the source has shape " + toString(extents) + ", which does not fit the region " + toString(want) +
                    " of " + spec.point + " in this run");
    return false;
  }
  return true;
}

/// A mean is over real entries; a row of the region that uses one needs some.
bool SourcePair::checkMeans(Diagnostics &diags) const {
  if (source.place.meanAxes.empty())
    return true;
  auto some = [&](size_t row) {
    if (!from->live(row, fromPhase))
      return false;
    for (int64_t axis : source.place.meanAxes)
      if (fromPhase == Phase::gen && from->axes[size_t(axis)].kind == RegionAxis::keys &&
          from->keysAt(size_t(axis), row, region.steps.front()) == 0)
        return false;
    return true;
  };
  auto any = [&] {
    for (size_t row = 0; row < from->rows.size(); ++row)
      if (some(row))
        return true;
    return false;
  };
  for (size_t rank = 0; rank < region.rows.size(); ++rank) {
    std::optional<size_t> row = rowFor(rank);
    if (!region.live(rank, spec.phase) || (row ? some(*row) : any()))
      continue;
    diags.error("NNT0717", edit.source->loc,
                region.input->row(region.rows[rank]) +
                    ": \"mean\" has nothing to average, the source selects nothing of " + source.place.point);
    return false;
  }
  return true;
}

/// A state of one token: every row that uses it selects that token (indices per row may be absent).
bool SourcePair::checkStateTokens(Diagnostics &diags) const {
  for (size_t rank = 0; source.squeezeSeq && !isMean(1) && rank < region.rows.size(); ++rank) {
    std::optional<size_t> row = rowFor(rank);
    if (!row || !region.live(rank, spec.phase) || from->count(1, *row, fromPhase) == 1)
      continue;
    diags.error("NNT0709", edit.source->loc,
                region.input->row(region.rows[rank]) + ": the source has " +
                    count(from->count(1, *row, fromPhase), "token") + " of " + source.place.point +
                    ", a State needs one");
    return false;
  }
  return true;
}

bool SourcePair::checkCounts(size_t sourceAxis, size_t rank, const std::string &where, int64_t have, int64_t want,
                             Diagnostics &diags) const {
  if (have == want || have == 1)
    return true;
  diags.error("NNT0709", edit.source->loc,
              region.input->row(region.rows[rank]) + where + ": the source has " + count(have, "position") + " on \"" +
                  axes(source.place.layout)[gatheredAxis(sourceAxis)] + "\", the region has " + std::to_string(want) +
                  " on \"" + axes(spec.layout)[regionAxis(sourceAxis)] + "\"; as many or one would fit");
  return false;
}

/// Row by row as many tokens as the region, or one: also where another axis leaves a row nothing to edit.
bool SourcePair::checkRows(size_t sourceAxis, Diagnostics &diags) const {
  size_t axis = regionAxis(sourceAxis), fromAxis = gatheredAxis(sourceAxis);
  bool keys = region.axes[axis].kind == RegionAxis::keys;
  for (size_t rank = 0; rank < region.rows.size(); ++rank) {
    bool byRow = rowByRow(sourceAxis, rank), grows = growsWithRow(sourceAxis, rank);
    int64_t have = byRow ? theirs[sourceAxis][*rowFor(rank)] : extents[sourceAxis];
    if (spec.phase != Phase::gen || !(keys || grows)) {
      if (byRow && !checkCounts(sourceAxis, rank, "", have, ours[sourceAxis][rank], diags))
        return false;
      continue;
    }
    if (!byRow && have == region.extent(axis, Phase::gen))
      continue; // averaged over rows: keys count from the right in both
    for (int64_t step : region.steps) {
      int64_t want = keys ? region.keysAt(axis, rank, step) : 1;
      int64_t now = grows ? from->keysAt(fromAxis, *rowFor(rank), step) : have;
      if (want > 0 && !checkCounts(sourceAxis, rank, ", gen[" + std::to_string(step) + "]", now, want, diags))
        return false;
    }
  }
  return true;
}

// -- which calls they are in --

std::vector<int64_t> SourcePair::callsOf(const Region &of, const CallOf &callOf, int64_t calls) const {
  std::set<int64_t> found;
  if (of.place != Place::none)
    found.insert(of.place == Place::promptStart ? 0 : calls - 1);
  for (const RegionAxis &axis : of.axes)
    for (size_t rank = 0; axis.kind == RegionAxis::tokens && rank < of.rows.size(); ++rank)
      for (int64_t position : axis.of(rank))
        found.insert(callOf(*of.input, of.rows[rank], position));
  return {found.begin(), found.end()};
}

bool SourcePair::keepsEarly(const CallOf &callOf, int64_t calls) const {
  if (source.kind != SourceSpec::Kind::kept)
    return false;
  std::vector<int64_t> reads = callsOf(*from, callOf, calls);
  return !reads.empty() && reads.front() != calls - 1;
}

/// Whether a position of the region and the entry that serves it are in different calls.
bool SourcePair::pairsAcross(size_t sourceAxis, const CallOf &callOf) const {
  size_t axis = regionAxis(sourceAxis), fromAxis = gatheredAxis(sourceAxis);
  for (size_t rank = 0; rank < region.rows.size(); ++rank) {
    int64_t place = 0;
    for (int64_t position : region.axes[axis].of(rank)) {
      if (position >= region.length(rank))
        continue;
      int64_t call = callOf(*region.input, region.rows[rank], position), entry = entryFor(sourceAxis, rank, place++);
      std::optional<size_t> only = rowFor(rank);
      for (size_t row = only.value_or(0); row < (only ? *only + 1 : from->rows.size()); ++row) {
        std::vector<int64_t> others = from->axes[fromAxis].of(row);
        others.erase(std::remove_if(others.begin(), others.end(), [&](int64_t p) { return p >= from->length(row); }),
                     others.end());
        int64_t index = entry - indentOf(sourceAxis, row);
        if (index >= 0 && callOf(*from->input, from->rows[row], others[size_t(index)]) != call)
          return true;
      }
    }
  }
  return false;
}

bool SourcePair::readsAcross(const CallOf &callOf, int64_t calls) const {
  if (calls < 2 || !from || spec.phase != Phase::prompt || !region.live(Phase::prompt))
    return false;
  std::vector<int64_t> edits = callsOf(region, callOf, calls), reads = callsOf(*from, callOf, calls), all;
  std::set_union(edits.begin(), edits.end(), reads.begin(), reads.end(), std::back_inserter(all));
  if (reads.empty() || all == std::vector<int64_t>{calls - 1})
    return false; // the last call has every key
  for (int64_t axis : source.place.meanAxes)
    if (from->axes[size_t(axis)].kind != RegionAxis::entries)
      return true;
  bool paired = false;
  for (size_t i = 0; i < fromAxes.size(); ++i) {
    RegionAxis::Kind own = region.axes[regionAxis(i)].kind, other = from->axes[fromAxes[i]].kind;
    if (own == other && own != RegionAxis::entries && pairsAcross(i, callOf))
      return true;
    if (own != other && (own == RegionAxis::keys || other == RegionAxis::keys) &&
        !(own == RegionAxis::keys && other == RegionAxis::entries))
      return true;
    paired |= own == RegionAxis::tokens && other == RegionAxis::tokens;
  }
  return !paired && all.size() > 1;
}

} // namespace nnterp
