// Checks on a plan's JSON that all its readers share.
#include "frontend/plan/PlanChecks.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nnterp {

static bool isNameStart(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
static bool isNameRest(char c) { return isNameStart(c) || (c >= '0' && c <= '9') || c == '-'; }

bool isPlanName(std::string_view text) {
  return !text.empty() && isNameStart(text[0]) && std::all_of(text.begin(), text.end(), isNameRest);
}

std::optional<int64_t> toInteger(std::string_view text) {
  int64_t value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<Range> toRange(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  std::string_view ends[] = {text.substr(0, colon), text.substr(colon + 1)};
  std::optional<int64_t> values[2];
  for (int i : {0, 1})
    if (!ends[i].empty() && !(values[i] = toInteger(ends[i])))
      return std::nullopt;
  return Range{values[0], values[1]};
}

std::string suggest(std::string_view word, const std::vector<std::string> &candidates) {
  std::vector<std::string> found = nearest(word, candidates);
  if (found.empty())
    return "";
  return (found.size() == 1 ? "; the nearest is " : "; the nearest are ") + joinOr(found);
}

std::string shown(const Json &json) {
  constexpr size_t longest = 60;
  switch (json.kind) {
  case Json::Kind::string:
    if (json.string.size() > longest)
      return "a string of " + std::to_string(json.string.size()) + " bytes";
    return "\"" + json.string + "\"";
  case Json::Kind::array:
  case Json::Kind::object:
    return std::string(kindName(json.kind));
  default:
    return json.dump();
  }
}

void PlanChecks::later(Later feature, const SourceLoc &loc) {
  static constexpr struct {
    const char *code, *text;
  } refusals[] = {
      {"NNT0903", "a sweep (\"sweep\", $NAME) is not in this version"},
      {"NNT0904", "an edge (\"from\", \"to\") is not in this version"},
      {"NNT0905", "the operation \"call\" is not in this version"},
  };
  auto [known, first] = refused.try_emplace(feature, diags.all().size());
  if (first)
    diags.error(refusals[size_t(feature)].code, loc, refusals[size_t(feature)].text);
  else
    diags.all()[known->second].notes.push_back({loc, "also used here"});
}

bool PlanChecks::is(const Json &json, Json::Kind kind, std::string_view what) {
  if (json.kind == kind)
    return true;
  error("NNT0104", json.loc, std::string(what) + " must be " + std::string(kindName(kind)) + ", found " + shown(json));
  return false;
}

void PlanChecks::checkKeys(const Json &object, std::string_view what, const std::vector<std::string> &known) {
  for (const Json::Member &member : object.object)
    if (std::find(known.begin(), known.end(), member.key) == known.end())
      error("NNT0501", member.keyLoc,
            "unknown key \"" + member.key + "\" in " + std::string(what) + suggest(member.key, known));
}

const Json *PlanChecks::need(const Json &object, std::string_view key, std::string_view what) {
  const Json *found = object.find(key);
  if (!found)
    error("NNT0502", object.loc, std::string(what) + " needs the key \"" + std::string(key) + "\", which is missing");
  return found;
}

std::optional<std::string> PlanChecks::text(const Json &json, std::string_view what) {
  if (!is(json, Json::Kind::string, what))
    return std::nullopt;
  if (json.string.empty()) {
    error("NNT0504", json.loc, std::string(what) + " is empty");
    return std::nullopt;
  }
  return json.string;
}

bool PlanChecks::checkName(const std::string &name, const SourceLoc &loc, std::string_view what) {
  if (isPlanName(name))
    return true;
  error("NNT0504", loc,
        std::string(what) + " \"" + name +
            "\" is no name: expected letters, digits, \"_\" and \"-\", not beginning with a digit or \"-\"");
  return false;
}

std::optional<std::string> PlanChecks::planName(const Json &json, std::string_view what) {
  if (!is(json, Json::Kind::string, what) || !checkName(json.string, json.loc, what))
    return std::nullopt;
  return json.string;
}

std::optional<double> PlanChecks::number(const Json &json, std::string_view what) {
  if (json.isString() && !json.string.empty() && json.string[0] == '$' && mentionsSweep(json.string, json.loc))
    return std::nullopt;
  if (!json.isNumber()) {
    error("NNT0104", json.loc, std::string(what) + " must be a number, found " + shown(json));
    return std::nullopt;
  }
  // Half a unit beyond the largest float32, where rounding to nearest gives infinity.
  if (std::fabs(json.number) >= 0x1.ffffffp127) {
    error("NNT0509", json.loc, std::string(what) + " " + shown(json) + " does not fit float32 (at most 3.4028235e+38)");
    return std::nullopt;
  }
  return double(float(json.number));
}

std::optional<int64_t> PlanChecks::integer(const Json &json, std::string_view what, int64_t least) {
  if (json.isString() && !json.string.empty() && json.string[0] == '$' && mentionsSweep(json.string, json.loc))
    return std::nullopt;
  if (!is(json, Json::Kind::integer, what))
    return std::nullopt;
  if (json.integer < least) {
    error("NNT0508", json.loc,
          std::string(what) + " must be at least " + std::to_string(least) + ", found " + shown(json));
    return std::nullopt;
  }
  return json.integer;
}

std::optional<std::string> PlanChecks::word(const Json &json, std::string_view what,
                                            const std::vector<std::string> &words) {
  if (!is(json, Json::Kind::string, what))
    return std::nullopt;
  if (std::find(words.begin(), words.end(), json.string) == words.end()) {
    error("NNT0508", json.loc, std::string(what) + " must be " + joinOr(words) + ", found " + shown(json));
    return std::nullopt;
  }
  return json.string;
}

std::optional<std::string> PlanChecks::valueName(const Json &json, std::string_view what) {
  if (!is(json, Json::Kind::string, what) || mentionsSweep(json.string, json.loc))
    return std::nullopt;
  if (std::find(valueNames.begin(), valueNames.end(), json.string) != valueNames.end())
    return json.string;
  error("NNT0512", json.loc,
        "no value " + shown(json) + " in this plan" +
            (valueNames.empty() ? "; it defines no values" : suggest(json.string, valueNames)));
  return std::nullopt;
}

bool PlanChecks::mentionsSweep(std::string_view text, const SourceLoc &loc) {
  size_t dollar = text.find('$');
  if (dollar == std::string_view::npos)
    return false;
  for (; dollar != std::string_view::npos; dollar = text.find('$', dollar + 1)) {
    size_t end = dollar + 1;
    while (end < text.size() && isNameRest(text[end]))
      ++end;
    std::string variable(text.substr(dollar + 1, end - dollar - 1));
    if (!checkName(variable, loc, "the sweep variable") || !sweepNames)
      continue;
    if (std::find(sweepNames->begin(), sweepNames->end(), variable) == sweepNames->end())
      error("NNT0512", loc, "no sweep variable \"" + variable + "\" in this plan" + suggest(variable, *sweepNames));
  }
  later(Later::sweep, loc);
  return true;
}

} // namespace nnterp
