// Reads what an edit does: the operation, its arguments and its source (spec/plan.md 5).
#include "frontend/plan/PlanReader.h"

#include <algorithm>

namespace nnterp {

/// In the order of enum Op.
static constexpr std::string_view opNames[] = {"replace", "fill",        "zero",        "scale", "affine",
                                               "clamp",   "lerp",        "project_out", "mask",  "add",
                                               "drop",    "drop_renorm", "reroute",     "force"};

std::string_view name(Op op) { return opNames[size_t(op)]; }

const std::vector<std::string> &operationNames() {
  static const std::vector<std::string> names(std::begin(opNames), std::end(opNames));
  return names;
}

/// `add` has its factor and `call` its arguments beside it; no other operation has company.
static bool standsBeside(const std::string &key, const Json &action) {
  return (key == "scale" && action.find("add")) || (key == "with" && action.find("call"));
}

void PlanReader::readDo(const Json &action, PlanEdit &edit) {
  if (!is(action, Json::Kind::object, "\"do\""))
    return;
  const std::vector<std::string> &known = operationNames();
  std::vector<std::string> given;
  bool sound = true;
  for (const Json::Member &member : action.object) {
    if (standsBeside(member.key, action))
      continue;
    if (member.key == "call" || std::find(known.begin(), known.end(), member.key) != known.end()) {
      given.push_back(member.key);
    } else {
      error("NNT0507", member.keyLoc, "unknown operation \"" + member.key + "\"" + suggest(member.key, known));
      sound = false;
    }
  }
  if (!sound)
    return;
  if (given.size() != 1) {
    std::string found = given.empty() ? "none" : joinOr({given[0]});
    for (size_t i = 1; i < given.size(); ++i)
      found += (i + 1 < given.size() ? ", " : " and ") + joinOr({given[i]});
    error("NNT0506", action.loc,
          "\"do\" must have exactly one operation (\"add\" may have \"scale\" beside it), found " + found);
    return;
  }
  const Json &argument = *action.find(given[0]);
  if (given[0] == "call")
    return readCall(argument, action);
  edit.op = Op(std::find(known.begin(), known.end(), given[0]) - known.begin());
  readOperation(argument, action, edit);
}

void PlanReader::readOperation(const Json &argument, const Json &action, PlanEdit &edit) {
  std::string op(name(edit.op));
  switch (edit.op) {
  case Op::replace:
  case Op::scale:
  case Op::project_out:
    edit.source = readSource(argument);
    return;
  case Op::add: {
    edit.source = readSource(argument);
    const Json *factor = action.find("scale");
    edit.numbers = {factor ? number(*factor, "\"scale\"").value_or(1) : 1};
    return;
  }
  case Op::fill:
    edit.numbers = {number(argument, "\"fill\"").value_or(0)};
    return;
  case Op::zero:
  case Op::mask:
    if (is(argument, Json::Kind::object, "the argument of \"" + op + "\"") && !argument.object.empty())
      error("NNT0508", argument.loc, "\"" + op + "\" takes no argument; write {\"" + op + "\": {}}");
    return;
  case Op::affine:
    return readNumbers(argument, "\"affine\"", {"scale", "shift"}, edit);
  case Op::clamp:
    return readClamp(argument, edit);
  case Op::lerp:
    return readLerp(argument, edit);
  case Op::drop:
  case Op::drop_renorm:
  case Op::reroute:
  case Op::force:
    return readExperts(argument, edit);
  }
}

void PlanReader::readNumbers(const Json &argument, std::string_view what, const std::vector<std::string> &keys,
                             PlanEdit &edit) {
  if (!is(argument, Json::Kind::object, what))
    return;
  checkKeys(argument, what, keys);
  for (const std::string &key : keys)
    if (const Json *json = need(argument, key, what))
      edit.numbers.push_back(number(*json, "\"" + key + "\"").value_or(0));
}

void PlanReader::readClamp(const Json &argument, PlanEdit &edit) {
  if (!is(argument, Json::Kind::object, "\"clamp\""))
    return;
  checkKeys(argument, "\"clamp\"", {"min", "max"});
  const Json *least = argument.find("min"), *most = argument.find("max");
  if (!least && !most)
    return error("NNT0508", argument.loc, "\"clamp\" needs \"min\", \"max\" or both, found neither");
  std::optional<double> low, high;
  if (least)
    low = number(*least, "\"min\"");
  if (most)
    high = number(*most, "\"max\"");
  if (low && high && *low > *high)
    error("NNT0508", argument.loc, "\"clamp\": \"min\" " + shown(*least) + " is larger than \"max\" " + shown(*most));
  edit.hasMin = least;
  edit.hasMax = most;
  for (const std::optional<double> &end : {low, high})
    if (end)
      edit.numbers.push_back(*end);
}

void PlanReader::readLerp(const Json &argument, PlanEdit &edit) {
  if (!is(argument, Json::Kind::object, "\"lerp\""))
    return;
  checkKeys(argument, "\"lerp\"", {"to", "t"});
  if (const Json *to = need(argument, "to", "\"lerp\""))
    edit.source = readSource(*to);
  if (const Json *t = need(argument, "t", "\"lerp\""))
    edit.numbers = {number(*t, "\"t\"").value_or(0)};
}

void PlanReader::readExperts(const Json &argument, PlanEdit &edit) {
  std::string op = "\"" + std::string(name(edit.op)) + "\"";
  if (!is(argument, Json::Kind::object, op))
    return;
  if (edit.op == Op::force)
    checkKeys(argument, op, {"experts", "logit"});
  else
    checkKeys(argument, op, {"experts"});
  const Json *list = need(argument, "experts", op);
  if (list && is(*list, Json::Kind::array, "\"experts\""))
    for (const Json &entry : list->array) {
      std::optional<int64_t> expert = integer(entry, "an expert", 0);
      if (!expert)
        continue;
      if (std::find(edit.experts.begin(), edit.experts.end(), *expert) != edit.experts.end())
        error("NNT0508", entry.loc, op + ": expert " + shown(entry) + " is listed twice; experts are distinct");
      edit.experts.push_back(*expert);
    }
  if (const Json *logit = argument.find("logit"); logit && edit.op == Op::force)
    edit.forceMax = word(*logit, "\"logit\"", {"own", "max"}) == std::optional<std::string>("max");
}

// -- sources --

std::optional<Source> PlanReader::readSource(const Json &json) {
  Source source;
  source.loc = json.loc;
  if (!json.isObject()) {
    if (!json.isNumber() && !json.isString()) {
      error("NNT0104", json.loc, "a source must be a number or an object, found " + shown(json));
      return std::nullopt;
    }
    // A string can only be a sweep variable; a value's name stands in {"value": NAME}.
    if (json.isString() && (json.string.empty() || json.string[0] != '$')) {
      error("NNT0511", json.loc,
            "a source is a number or an object, found " + shown(json) +
                "; a value's name is written {\"value\": " + shown(json) + "}");
      return std::nullopt;
    }
    source.number = number(json, "a source").value_or(0);
    return source;
  }
  checkKeys(json, "a source", {"value", "world", "at", "select", "scale", "when", "mean"});
  if (const Json *factor = json.find("scale"))
    source.scale = number(*factor, "\"scale\"").value_or(1);
  const Json *value = json.find("value");
  if (!value && !json.find("world") && !json.find("at")) {
    error("NNT0511", json.loc, "a source needs \"value\", \"world\" or \"at\", found none of them");
    return std::nullopt;
  }
  if (!value) {
    readPlaceSource(json, source);
    return source;
  }
  source.kind = Source::Kind::value;
  for (const char *key : {"world", "at", "select", "when", "mean"})
    if (json.find(key))
      error("NNT0511", json.find(key)->loc,
            "a source with \"value\" takes only \"scale\" beside it, found \"" + std::string(key) + "\"");
  source.value = valueName(*value, "\"value\"").value_or("");
  return source;
}

void PlanReader::readPlaceSource(const Json &json, Source &source) {
  source.kind = Source::Kind::place;
  if (const Json *world = json.find("world"))
    source.world = readWorldName(*world);
  if (const Json *at = json.find("at"))
    source.at = readAt(*at, "\"at\"");
  if (const Json *select = json.find("select"))
    source.select = readSelect(*select);
  if (const Json *when = json.find("when"))
    source.when = readWhen(*when).value_or(When::after);
  const Json *mean = json.find("mean");
  if (!mean || !is(*mean, Json::Kind::array, "\"mean\""))
    return;
  for (const Json &axis : mean->array)
    if (std::optional<std::string> read = text(axis, "an axis of \"mean\""))
      if (std::find(source.mean.begin(), source.mean.end(), *read) == source.mean.end())
        source.mean.push_back(*read);
}

} // namespace nnterp
