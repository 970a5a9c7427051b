// Tables and other buffers: which an entry has, and what they are called in each program, input and world.
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Selection.h"

namespace nnterp {

std::string Resolver::bufferName(const Site &site, const std::string &part, bool byRow) const {
  // Worlds on one input read the prompt alike, so that the same edit of both is the same computation. What they
  // generate, and when their rows end, is their own.
  std::string name = site.prefix + "." + part;
  if (byRow && result.declaresWorlds)
    name += "/" + (site.phase == Phase::prompt ? site.world->input : site.world->name);
  return site.phase == Phase::prompt ? name : name + "@gen";
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

/// The table of one axis of an edited value, along the whole axis; none where everything is meant and neither rows nor
/// calls differ.
AxisTable Resolver::editTable(const Site &site, Layout layout, size_t axis, const Dim &dim,
                              const AxisSelection *selection) {
  const std::string &name = axes(layout)[axis];
  if (!selection && !isTokenAxis(name) && !isPlacedBatch(layout, axis))
    return {};
  bool perRow = isPerRow(name, selection);
  return addTable(site, name, perRow || name == "batch", perRow,
                  dim.kind == Dim::fixed ? dim.size : BufferSpec::dynamic);
}

/// The tables of a gathered value; their extents depend on the numbers of the plan, so they are dynamic.
std::vector<AxisTable> Resolver::gatherTables(const Site &site, const std::string &part, Layout layout,
                                              const Select *select) {
  std::vector<AxisTable> tables;
  const std::vector<std::string> &names = axes(layout);
  for (size_t axis = 0; axis < names.size(); ++axis) {
    const AxisSelection *selection = chosen(select, names[axis]);
    if (!selection && !isTokenAxis(names[axis]) && !isPlacedBatch(layout, axis)) {
      tables.push_back({});
      continue;
    }
    bool perRow = isPerRow(names[axis], selection);
    tables.push_back(addTable(site, part + names[axis], perRow || names[axis] == "batch", perRow, BufferSpec::dynamic));
  }
  return tables;
}

} // namespace nnterp
