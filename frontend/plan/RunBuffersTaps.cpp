// Layouts of taps: shapes, calls that count, steps, and what scores hold where a key comes later than its query.
#include "frontend/plan/RunBuffersTaps.h"

#include <algorithm>

namespace nnterp {

Shape TapLayout::callShape() const {
  Shape result = shape;
  if (stepAxis < 0)
    return result;
  if (newAxis)
    result.erase(result.begin() + stepAxis);
  else
    result[size_t(stepAxis)] = steps.empty() ? 0 : 1;
  return result;
}

namespace {

class TapReader {
public:
  TapReader(const TapSpec &tap, const PlanTap &written, const PointInfo &info, const Region &region)
      : tap(tap), select(pointerTo(written.select)), info(info), region(region) {}

  TapLayout read() {
    layout.key = tap.key;
    layout.world = tap.gather.world;
    layout.phase = tap.phase;
    if (region.hasBatch)
      layout.rows = region.rows;
    const bool live = region.live(tap.phase);
    for (size_t axis = 0; axis < region.axes.size(); ++axis)
      layout.shape.push_back(live || region.axes[axis].kind == RegionAxis::entries ? extent(axis) : 0);
    if (tap.phase == Phase::prompt) {
      layout.onlyFirst = region.place == Place::promptStart;
      layout.onlyLast = region.place == Place::promptEnd;
    } else if (tap.phase == Phase::gen) {
      placeSteps(live);
    }
    if (info.layout == Layout::Pattern && live && info.lastWord() == "attention_scores")
      placeMask();
    return std::move(layout);
  }

private:
  /// Of a whole axis of tokens: as long as the padded input, or as all that is there from the longest row's first token
  /// on.
  int64_t extent(size_t axis) const {
    RegionAxis::Kind kind = region.axes[axis].kind;
    bool whole = !chosen(select, axes(info.layout)[axis]);
    if (!whole || kind == RegionAxis::entries)
      return region.extent(axis, tap.phase);
    const InputRows &input = *region.input;
    if (kind == RegionAxis::tokens)
      return tap.phase == Phase::prompt ? input.seq : 1;
    if (tap.phase == Phase::gen)
      return input.longest() + input.steps;
    if (region.place != Place::none)
      return input.longest();
    return input.seq + *std::max_element(input.loaded.begin(), input.loaded.end());
  }

  void placeSteps(bool live) {
    if (live)
      layout.steps = region.steps;
    std::optional<size_t> tokens = tokenAxisOf(info.layout);
    layout.newAxis = !tokens;
    layout.stepAxis = int64_t(tokens.value_or(1));
    if (layout.newAxis)
      layout.shape.insert(layout.shape.begin() + 1, 0);
    layout.shape[size_t(layout.stepAxis)] = int64_t(layout.steps.size());
  }

  void placeMask() {
    layout.masked = true;
    for (size_t rank = 0; rank < region.rows.size(); ++rank) {
      int64_t loaded = region.input->loaded[size_t(region.rows[rank])], length = region.length(rank);
      auto aligned = [&](std::vector<int64_t> positions, size_t axis) {
        std::vector<int64_t> result(size_t(layout.shape[axis]) - positions.size(), -1);
        for (int64_t position : positions)
          result.push_back(loaded + position); // counted from the row's first token
        return result;
      };
      std::vector<int64_t> queries = region.axes[2].of(rank), keys;
      if (tap.phase == Phase::gen) {
        queries.clear();
        for (int64_t step : layout.steps)
          queries.push_back(length + step);
      }
      for (int64_t key : region.axes[3].of(rank))
        if (tap.phase == Phase::gen || key < length)
          keys.push_back(key);
      layout.queries.push_back(aligned(std::move(queries), 2));
      layout.keys.push_back(aligned(std::move(keys), 3));
    }
  }

  const TapSpec &tap;
  const Select *select;
  const PointInfo &info;
  const Region &region;
  TapLayout layout;
};

} // namespace

TapLayout layoutOf(const TapSpec &tap, const PlanTap &written, const PointInfo &info, const Region &region) {
  return TapReader(tap, written, info, region).read();
}

} // namespace nnterp
