// Layouts and their axes: spec/plan.md section 4.
#include "frontend/names/PointTable.h"

namespace nnterp {

namespace {

struct LayoutRow {
  Layout layout;
  std::string_view name;
  std::vector<std::string> axes;
};

/// One row per enumerator, in the enum's order.
const std::vector<LayoutRow> &layoutRows() {
  static const std::vector<LayoutRow> rows = {
      {Layout::Tokens, "Tokens", {"batch", "seq"}},
      {Layout::Residual, "Residual", {"batch", "seq", "hidden"}},
      {Layout::Logits, "Logits", {"batch", "seq", "vocab"}},
      {Layout::LinearQK, "LinearQK", {"batch", "seq", "heads", "key_dim"}},
      {Layout::LinearV, "LinearV", {"batch", "seq", "heads", "value_dim"}},
      {Layout::Gates, "Gates", {"batch", "seq", "heads"}},
      {Layout::State, "State", {"batch", "heads", "key_dim", "value_dim"}},
      {Layout::States, "States", {"batch", "seq", "heads", "key_dim", "value_dim"}},
      {Layout::ConvState, "ConvState", {"batch", "channels", "window"}},
      {Layout::Memory, "Memory", {"batch", "heads", "key", "head_dim"}},
      {Layout::Queries, "Queries", {"batch", "heads", "seq", "head_dim"}},
      {Layout::Keys, "Keys", {"batch", "heads", "seq", "head_dim"}},
      {Layout::Values, "Values", {"batch", "heads", "seq", "head_dim"}},
      {Layout::Pattern, "Pattern", {"batch", "heads", "query", "key"}},
      {Layout::HeadOutputs, "HeadOutputs", {"batch", "seq", "heads", "head_dim"}},
      {Layout::Neurons, "Neurons", {"batch", "seq", "neurons"}},
      {Layout::Channels, "Channels", {"batch", "seq", "channels"}},
      {Layout::Scalar, "Scalar", {"batch", "seq", "one"}},
      {Layout::RouterLogits, "RouterLogits", {"batch", "seq", "experts"}},
      {Layout::ExpertWeights, "ExpertWeights", {"batch", "seq", "slots"}},
      {Layout::ExpertIndices, "ExpertIndices", {"batch", "seq", "slots"}},
      {Layout::ExpertOutputs, "ExpertOutputs", {"batch", "seq", "slots", "hidden"}},
      {Layout::NextTokenProbs, "NextTokenProbs", {"batch", "vocab"}},
      {Layout::Sizes, "Sizes", {"sizes"}},
      {Layout::Patches, "Patches", {"images", "patches", "hidden"}},
      {Layout::PatchNeurons, "PatchNeurons", {"images", "patches", "neurons"}},
      {Layout::PatchQKV, "PatchQKV", {"images", "heads", "patches", "head_dim"}},
      {Layout::PatchHeads, "PatchHeads", {"images", "patches", "heads", "head_dim"}},
      {Layout::PatchRows, "PatchRows", {"patches", "hidden"}},
      {Layout::ImageFeatures, "ImageFeatures", {"image_tokens", "hidden"}},
      {Layout::SegmentPattern, "SegmentPattern", {"images", "heads", "query_patch", "key_patch"}},
      {Layout::ImageTokenMask, "ImageTokenMask", {"batch", "seq"}},
  };
  return rows;
}

} // namespace

std::string_view name(Layout layout) { return layoutRows()[size_t(layout)].name; }

std::optional<Layout> layoutByName(std::string_view name) {
  for (const LayoutRow &row : layoutRows())
    if (row.name == name)
      return row.layout;
  return std::nullopt;
}

const std::vector<std::string> &axes(Layout layout) { return layoutRows()[size_t(layout)].axes; }

bool isTokenAxis(std::string_view axis) { return axis == "seq" || axis == "query" || axis == "key"; }

bool isImageAxis(std::string_view axis) { return isPictureAxis(axis) || axis == "query_patch" || axis == "key_patch"; }

bool isPictureAxis(std::string_view axis) { return axis == "patches" || axis == "image_tokens"; }

bool isPictureKey(std::string_view key) { return key == "image" || key == "rows" || key == "cols"; }

bool isPlaced(Layout layout) {
  return layout == Layout::State || layout == Layout::ConvState || layout == Layout::Memory;
}

std::string toString(const Dim &dim) {
  switch (dim.kind) {
  case Dim::batch:
    return "B";
  case Dim::seq:
    return "S";
  case Dim::patches:
    return "P";
  case Dim::imageTokens:
    return "M";
  case Dim::segment:
    return "n";
  case Dim::fixed:
    break;
  }
  return std::to_string(dim.size);
}

} // namespace nnterp
