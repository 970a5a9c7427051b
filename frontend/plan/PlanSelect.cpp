// Reads selections (spec/plan.md 4): what stands for each axis in a `select`.
#include "frontend/plan/PlanReader.h"

#include <algorithm>

namespace nnterp {

using Part = AxisSelection::Part;
using Phase = AxisSelection::Phase;

/// Axes on which each batch row may have indices of its own.
static bool takesRowIndices(const std::string &axis) {
  for (const char *name : {"seq", "query", "key", "heads", "experts", "slots", "vocab"})
    if (axis == name)
      return true;
  return false;
}

/// A bare index or range counts within the prompt on token axes.
static Phase barePhase(const std::string &axis) { return isTokenAxis(axis) ? Phase::prompt : Phase::both; }

std::optional<Select> PlanReader::readSelect(const Json &json) {
  if (!is(json, Json::Kind::object, "\"select\""))
    return std::nullopt;
  Select select;
  select.loc = json.loc;
  for (const Json::Member &member : json.object)
    if (std::optional<AxisSelection> axis = readAxis(member.key, member.value))
      select.axes[member.key] = std::move(*axis);
  return select;
}

std::optional<AxisSelection> PlanReader::readAxis(const std::string &axis, const Json &json) {
  AxisSelection selection;
  selection.loc = json.loc;
  bool isOne = json.kind == Json::Kind::integer || (json.isString() && json.string == "*");
  if (axis == "image" && !isOne) {
    if (!json.isString() || !mentionsSweep(json.string, json.loc))
      error("NNT0510", json.loc,
            "\"image\" is one image: expected its number, from 0 or from -1 backwards, found " + shown(json));
    return std::nullopt;
  }
  if (json.isObject()) {
    if (!takesRowIndices(axis)) {
      error("NNT0510", json.loc,
            "\"" + axis + "\" takes no indices per row; seq, query, key, heads, experts, slots and vocab do");
      return std::nullopt;
    }
    checkKeys(json, "indices per row", {"value"});
    if (const Json *value = need(json, "value", "indices per row"))
      selection.rowValue = valueName(*value, "\"value\"").value_or("");
    return selection;
  }
  if (!json.isArray()) {
    std::optional<Part> part = readPart(axis, json);
    if (!part)
      return std::nullopt;
    selection.all = json.isString() && json.string == "*";
    selection.parts.push_back(std::move(*part));
    return selection;
  }
  if (json.array.empty()) {
    error("NNT0510", json.loc,
          "\"" + axis + "\": an empty list selects nothing; leave the axis out to select all of it");
    return std::nullopt;
  }
  bool afterIndex = false; // plain indices standing side by side are one part
  for (const Json &entry : json.array) {
    std::optional<Part> part = readPart(axis, entry);
    if (!part)
      continue;
    bool isIndex = entry.kind == Json::Kind::integer;
    if (isIndex && afterIndex)
      std::get<0>(selection.parts.back().indices).push_back(entry.integer);
    else
      selection.parts.push_back(std::move(*part));
    afterIndex = isIndex;
  }
  return selection;
}

std::optional<Part> PlanReader::readPart(const std::string &axis, const Json &json) {
  if (json.kind == Json::Kind::integer)
    return Part{barePhase(axis), std::vector<int64_t>{json.integer}};
  if (json.isString())
    return readText(axis, json);
  malformed(axis, json);
  return std::nullopt;
}

/// An index, a range, `*`, or indices between commas: what stands inside prompt[…] and gen[…].
static std::optional<std::variant<std::vector<int64_t>, Range>> readInner(std::string_view text) {
  if (text == "*")
    return Range{};
  if (std::optional<Range> range = toRange(text))
    return *range;
  std::vector<int64_t> indices;
  while (true) {
    size_t comma = text.find(',');
    std::optional<int64_t> index = toInteger(text.substr(0, comma));
    if (!index)
      return std::nullopt;
    indices.push_back(*index);
    if (comma == std::string_view::npos)
      return indices;
    text.remove_prefix(comma + 1);
  }
}

std::optional<Part> PlanReader::readText(const std::string &axis, const Json &json) {
  std::string_view text = json.string;
  if (mentionsSweep(text, json.loc))
    return std::nullopt;
  if (text == "*")
    return Part{Phase::both, Range{}};
  if (std::optional<Range> range = toRange(text))
    return Part{barePhase(axis), *range};
  for (auto [word, phase] : {std::pair<std::string_view, Phase>{"prompt[", Phase::prompt}, {"gen[", Phase::gen}}) {
    if (text.substr(0, word.size()) != word || text.back() != ']')
      continue;
    if (!isTokenAxis(axis)) {
      error("NNT0510", json.loc,
            "\"" + axis + "\" counts no tokens, so it takes no " + shown(json) + "; seq, query and key do");
      return std::nullopt;
    }
    auto indices = readInner(text.substr(word.size(), text.size() - word.size() - 1));
    if (!indices)
      break;
    return Part{phase, std::move(*indices)};
  }
  malformed(axis, json);
  return std::nullopt;
}

void PlanReader::malformed(const std::string &axis, const Json &json) {
  std::string expected = "an index, a list, a range \"a:b\", \"*\"";
  if (isTokenAxis(axis))
    expected += ", \"prompt[…]\", \"gen[…]\"";
  if (takesRowIndices(axis))
    expected += ", {\"value\": NAME}";
  if (json.isString() && toInteger(json.string))
    expected = "an index without quotes: " + json.string;
  error("NNT0510", json.loc, "\"" + axis + "\": " + shown(json) + " selects nothing; expected " + expected);
}

} // namespace nnterp
