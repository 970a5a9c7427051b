// The printout of a model: its modules as a tree, with the named values at each.
#include "tools/nnterp/report/Points.h"

#include "tools/nnterp/report/Units.h"

#include <algorithm>
#include <map>
#include <memory>

namespace nnterp {

namespace {

/// A module with its values and sub-modules, in the order in which they first occur.
struct Module {
  std::string label;                ///< its name; a group of blocks has its parentheses already
  const PointInfo *value = nullptr; ///< set on leaves only
  std::string values;               ///< of a leaf: text behind the label
  std::vector<std::unique_ptr<Module>> children;

  Module &child(const std::string &name) {
    for (auto &known : children)
      if (known->label == name && !known->value)
        return *known;
    children.push_back(std::make_unique<Module>());
    children.back()->label = name;
    return *children.back();
  }
};

class TreeBuilder {
public:
  explicit TreeBuilder(const PointTable &table) : table(table) {}

  /// Of aliases that exist on one kind of block only, those of this kind are shown.
  Presence blockPresence = Presence::everyBlock;

  /// Enters the rows that `wanted` accepts; `skip` characters of their names are the host's.
  template <class Wanted> void enter(Module &host, Wanted wanted, size_t skip) {
    for (const PointInfo &row : table.rows())
      if (wanted(row))
        enterRow(host, row, row.name.substr(skip), skip);
  }

private:
  void enterRow(Module &host, const PointInfo &row, std::string path, size_t skip) {
    Module *module = &host;
    for (size_t dot; (dot = path.find('.')) != std::string::npos; path = path.substr(dot + 1))
      module = &module->child(path.substr(0, dot));
    Module &leaf = *module->children.emplace_back(std::make_unique<Module>());
    leaf.label = path;
    leaf.value = &row;
    leaf.values = shapeText(row);
    std::vector<std::string> names;
    for (const std::string &alias : row.aliases)
      if (shown(row, alias))
        names.push_back(alias.substr(skip));
    if (!names.empty())
      leaf.values += "  = " + joined(names, ", ");
    if (row.access == Access::readOnly)
      leaf.values += "  (read-only)";
  }

  bool shown(const PointInfo &row, const std::string &alias) const {
    Presence presence = presenceOf(row, alias);
    return presence == row.presence || presence == blockPresence;
  }

  const PointTable &table;
};

void print(const Module &module, const std::string &indent, std::string &out) {
  // Labels of the values of one module are aligned with each other.
  size_t width = 0;
  for (auto &child : module.children)
    if (child->value)
      width = std::max(width, displayWidth(child->label));
  for (size_t i = 0; i < module.children.size(); ++i) {
    const Module &child = *module.children[i];
    bool last = i + 1 == module.children.size();
    out += indent + (last ? "└─ " : "├─ ");
    if (child.value)
      out += padded(child.label, width + 2) + child.values;
    else
      out += child.label[0] == '(' ? child.label : "(" + child.label + ")";
    out += "\n";
    print(child, indent + (last ? "   " : "│  "), out);
  }
}

std::string groupLabel(const std::vector<int64_t> &blocks, const std::string &what) {
  std::string label = "(" + indexList(blocks) + "): ";
  if (blocks.size() > 1)
    label += std::to_string(blocks.size()) + " x ";
  return label + what;
}

} // namespace

std::string pointsTree(const PointTable &table, const ModelConfig &config) {
  TreeBuilder builder(table);
  Module root;
  auto firstBlock = std::find_if(table.rows().begin(), table.rows().end(), [](auto &row) { return row.inBlock(); });
  auto before = [&](const PointInfo &row) { return &row < &*firstBlock; };
  builder.enter(
      root, [&](const PointInfo &row) { return row.presence == Presence::model && before(row); }, 0);

  const std::string tower = "vision.layers[j].";
  auto inTower = [&](const PointInfo &row) { return row.name.compare(0, tower.size(), tower) == 0; };
  if (table.towerLayers()) {
    builder.enter(
        root, [&](const PointInfo &row) { return row.presence == Presence::image && !inTower(row); }, 0);
    std::vector<int64_t> blocks;
    for (int64_t j = 0; j < table.towerLayers(); ++j)
      blocks.push_back(j);
    Module &layers = root.child("vision").child("layers");
    Module &group = layers.child(groupLabel(blocks, "encoder block"));
    builder.enter(group, inTower, tower.size());
  }

  Module &layers = root.child("layers");
  const BlockKind first = table.layers().front(); // a model has at least one block
  const BlockKind second = first == BlockKind::linear ? BlockKind::full : BlockKind::linear;
  for (BlockKind kind : {first, second}) {
    Presence mixer = kind == BlockKind::linear ? Presence::linearBlock : Presence::fullBlock;
    auto blocks = table.blocksOf(mixer);
    if (blocks.empty())
      continue;
    Module &group = layers.child(groupLabel(blocks, std::string(kindWord(kind)) + " block"));
    builder.blockPresence = mixer;
    builder.enter(
        group, [&](const PointInfo &row) { return row.presence == Presence::everyBlock || row.presence == mixer; }, 0);
  }
  builder.enter(
      root, [&](const PointInfo &row) { return row.presence == Presence::model && !before(row); }, 0);

  std::string out = (config.architecture.empty() ? config.modelType : config.architecture) + "\n";
  print(root, "", out);
  return out;
}

} // namespace nnterp
