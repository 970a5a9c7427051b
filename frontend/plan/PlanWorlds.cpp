// Reads which worlds a plan declares, and which of them an entry names (spec/plan.md 2).
#include "frontend/plan/PlanReader.h"

#include <algorithm>

namespace nnterp {

std::vector<std::string> Plan::inputNames() const {
  std::vector<std::string> names;
  for (const PlanWorld &world : worlds)
    if (std::find(names.begin(), names.end(), world.input) == names.end())
      names.push_back(world.input);
  return names;
}

void PlanReader::readWorlds(const Json *worlds) {
  plan.declaresWorlds = worlds;
  if (!worlds) {
    plan.worlds = {{"main", "main", plan.json.loc}};
    return;
  }
  if (!is(*worlds, Json::Kind::object, "\"worlds\""))
    return;
  if (worlds->object.empty())
    error("NNT0508", worlds->loc, "\"worlds\" declares none; leave it out to run one, \"main\", on the input \"main\"");
  for (const Json::Member &member : worlds->object) {
    PlanWorld world{member.key, "", member.keyLoc};
    if (is(member.value, Json::Kind::object, "a world")) {
      checkKeys(member.value, "a world", {"input"});
      if (const Json *input = need(member.value, "input", "a world"))
        world.input = planName(*input, "the input").value_or("");
    }
    if (checkName(member.key, member.keyLoc, "the world"))
      plan.worlds.push_back(std::move(world)); // known even if its input is not: what names it is not wrong
  }
}

std::optional<std::string> PlanReader::readWorldName(const Json &json) {
  std::optional<std::string> name = planName(json, "the world");
  if (!name || plan.worlds.empty())
    return std::nullopt;
  std::vector<std::string> known;
  for (const PlanWorld &world : plan.worlds)
    known.push_back(world.name);
  if (std::find(known.begin(), known.end(), *name) != known.end())
    return name;
  error("NNT0512", json.loc,
        "no world " + shown(json) + " in this plan" +
            (plan.declaresWorlds ? suggest(*name, known) : "; it declares no worlds, so the only one is \"main\""));
  return std::nullopt;
}

std::vector<std::string> PlanReader::readWorldNames(const Json *json) {
  std::vector<std::string> given, result;
  const bool all = !json || (json->isString() && json->string == "*");
  if (!all && json->isArray()) {
    if (json->array.empty())
      error("NNT0508", json->loc, "\"world\" is an empty list; expected a world, several, or \"*\" for all");
    for (const Json &one : json->array)
      if (std::optional<std::string> name = readWorldName(one))
        given.push_back(std::move(*name));
  } else if (!all) {
    if (std::optional<std::string> name = readWorldName(*json))
      given.push_back(std::move(*name));
  }
  for (const PlanWorld &world : plan.worlds)
    if (all || std::find(given.begin(), given.end(), world.name) != given.end())
      result.push_back(world.name);
  return result;
}

std::vector<std::string> PlanReader::readEditWorlds(const Json &edit) {
  const Json *world = edit.find("world");
  if (!world && plan.declaresWorlds) {
    need(edit, "world", "an edit of a plan with worlds");
    return {};
  }
  return readWorldNames(world);
}

} // namespace nnterp
