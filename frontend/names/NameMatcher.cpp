// Expands names: index forms against the blocks of the model.
#include "frontend/names/NameMatcher.h"

#include <algorithm>
#include <charconv>

namespace nnterp {

bool NameMatcher::hasRow(int64_t block, Presence presence) const {
  if (presence == Presence::image || presence == Presence::everyBlock)
    return true;
  return (presence == Presence::linearBlock) == (table.layers()[size_t(block)] == BlockKind::linear);
}

std::optional<std::vector<int64_t>> NameMatcher::selectBlocks(int64_t count, bool &explicitly) {
  using Kind = IndexForm::Kind;
  auto form = parseIndexForm(parts.index);
  bool tower = parts.scope == NameParts::Scope::tower;
  if (!form || (tower && (form->kind == Kind::linear || form->kind == Kind::full)))
    return malformedIndex();
  std::vector<int64_t> blocks;
  explicitly = form->kind == Kind::list || form->kind == Kind::matched;
  if (form->kind == Kind::matched) {
    if (matchedIndex < 0)
      return fail("NNT0604", "\"" + pattern + "\": [=] stands for the block that an edit matched; here none has");
    form->list = {matchedIndex};
  }
  if (explicitly) {
    for (int64_t index : form->list) {
      if (index >= count || index < -count) {
        std::string whose = tower ? "the encoder" : "the model";
        return fail("NNT0603", "\"" + pattern + "\": there is no block " + std::to_string(index) + "; " + whose +
                                   " has " + std::to_string(count) + ", from 0 to " + std::to_string(count - 1) +
                                   " (or " + std::to_string(-count) + " to -1)");
      }
      blocks.push_back(index < 0 ? index + count : index);
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
  }
  int64_t begin = 0, end = count;
  if (form->kind == Kind::range) { // clips, as ranges of Python do
    auto bound = [&](int64_t x) {
      return std::clamp<int64_t>(x < 0 ? std::max<int64_t>(x, -count) + count : x, 0, count);
    };
    begin = form->begin ? bound(*form->begin) : 0;
    end = form->end ? bound(*form->end) : count;
  }
  for (int64_t block = begin; block < end; ++block)
    if (tower || (form->kind != Kind::linear && form->kind != Kind::full) ||
        (form->kind == Kind::linear) == (table.layers()[size_t(block)] == BlockKind::linear))
      blocks.push_back(block);
  return blocks;
}

std::optional<int64_t> NameMatcher::segmentNumber() const {
  const std::string &digits = parts.segment;
  int64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::vector<PointRef>> NameMatcher::run() {
  // Without an encoder every name of it has the same cause.
  std::string_view first(parts.key);
  first = first.substr(0, first.find('.'));
  bool ofImages = parts.scope == NameParts::Scope::tower || first == "vision" || first == "visual" ||
                  first == "projector" || pattern == "image_token_mask" || pattern == "tower_output";
  if (ofImages && table.towerLayers() == 0)
    return fail("NNT0607", "\"" + pattern + "\": this checkpoint is text-only and has no image encoder");
  if (parts.malformed)
    return malformedIndex();

  auto found = table.spellings.find(parts.key);
  if (found == table.spellings.end())
    return unknown();
  const PointInfo &row = table.rows()[found->second.row];
  Presence presence = found->second.presence;
  std::optional<int64_t> segment = parts.segment.empty() ? -1 : segmentNumber();
  if (!segment)
    return fail("NNT0604", "\"" + pattern + "\": expected the number of an image behind \"#\", as in \"" +
                               pattern.substr(0, pattern.rfind('#')) + "#0\"");
  std::vector<PointRef> points;
  if (parts.scope == NameParts::Scope::model) {
    points.push_back({&row, -1});
  } else {
    bool explicitly = false;
    int64_t count = parts.scope == NameParts::Scope::tower ? table.towerLayers() : int64_t(table.layers().size());
    auto blocks = selectBlocks(count, explicitly);
    if (!blocks)
      return std::nullopt;
    for (int64_t block : *blocks) {
      if (hasRow(block, presence))
        points.push_back({&row, block, *segment});
      else if (explicitly)
        return absentOnBlock(block, presence);
    }
    if (blocks->empty())
      return fail("NNT0605",
                  "\"" + pattern + "\": the index [" + parts.index + "] selects no block of " + std::to_string(count));
    if (points.empty()) {
      auto having = table.blocksOf(presence);
      return fail("NNT0605", "\"" + pattern + "\": none of the blocks " + indexList(*blocks) + " has the value",
                  {having.empty() ? "no block of this model has it" : "blocks that have it: " + indexList(having)});
    }
  }
  return points;
}

} // namespace nnterp
