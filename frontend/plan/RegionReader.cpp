// Selections against the real lengths and images of a run.
#include "frontend/plan/Region.h"

#include <algorithm>

namespace nnterp {

namespace {

/// Reads the axes of one selection; every method reports what is wrong and goes on.
class RegionReader {
public:
  RegionReader(const Select *select, const PointRef &point, const Plan &plan, const InputRows &input,
               Diagnostics &diags)
      : select(select), point(point), plan(plan), input(input), diags(diags) {}

  std::optional<Region> read() {
    const std::vector<std::string> &names = axes(point.info->layout);
    region.input = &input;
    region.place = standsAt(*point.info);
    region.hasBatch = !names.empty() && names[0] == "batch";
    readRows();
    readCalls();
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
      for (int64_t row = 0; row < (region.hasBatch ? input.rows() : 1); ++row)
        region.rows.push_back(row);
      return;
    }
    Picked picked = pick(*rows, input.rows());
    if (picked.outside)
      error("NNT0702", *rows,
            "index " + std::to_string(*picked.outside) + " is outside \"batch\", which has " +
                count(input.rows(), "row"));
    region.batchListed = true;
    region.rows = std::move(picked.indices);
  }

  /// In which calls the region is: on the prompt, and on which generated tokens.
  void readCalls() {
    std::optional<size_t> tokens = tokenAxisOf(point.info->layout);
    const AxisSelection *selection = chosen(select, tokens ? axes(point.info->layout)[*tokens] : "seq");
    region.inPrompt.assign(region.rows.size(), true);
    if (phasesOf(select, *point.info).gen)
      region.steps = pickSteps(selection, input.steps);
    if (isPlaced(point.info->layout) && selection)
      readPlaces(*selection);
  }

  RegionAxis batchAxis() const {
    RegionAxis result;
    result.size = int64_t(region.rows.size());
    return result;
  }

  void outside(const AxisSelection &selection, const std::string &name, int64_t row, const PickedTokens &picked) {
    std::string index = std::to_string(*picked.outside);
    if (picked.inGen)
      return error("NNT0702", selection,
                   "gen[" + index + "] is outside \"" + name + "\" of " + point.name() + ": this run feeds " +
                       count(input.steps, "generated token") + " back");
    error("NNT0702", selection,
          input.row(row) + ": index " + index + " is outside \"" + name + "\" of " + point.name() + ", which has " +
              count(input.lengths[size_t(row)], "token") + " in this row");
  }

  void readTokens(RegionAxis &axis, const std::string &name, const AxisSelection *selection) {
    axis.listed = axis.perRow = true;
    axis.kind = name == "key" ? RegionAxis::keys : RegionAxis::tokens;
    if (selection && !selection->rowValue.empty() && !fitsBatch(*selection))
      return;
    for (int64_t row : region.rows) {
      int64_t length = input.lengths[size_t(row)];
      // What is loaded are keys only; the tokens themselves are not in this run.
      int64_t loaded = axis.kind == RegionAxis::keys ? input.loaded[size_t(row)] : 0;
      PickedTokens picked = pickTokens(selection, plan, row, {loaded, length, input.steps});
      if (picked.outside)
        return outside(*selection, name, row, picked);
      if (axis.kind == RegionAxis::tokens || region.steps.empty())
        picked.indices.erase(std::remove_if(picked.indices.begin(), picked.indices.end(),
                                            [&](int64_t position) { return position >= length; }),
                             picked.indices.end());
      axis.positions.push_back(std::move(picked.indices));
    }
  }

  void readRowIndices(RegionAxis &axis, const std::string &name, const AxisSelection &selection) {
    axis.listed = axis.perRow = true;
    if (!fitsBatch(selection))
      return;
    for (int64_t row : region.rows) {
      Picked picked = pickRow(selection, plan, row, axis.size);
      if (picked.outside)
        return error("NNT0702", selection,
                     input.row(row) + ": index " + std::to_string(*picked.outside) + " is outside \"" + name +
                         "\" of " + point.name() + ", which has " + count(axis.size, "entry"));
      axis.positions.push_back(std::move(picked.indices));
    }
  }

  /// The extent of an axis that counts no tokens of a row.
  int64_t extentOf(const Dim &dim) const {
    switch (dim.kind) {
    case Dim::fixed:
      return dim.size;
    case Dim::patches:
      return input.patchesBefore(input.grids.size());
    case Dim::imageTokens:
      return input.patchesBefore(input.grids.size()) / (input.merge * input.merge);
    case Dim::segment:
      return input.patchesOf(size_t(point.segment));
    case Dim::batch:
    case Dim::seq:
      break;
    }
    return 0;
  }

  void readEntries(RegionAxis &axis, const std::string &name, const AxisSelection &selection) {
    axis.listed = true;
    Picked picked = pick(selection, axis.size);
    if (picked.outside)
      return error("NNT0702", selection,
                   "index " + std::to_string(*picked.outside) + " is outside \"" + name + "\" of " + point.name() +
                       input.label + ", which has " + count(axis.size, "entry"));
    axis.positions.push_back(std::move(picked.indices));
  }

  /// One side of a rectangle; null is all of it.
  std::vector<int64_t> readSide(const AxisSelection *lines, const char *key, size_t image, int64_t size,
                                const std::string &entries) {
    static const AxisSelection all = {{{AxisSelection::Phase::both, Range{}}}, "", true, {}};
    Picked picked = pick(lines ? *lines : all, size);
    if (picked.outside)
      error("NNT0702", *lines,
            "index " + std::to_string(*picked.outside) + " is outside \"" + key + "\" of image " +
                std::to_string(image) + input.label + ", which has " +
                count(size, std::string(key) == "rows" ? "row" : "column") + " of " + entries);
    return std::move(picked.indices);
  }

  /// A rectangle of one image, line after line. What is stored is in order of the cells that become one token, and
  /// within one again line after line; image tokens are whole cells.
  void readPicture(RegionAxis &axis, bool ofPatches, const Picture &picture) {
    axis.listed = true;
    Picked images = pick(*picture.image, int64_t(input.grids.size()));
    if (images.outside)
      return error("NNT0702", *picture.image,
                   "there is no image " + std::to_string(*images.outside) + ": " + input.whole() + " has " +
                       count(int64_t(input.grids.size()), "image"));
    size_t image = size_t(images.indices[0]);
    int64_t merge = input.merge, cell = ofPatches ? merge : 1, unit = ofPatches ? 1 : merge;
    int64_t height = input.grids[image][1] / unit, width = input.grids[image][2] / unit;
    const std::string of = ofPatches ? "patches" : "image tokens";
    std::vector<int64_t> rows = readSide(picture.rows, "rows", image, height, of);
    std::vector<int64_t> cols = readSide(picture.cols, "cols", image, width, of);
    int64_t first = input.patchesBefore(image) / (unit * unit);
    std::vector<int64_t> &positions = axis.positions.emplace_back();
    for (int64_t row : rows)
      for (int64_t col : cols)
        positions.push_back(first + ((row / cell * (width / cell) + col / cell) * cell + row % cell) * cell +
                            col % cell);
  }

  RegionAxis axis(const std::string &name, const Dim &dim) {
    RegionAxis result;
    result.size = extentOf(dim);
    const AxisSelection *selection = chosen(select, name);
    if (isTokenAxis(name))
      readTokens(result, name, selection);
    else if (selection && !selection->rowValue.empty())
      readRowIndices(result, name, *selection);
    else if (selection)
      readEntries(result, name, *selection);
    else if (isChosen(select, name))
      readPicture(result, dim.kind == Dim::patches, pictureOf(select));
    return result;
  }

  bool fitsBatch(const AxisSelection &selection) {
    const Shape &shape = rowIndices(selection, plan).shape;
    if (shape[0] == input.rows())
      return true;
    error("NNT0706", selection,
          "value \"" + selection.rowValue + "\" has indices for " + count(shape[0], "row") + ", the batch has " +
              count(input.rows(), "row"));
    return false;
  }

  /// State, ConvState and Memory stand at one token of each row's prompt; a `seq` that reaches the prompt alone must
  /// name it.
  void readPlaces(const AxisSelection &selection) {
    if (!sound || (!selection.rowValue.empty() && !fitsBatch(selection)))
      return;
    bool promptAlone = !phasesOf(&selection).gen || !phasesOf(select, *point.info).gen;
    for (size_t rank = 0; rank < region.rows.size(); ++rank) {
      int64_t row = region.rows[rank], length = region.length(rank);
      int64_t place = point.info->place == Place::promptStart ? 0 : length - 1;
      PickedTokens picked = pickTokens(&selection, plan, row, {0, length, input.steps});
      if (picked.outside)
        return outside(selection, "seq", row, picked);
      region.inPrompt[rank] = std::find(picked.indices.begin(), picked.indices.end(), place) != picked.indices.end();
      if (!region.inPrompt[rank] && promptAlone)
        return error("NNT0704", selection,
                     input.row(row) + ": " + point.name() + " stands at " + placeName(*point.info) +
                         ", which this selection lacks");
    }
  }

  const Select *select;
  const PointRef &point;
  const Plan &plan;
  const InputRows &input;
  Diagnostics &diags;
  Region region;
  bool sound = true;
};

} // namespace

std::optional<Region> readRegion(const Select *select, const PointRef &point, const Plan &plan, const InputRows &input,
                                 Diagnostics &diags) {
  return RegionReader(select, point, plan, input, diags).read();
}

} // namespace nnterp
