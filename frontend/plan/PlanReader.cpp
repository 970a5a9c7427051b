// Reads a plan's JSON: its keys, inputs, edits and taps.
#include "frontend/plan/PlanReader.h"

#include <algorithm>
#include <filesystem>

namespace nnterp {

static size_t errorCount(const Diagnostics &diags) {
  return size_t(std::count_if(diags.all().begin(), diags.all().end(),
                              [](const Diagnostic &d) { return d.severity == Severity::error; }));
}

std::optional<Plan> readPlan(const Json &json, const std::string &directory, Diagnostics &diags) {
  return PlanReader(directory, diags).read(json);
}

std::optional<Plan> PlanReader::read(const Json &json) {
  size_t before = errorCount(diags);
  if (!is(json, Json::Kind::object, "a plan"))
    return std::nullopt;
  plan.json = json;
  checkKeys(json, "a plan", {"nnterp_plan", "worlds", "inputs", "values", "edits", "taps", "sweep"});
  readVersion(json);
  // Declarations come first, wherever the file has them: edits and taps refer to them.
  if (const Json *sweep = json.find("sweep"))
    readSweep(*sweep);
  readWorlds(json.find("worlds"));
  if (const Json *inputs = json.find("inputs"))
    readInputs(*inputs);
  if (const Json *values = json.find("values"))
    readValues(*values);
  if (const Json *edits = json.find("edits"))
    readEdits(*edits);
  if (const Json *taps = json.find("taps"))
    readTaps(*taps);
  if (!json.find("taps") || (json.find("taps")->isArray() && json.find("taps")->array.empty())) {
    PlanTap logits;
    logits.at = "logits";
    logits.atLoc = logits.loc = json.loc;
    logits.worlds = readWorldNames(nullptr);
    plan.taps.push_back(std::move(logits));
  }
  if (errorCount(diags) != before)
    return std::nullopt;
  return std::move(plan);
}

void PlanReader::readVersion(const Json &json) {
  const Json *version = need(json, "nnterp_plan", "a plan");
  if (version && !(version->kind == Json::Kind::integer && version->integer == 1))
    error("NNT0503", version->loc, "\"nnterp_plan\" must be 1, the version of the format, found " + shown(*version));
}

std::string PlanReader::resolvePath(const std::string &file) const {
  return plan.directory.empty() ? file : (std::filesystem::path(plan.directory) / file).string();
}

/// Absolute, so that it means the same to whoever opens it.
std::string PlanReader::readPath(const Json &json, std::string_view what) {
  std::optional<std::string> path = text(json, what);
  std::error_code failure;
  return path ? std::filesystem::absolute(resolvePath(*path), failure).lexically_normal().string() : "";
}

// -- inputs --

void PlanReader::readInputs(const Json &inputs) {
  if (!is(inputs, Json::Kind::object, "\"inputs\""))
    return;
  for (const Json::Member &member : inputs.object) {
    bool named = checkName(member.key, member.keyLoc, "the input");
    std::optional<PlanInput> input = readInput(member.value);
    if (named && input)
      plan.inputs[member.key] = std::move(*input);
  }
}

std::optional<PlanInput> PlanReader::readInput(const Json &json) {
  if (!is(json, Json::Kind::object, "an input"))
    return std::nullopt;
  const std::vector<std::string> kinds = {"prompt", "chat", "ids", "file"};
  checkKeys(json, "an input", kinds);
  size_t given = size_t(std::count_if(kinds.begin(), kinds.end(), [&](const std::string &k) { return json.find(k); }));
  if (given != 1) {
    error("NNT0515", json.loc,
          "an input must have exactly one of " + joinOr(kinds) + ", found " + std::to_string(given));
    return std::nullopt;
  }
  PlanInput input;
  input.loc = json.loc;
  auto filled = [&](const Json &list, std::string_view what) {
    if (is(list, Json::Kind::array, what) && !list.array.empty())
      return true;
    if (list.isArray())
      error("NNT0515", list.loc, std::string(what) + " is empty");
    return false;
  };
  if (const Json *prompts = json.find("prompt"); prompts && filled(*prompts, "\"prompt\""))
    for (const Json &prompt : prompts->array)
      if (is(prompt, Json::Kind::string, "a prompt"))
        input.prompts.push_back(prompt.string);
  if (const Json *rows = json.find("ids"); rows && filled(*rows, "\"ids\""))
    for (const Json &row : rows->array)
      if (filled(row, "a row of \"ids\"")) {
        std::vector<int64_t> &ids = input.ids.emplace_back();
        for (const Json &id : row.array)
          if (std::optional<int64_t> value = integer(id, "a token id", 0))
            ids.push_back(*value);
      }
  if (const Json *chat = json.find("chat"))
    input.chat = readPath(*chat, "\"chat\"");
  if (const Json *file = json.find("file"))
    input.file = readPath(*file, "\"file\"");
  return input;
}

// -- edits --

void PlanReader::readEdits(const Json &edits) {
  if (!is(edits, Json::Kind::array, "\"edits\""))
    return;
  for (const Json &edit : edits.array) {
    if (!is(edit, Json::Kind::object, "an edit"))
      continue;
    if (edit.find("from") || edit.find("to"))
      readEdge(edit);
    else
      readEdit(edit);
  }
}

void PlanReader::readEdit(const Json &json) {
  PlanEdit edit;
  edit.position = plan.edits.size();
  edit.loc = json.loc;
  checkKeys(json, "an edit", {"id", "world", "at", "select", "do"});
  if (const Json *id = json.find("id"))
    checkId(*id, edit.id);
  edit.worlds = readEditWorlds(json);
  if (const Json *at = need(json, "at", "an edit")) {
    edit.at = readAt(*at, "\"at\"").value_or("");
    edit.atLoc = at->loc;
  }
  if (const Json *select = json.find("select"))
    edit.select = readSelect(*select);
  if (const Json *action = need(json, "do", "an edit")) {
    edit.doLoc = action->loc;
    readDo(*action, edit);
  }
  plan.edits.push_back(std::move(edit));
}

void PlanReader::checkId(const Json &id, std::string &result) {
  std::optional<std::string> name = planName(id, "\"id\"");
  if (!name)
    return;
  auto [first, added] = ids.try_emplace(*name, id.loc);
  if (!added)
    diags.error("NNT0505", id.loc, "the id \"" + *name + "\" is used twice; ids are unique")
        .notes.push_back({first->second, "it was used here first"});
  result = *name;
}

std::optional<std::string> PlanReader::readAt(const Json &at, std::string_view what) {
  std::optional<std::string> name = text(at, what);
  if (name)
    mentionsSweep(*name, at.loc);
  return name;
}

std::optional<When> PlanReader::readWhen(const Json &when) {
  std::optional<std::string> given = word(when, "\"when\"", {"before", "after"});
  if (!given)
    return std::nullopt;
  return *given == "before" ? When::before : When::after;
}

// -- taps --

void PlanReader::readTaps(const Json &taps) {
  if (!is(taps, Json::Kind::array, "\"taps\""))
    return;
  for (const Json &tap : taps.array)
    if (std::optional<PlanTap> read = readTap(tap))
      plan.taps.push_back(std::move(*read));
}

std::optional<PlanTap> PlanReader::readTap(const Json &json) {
  PlanTap tap;
  tap.loc = tap.atLoc = json.loc;
  if (json.isString()) {
    tap.at = readAt(json, "a tap").value_or("");
    tap.worlds = readWorldNames(nullptr);
    return tap;
  }
  if (!json.isObject()) {
    error("NNT0104", json.loc, "a tap must be a string or an object, found " + shown(json));
    return std::nullopt;
  }
  checkKeys(json, "a tap", {"at", "select", "world", "when", "as"});
  if (const Json *at = need(json, "at", "a tap")) {
    tap.at = readAt(*at, "\"at\"").value_or("");
    tap.atLoc = at->loc;
  }
  if (const Json *select = json.find("select"))
    tap.select = readSelect(*select);
  tap.worlds = readWorldNames(json.find("world"));
  if (const Json *when = json.find("when"))
    tap.when = readWhen(*when).value_or(When::after);
  if (const Json *as = json.find("as"))
    tap.as = planName(*as, "\"as\"").value_or("");
  return tap;
}

} // namespace nnterp
