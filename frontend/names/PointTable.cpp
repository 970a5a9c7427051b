// The table of named values: its points, and names as plans write them looked up in it.
#include "frontend/names/PointTable.h"

#include "frontend/names/NameMatcher.h"
#include "frontend/names/NameParts.h"

#include <algorithm>
#include <cassert>

namespace nnterp {

namespace {

constexpr std::string_view kTowerPrefix = "vision.layers[j].";

bool startsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

/// A row's name, or an alias, written as a plan may write it; any index form serves for the key.
std::string anyPattern(const PointInfo &row, const std::string &spelling) {
  return row.inBlock() ? "layers[*]." + spelling : spelling;
}

} // namespace

Presence presenceOf(const PointInfo &row, std::string_view spelling) {
  if (row.presence != Presence::everyBlock)
    return row.presence;
  if (startsWith(spelling, "linear_attn."))
    return Presence::linearBlock;
  if (startsWith(spelling, "self_attn."))
    return Presence::fullBlock;
  return Presence::everyBlock;
}

std::string patternOf(const PointInfo &row, std::string_view spelling) {
  switch (presenceOf(row, spelling)) {
  case Presence::everyBlock:
    return "layers[*]." + std::string(spelling);
  case Presence::linearBlock:
    return "layers[linear]." + std::string(spelling);
  case Presence::fullBlock:
    return "layers[full]." + std::string(spelling);
  case Presence::image:
    if (startsWith(spelling, kTowerPrefix))
      return "vision.layers[*]." + std::string(spelling.substr(kTowerPrefix.size()));
    break;
  case Presence::model:
    break;
  }
  return std::string(spelling);
}

std::string_view kindWord(BlockKind kind) { return kind == BlockKind::linear ? "linear" : "full-attention"; }

std::string indexList(const std::vector<int64_t> &numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i)
      text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

std::string_view PointInfo::lastWord() const {
  std::string_view word = std::string_view(name).substr(name.rfind('.') + 1);
  return word.substr(0, word.find('#'));
}

std::string PointRef::name() const {
  if (!info)
    return "";
  if (layer < 0)
    return info->name;
  std::string index = "layers[" + std::to_string(layer) + "].";
  if (info->inBlock())
    return index + info->name;
  assert(startsWith(info->name, kTowerPrefix));
  std::string name = "vision." + index + info->name.substr(kTowerPrefix.size());
  if (segment >= 0)
    name.replace(name.rfind('#') + 1, std::string::npos, std::to_string(segment));
  return name;
}

PointTable::PointTable(std::vector<PointInfo> rows, std::vector<BlockKind> layers, std::string family,
                       int64_t towerLayers)
    : table(std::move(rows)), kinds(std::move(layers)), familyName(std::move(family)), towerDepth(towerLayers) {
  for (size_t i = 0; i < table.size(); ++i) {
    auto enter = [&](const std::string &spelling) {
      bool added =
          spellings.emplace(splitName(anyPattern(table[i], spelling)).key, Spelling{i, presenceOf(table[i], spelling)})
              .second;
      assert((added ||
              table[spellings.find(splitName(anyPattern(table[i], spelling)).key)->second.row].name == table[i].name) &&
             "two rows share a spelling");
      (void)added;
    };
    enter(table[i].name);
    for (const std::string &alias : table[i].aliases)
      enter(alias);
  }
}

const PointInfo *PointTable::row(std::string_view standardName) const {
  for (const PointInfo &info : table)
    if (info.name == standardName)
      return &info;
  return nullptr;
}

std::vector<int64_t> PointTable::blocksOf(Presence presence) const {
  std::vector<int64_t> blocks;
  for (size_t i = 0; i < kinds.size(); ++i)
    if (presence == Presence::everyBlock || (presence == Presence::linearBlock && kinds[i] == BlockKind::linear) ||
        (presence == Presence::fullBlock && kinds[i] == BlockKind::full))
      blocks.push_back(int64_t(i));
  return blocks;
}

std::vector<PointRef> PointTable::points() const {
  std::vector<PointRef> list;
  auto firstBlockRow = std::find_if(table.begin(), table.end(), [](const PointInfo &row) { return row.inBlock(); });
  auto behindBlocks = std::find_if(firstBlockRow, table.end(), [](const PointInfo &row) { return !row.inBlock(); });
  auto addModel = [&](auto from, auto to) {
    for (; from != to; ++from)
      if (from->presence == Presence::model)
        list.push_back({&*from, -1});
  };
  addModel(table.begin(), firstBlockRow);
  for (size_t layer = 0; layer < kinds.size(); ++layer)
    for (auto row = firstBlockRow; row != behindBlocks; ++row)
      if (row->presence == Presence::everyBlock ||
          (row->presence == Presence::linearBlock) == (kinds[layer] == BlockKind::linear))
        list.push_back({&*row, int64_t(layer)});
  addModel(behindBlocks, table.end());
  return list;
}

std::vector<PointRef> PointTable::imagePoints() const {
  std::vector<PointRef> list;
  auto inBlock = [](const PointInfo &row) { return startsWith(row.name, kTowerPrefix); };
  auto first = std::find_if(table.begin(), table.end(), inBlock);
  auto behind = std::find_if_not(first, table.end(), inBlock);
  auto add = [&](auto from, auto to, int64_t layer) {
    for (; from != to; ++from)
      if (from->inEncoder())
        list.push_back({&*from, layer});
  };
  add(table.begin(), first, -1);
  for (int64_t layer = 0; layer < towerDepth; ++layer)
    add(first, behind, layer);
  add(behind, table.end(), -1);
  return list;
}

std::optional<std::vector<PointRef>> PointTable::expand(std::string_view pattern, NameError &error,
                                                        int64_t matchedIndex) const {
  return NameMatcher(*this, pattern, matchedIndex, error).run();
}

std::string PointTable::canonical(std::string_view pattern) const {
  NameParts parts = splitName(pattern);
  auto found = parts.malformed ? spellings.end() : spellings.find(parts.key);
  if (found == spellings.end())
    return std::string(pattern);
  std::string name = table[found->second.row].name;
  if (startsWith(name, kTowerPrefix))
    name = name.substr(kTowerPrefix.size());
  if (!parts.segment.empty())
    name = name.substr(0, name.rfind('#') + 1) + parts.segment;
  return parts.prefix + name;
}

} // namespace nnterp
