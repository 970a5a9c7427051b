// Extents and positions of regions.
#include "frontend/plan/Region.h"

#include <algorithm>

namespace nnterp {

int64_t InputRows::longest() const {
  int64_t most = 0;
  for (size_t row = 0; row < lengths.size(); ++row)
    most = std::max(most, loaded[row] + lengths[row]);
  return most;
}

int64_t InputRows::patchesBefore(size_t image) const {
  int64_t sum = 0;
  for (size_t before = 0; before < image; ++before)
    sum += patchesOf(before);
  return sum;
}

int64_t Region::count(size_t axis, size_t rank, Phase phase) const {
  const RegionAxis &own = axes[axis];
  if (own.kind == RegionAxis::tokens && phase == Phase::gen)
    return steps.empty() ? 0 : 1;
  if (own.kind == RegionAxis::keys && phase == Phase::prompt)
    return std::count_if(own.of(rank).begin(), own.of(rank).end(), [&](int64_t key) { return key < length(rank); });
  return own.listed ? int64_t(own.of(rank).size()) : own.size;
}

int64_t Region::keysAt(size_t axis, size_t rank, int64_t step) const {
  const std::vector<int64_t> &keys = axes[axis].of(rank);
  return std::count_if(keys.begin(), keys.end(), [&](int64_t key) { return key <= length(rank) + step; });
}

int64_t Region::wholeCount(size_t axis, size_t rank) const {
  if (axes[axis].kind == RegionAxis::tokens)
    return int64_t(axes[axis].of(rank).size() + steps.size());
  return count(axis, rank, Phase::gen);
}

int64_t Region::extent(size_t axis, Phase phase) const {
  if (!axes[axis].perRow)
    return count(axis, 0, phase);
  int64_t most = 0;
  for (size_t rank = 0; rank < rows.size(); ++rank)
    most = std::max(most, count(axis, rank, phase));
  return most;
}

int64_t Region::wholeExtent(size_t axis) const {
  if (!axes[axis].perRow)
    return wholeCount(axis, 0);
  int64_t most = 0;
  for (size_t rank = 0; rank < rows.size(); ++rank)
    most = std::max(most, wholeCount(axis, rank));
  return most;
}

Shape Region::shape(Phase phase) const {
  Shape result;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    result.push_back(extent(axis, phase));
  return result;
}

Shape Region::wholeShape() const {
  Shape result;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    result.push_back(wholeExtent(axis));
  return result;
}

bool Region::live(size_t rank, Phase phase) const {
  if (phase == Phase::gen ? steps.empty() : !inPrompt[rank])
    return false;
  for (size_t axis = 0; axis < axes.size(); ++axis)
    if (count(axis, rank, phase) == 0)
      return false;
  return true;
}

bool Region::live(Phase phase) const {
  for (size_t rank = 0; rank < rows.size(); ++rank)
    if (live(rank, phase))
      return true;
  return false;
}

int64_t Region::stepPlace(int64_t step) const {
  auto found = std::lower_bound(steps.begin(), steps.end(), step);
  return found != steps.end() && *found == step ? found - steps.begin() : -1;
}

std::string count(int64_t n, const std::string &noun) {
  if (n == 1)
    return "1 " + noun;
  bool ies = noun.back() == 'y';
  return std::to_string(n) + " " + (ies ? noun.substr(0, noun.size() - 1) + "ies" : noun + "s");
}

std::string placeName(const PointInfo &info) { return info.place == Place::promptStart ? "prompt[0]" : "prompt[-1]"; }

} // namespace nnterp
