// Selections against the real lengths of a run.
#include "frontend/plan/Region.h"

#include <algorithm>

namespace nnterp {

bool Region::live(size_t rank) const {
  return std::all_of(axes.begin(), axes.end(), [&](const RegionAxis &axis) { return axis.count(rank) > 0; });
}

bool Region::live() const {
  for (size_t rank = 0; rank < rows.size(); ++rank)
    if (live(rank))
      return true;
  return false;
}

Shape Region::shape() const {
  Shape result;
  for (const RegionAxis &axis : axes)
    result.push_back(axis.extent);
  return result;
}

namespace {

/// Reads the axes of one selection; every method reports what is wrong and goes on.
class RegionReader {
public:
  RegionReader(const Select *select, const PointRef &point, const Plan &plan, const BatchInfo &batch,
               Diagnostics &diags)
      : select(select), point(point), plan(plan), batch(batch), diags(diags) {}

  std::optional<Region> read() {
    const std::vector<std::string> &names = axes(point.info->layout);
    region.hasBatch = !names.empty() && names[0] == "batch";
    region.batchSize = region.hasBatch ? int64_t(batch.lengths.size()) : 1;
    readRows();
    if (isPlaced(point.info->layout))
      checkPlace();
    for (size_t i = 0; i < names.size() && sound; ++i)
      region.axes.push_back(i == 0 && region.hasBatch ? batchAxis() : axis(names[i], point.info->shape[i]));
    return sound ? std::optional(std::move(region)) : std::nullopt;
  }

private:
  void error(const char *code, const AxisSelection &at, std::string message) {
    sound = false;
    diags.error(code, at.loc, std::move(message));
  }

  void readRows() {
    const AxisSelection *rows = region.hasBatch ? chosen(select, "batch") : nullptr;
    if (!rows) {
      for (int64_t row = 0; row < region.batchSize; ++row)
        region.rows.push_back(row);
      return;
    }
    Picked picked = pick(*rows, region.batchSize);
    if (picked.outside)
      error("NNT0702", *rows,
            "index " + std::to_string(*picked.outside) + " is outside \"batch\", which has " +
                count(region.batchSize, "row"));
    region.batchListed = true;
    region.rows = std::move(picked.indices);
  }

  RegionAxis batchAxis() const {
    RegionAxis result;
    result.size = result.extent = int64_t(region.rows.size());
    return result;
  }

  /// Positions of every chosen row on an axis that has its own extent in each: the row's tokens, or per-row indices.
  void readPerRow(RegionAxis &axis, const std::string &name, const AxisSelection *selection) {
    axis.listed = axis.perRow = true;
    if (selection && !selection->rowValue.empty() && !fitsBatch(*selection))
      return;
    for (int64_t row : region.rows) {
      int64_t size = axis.token ? batch.lengths[size_t(row)] : axis.size;
      static const AxisSelection everything = {{{AxisSelection::Phase::both, Range{}}}, "", true, {}};
      Picked picked = pickRow(selection ? *selection : everything, plan, row, size);
      if (picked.outside) {
        error("NNT0702", *selection,
              "row " + std::to_string(row) + ": index " + std::to_string(*picked.outside) + " is outside \"" + name +
                  "\" of " + point.name() + ", which has " +
                  (axis.token ? count(size, "token") + " in this row" : count(size, "entry")));
        return;
      }
      axis.extent = std::max(axis.extent, int64_t(picked.indices.size()));
      axis.positions.push_back(std::move(picked.indices));
    }
  }

  RegionAxis axis(const std::string &name, const Dim &dim) {
    RegionAxis result;
    result.token = isTokenAxis(name);
    result.size = dim.kind == Dim::fixed ? dim.size : dim.kind == Dim::seq ? batch.seq : region.batchSize;
    const AxisSelection *selection = chosen(select, name);
    if (result.token || (selection && !selection->rowValue.empty())) {
      readPerRow(result, name, selection);
    } else if (selection) {
      result.listed = true;
      result.positions.push_back(pick(*selection, result.size).indices); // in range: resolvePlan has seen the extent
      result.extent = int64_t(result.positions[0].size());
    } else {
      result.extent = result.size;
    }
    return result;
  }

  bool fitsBatch(const AxisSelection &selection) {
    const Shape &shape = rowIndices(selection, plan).shape;
    if (shape[0] == region.batchSize)
      return true;
    error("NNT0706", selection,
          "value \"" + selection.rowValue + "\" has indices for " + count(shape[0], "row") + ", the batch has " +
              count(region.batchSize, "row"));
    return false;
  }

  /// State, ConvState and Memory stand at one token of each row; a `seq` must name it.
  void checkPlace() {
    const AxisSelection *selection = chosen(select, "seq");
    if (!selection || !sound || (!selection->rowValue.empty() && !fitsBatch(*selection)))
      return;
    for (int64_t row : region.rows) {
      int64_t length = batch.lengths[size_t(row)], place = point.info->place == Place::promptStart ? 0 : length - 1;
      Picked picked = pickRow(*selection, plan, row, length);
      if (picked.outside)
        return error("NNT0702", *selection,
                     "row " + std::to_string(row) + ": index " + std::to_string(*picked.outside) +
                         " is outside \"seq\" of " + point.name() + ", which has " + count(length, "token") +
                         " in this row");
      if (std::find(picked.indices.begin(), picked.indices.end(), place) == picked.indices.end())
        return error("NNT0704", *selection,
                     "row " + std::to_string(row) + ": " + point.name() + " stands at " + placeName(*point.info) +
                         ", which this selection lacks");
    }
  }

  const Select *select;
  const PointRef &point;
  const Plan &plan;
  const BatchInfo &batch;
  Diagnostics &diags;
  Region region;
  bool sound = true;
};

} // namespace

std::string count(int64_t n, const std::string &noun) {
  if (n == 1)
    return "1 " + noun;
  bool ies = noun.back() == 'y';
  return std::to_string(n) + " " + (ies ? noun.substr(0, noun.size() - 1) + "ies" : noun + "s");
}

std::string placeName(const PointInfo &info) { return info.place == Place::promptStart ? "prompt[0]" : "prompt[-1]"; }

std::optional<Region> readRegion(const Select *select, const PointRef &point, const Plan &plan, const BatchInfo &batch,
                                 Diagnostics &diags) {
  return RegionReader(select, point, plan, batch, diags).read();
}

} // namespace nnterp
