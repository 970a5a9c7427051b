// Writes the table of named values as text and as JSON.
#include "tools/nnterp/report/Points.h"

#include "tools/nnterp/report/Units.h"

#include <algorithm>

namespace nnterp {

namespace {

constexpr size_t kWidth = 120;

std::string accessText(const PointInfo &row) { return row.access == Access::readWrite ? "read-write" : "read-only"; }

std::string placeText(const PointInfo &row) {
  switch (row.place) {
  case Place::promptStart:
    return "stands at prompt[0] and each gen[k]";
  case Place::promptEnd:
    return row.layout == Layout::Memory ? "stands at prompt[-1]" : "stands at prompt[-1] and each gen[k]";
  case Place::none:
    break;
  }
  return "";
}

std::vector<std::string> aliasPatterns(const PointInfo &row) {
  std::vector<std::string> list;
  for (const std::string &alias : row.aliases)
    list.push_back(patternOf(row, alias));
  return list;
}

bool matches(const PointInfo &row, const std::string &filter) {
  if (patternOf(row, row.name).find(filter) != std::string::npos)
    return true;
  for (const std::string &alias : aliasPatterns(row))
    if (alias.find(filter) != std::string::npos)
      return true;
  return false;
}

/// One line for a run of rows that exist in the same place.
std::string heading(const PointTable &table, const PointInfo &row) {
  auto count = [&](Presence presence, const char *kind) {
    auto blocks = table.blocksOf(presence);
    if (blocks.empty())
      return std::string("No ") + kind + "block in this model";
    return std::to_string(blocks.size()) + " " + kind + (blocks.size() == 1 ? "block: " : "blocks: ") +
           indexList(blocks);
  };
  switch (row.presence) {
  case Presence::everyBlock:
    return count(Presence::everyBlock, "");
  case Presence::linearBlock:
    return count(Presence::linearBlock, "linear ");
  case Presence::fullBlock:
    return count(Presence::fullBlock, "full-attention ");
  case Presence::image:
    return "Image encoder, " + std::to_string(table.towerLayers()) + " blocks (" + row.condition + ")";
  case Presence::model:
    break;
  }
  return "Model";
}

std::string summary(const PointTable &table, DType dtype) {
  auto linear = table.blocksOf(Presence::linearBlock).size(), full = table.blocksOf(Presence::fullBlock).size();
  return table.family() + ": " + std::to_string(table.layers().size()) + " blocks, " + std::to_string(linear) +
         " linear and " + std::to_string(full) + " full-attention; a run in " + std::string(name(dtype)) +
         ".\nB rows of the batch, S tokens" +
         (table.towerLayers() ? ", P patches, M image tokens, n patches of one image" : "") +
         ". Cost: bytes that one tap writes.\n";
}

} // namespace

DType dtypeWithoutWeights(const ModelConfig &config) {
  if (config.fp8)
    return DType::bf16;
  return config.dtype == DType::bf16 ? DType::bf16 : DType::f32;
}

std::string pointsText(const PointTable &table, const ModelConfig &config, DType dtype, const std::string &filter) {
  struct Line {
    const PointInfo *row;
    std::vector<std::string> cells;
  };
  std::vector<Line> lines;
  std::vector<size_t> widths(6, 0);
  for (const PointInfo &row : table.rows()) {
    if (!matches(row, filter))
      continue;
    TapCost cost = tapCost(row, dtype);
    std::string per = cost.unit == "run" ? "" : " / " + cost.unit;
    lines.push_back({&row,
                     {patternOf(row, row.name), shapeText(row), std::string(name(dtypeOf(row, dtype))),
                      std::string(name(row.layout)), accessText(row), bytesText(double(cost.bytes)) + per}});
    for (size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], displayWidth(lines.back().cells[i]));
  }
  if (lines.empty())
    return "no named value contains \"" + filter + "\"\n";

  std::string text = summary(table, dtype);
  const PointInfo *previous = nullptr;
  for (const Line &line : lines) {
    if (!previous || previous->presence != line.row->presence)
      text += "\n" + heading(table, *line.row) + "\n";
    previous = line.row;
    std::string columns = "  ";
    for (size_t i = 0; i < widths.size(); ++i)
      columns += i + 1 < widths.size() ? padded(line.cells[i], widths[i] + 2) : line.cells[i];
    text += columns + "\n";
    std::string said = line.row->where + ": " + line.row->what;
    if (std::string place = placeText(*line.row); !place.empty())
      said += "; " + place;
    text += wrapped(said, 6, kWidth);
    if (!line.row->aliases.empty())
      text += wrapped("= " + joined(aliasPatterns(*line.row), ", "), 6, kWidth);
  }
  return text;
}

std::string pointsJson(const PointTable &table, const ModelConfig &config, DType dtype, const std::string &filter) {
  auto strings = [](const std::vector<std::string> &words) {
    std::vector<Json> list;
    for (const std::string &word : words)
      list.push_back(Json::of(word));
    return Json::list(std::move(list));
  };
  std::vector<Json> rows;
  for (const PointInfo &row : table.rows()) {
    if (!matches(row, filter))
      continue;
    std::vector<Json> shape, blocks;
    for (const Dim &dim : row.shape)
      shape.push_back(dim.kind == Dim::fixed ? Json::of(dim.size) : Json::of(toString(dim)));
    for (int64_t block : table.blocksOf(row.presence))
      blocks.push_back(Json::of(block));
    TapCost cost = tapCost(row, dtype);
    Json object = Json::dict();
    object.set("name", Json::of(patternOf(row, row.name)));
    object.set("aliases", strings(aliasPatterns(row)));
    object.set("layout", Json::of(std::string(name(row.layout))));
    object.set("axes", strings(axes(row.layout)));
    object.set("shape", Json::list(std::move(shape)));
    object.set("dtype", Json::of(std::string(name(dtypeOf(row, dtype)))));
    object.set("access", Json::of(accessText(row)));
    object.set("condition", Json::of(row.condition));
    if (row.inBlock())
      object.set("blocks", Json::list(std::move(blocks)));
    object.set("where", Json::of(row.where));
    object.set("what", Json::of(row.what));
    if (std::string place = placeText(row); !place.empty())
      object.set("place", Json::of(place));
    object.set("tap_bytes", Json::of(cost.bytes));
    object.set("tap_bytes_per", Json::of(cost.unit));
    rows.push_back(std::move(object));
  }
  Json kinds = Json::list();
  for (BlockKind kind : table.layers())
    kinds.array.push_back(Json::of(kind == BlockKind::linear ? "linear" : "full"));
  Json result = Json::dict();
  result.set("family", Json::of(table.family()));
  result.set("dtype", Json::of(std::string(name(dtype))));
  result.set("blocks", std::move(kinds));
  result.set("encoder_blocks", Json::of(table.towerLayers()));
  result.set("points", Json::list(std::move(rows)));
  return result.dump(2) + "\n";
}

} // namespace nnterp
