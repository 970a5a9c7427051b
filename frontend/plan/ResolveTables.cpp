// Tables and other buffers: which an entry has, and what they are called in each program, input and world.
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Selection.h"

namespace nnterp {

std::string Resolver::bufferName(const Site &site, const std::string &part, bool byRow) const {
  // Worlds on one input read the prompt and its images alike, so that the same edit of both is the same computation.
  // What they generate, and when their rows end, is their own.
  std::string name = site.prefix + "." + part;
  if (byRow && result.declaresWorlds)
    name += "/" + (site.phase == Phase::gen ? site.world->name : site.world->input);
  return site.phase == Phase::gen ? name + "@gen" : name;
}

void Resolver::addBuffer(const Site &site, const std::string &name, DType dtype, Shape dims) {
  if (bufferNames.insert(name).second)
    result.buffers.push_back({name, dtype, std::move(dims), site.phase, false});
}

AxisTable Resolver::addTable(const Site &site, const std::string &part, bool byRow, bool perRow, int64_t extent) {
  AxisTable table{bufferName(site, part, byRow), perRow};
  addBuffer(site, table.buffer, DType::i64, perRow ? Shape{BufferSpec::dynamic, extent} : Shape{extent});
  return table;
}

/// Whether the rows of a value need a table of their own without being selected: a value with a place is in some calls
/// only.
static bool isPlacedBatch(Layout layout, size_t axis) { return isPlaced(layout) && axis == 0; }

static bool isPerRow(const std::string &axis, const AxisSelection *selection) {
  return isTokenAxis(axis) || (selection && !selection->rowValue.empty());
}

/// Whether a table's contents rest on the rows of an input, or on the size of its images.
static bool isOfInput(const std::string &axis, bool perRow) { return perRow || axis == "batch" || isImageAxis(axis); }

/// The table of one axis of an edited value, along the whole axis; none where everything is meant and neither rows nor
/// calls differ.
AxisTable Resolver::editTable(const Site &site, const PointInfo &info, size_t axis, const Select *select) {
  const std::string &name = axes(info.layout)[axis];
  const Dim &dim = info.shape[axis];
  if (!isChosen(select, name) && !isTokenAxis(name) && !isPlacedBatch(info.layout, axis))
    return {};
  bool perRow = isPerRow(name, chosen(select, name));
  return addTable(site, name, isOfInput(name, perRow), perRow, dim.kind == Dim::fixed ? dim.size : BufferSpec::dynamic);
}

/// The tables of a gathered value; their extents depend on the numbers of the plan, so they are dynamic.
std::vector<AxisTable> Resolver::gatherTables(const Site &site, const std::string &part, Layout layout,
                                              const Select *select) {
  std::vector<AxisTable> tables;
  const std::vector<std::string> &names = axes(layout);
  for (size_t axis = 0; axis < names.size(); ++axis) {
    if (!isChosen(select, names[axis]) && !isTokenAxis(names[axis]) && !isPlacedBatch(layout, axis)) {
      tables.push_back({});
      continue;
    }
    bool perRow = isPerRow(names[axis], chosen(select, names[axis]));
    tables.push_back(addTable(site, part + names[axis], isOfInput(names[axis], perRow), perRow, BufferSpec::dynamic));
  }
  return tables;
}

} // namespace nnterp
