// Reads what the format knows and this version does not do: sweeps, edges, calls. Their syntax is checked, so that a
// plan that passes later is told apart from a wrong one now; then each is refused with its own code.
#include "frontend/plan/PlanReader.h"

#include <algorithm>

namespace nnterp {

// -- sweeps --

void PlanReader::readSweep(const Json &sweep) {
  later(Later::sweep, sweep.loc);
  if (!is(sweep, Json::Kind::object, "\"sweep\""))
    return;
  sweepNames.emplace();
  for (const auto &[name, loc, values] : sweep.object) {
    if (checkName(name, loc, "the sweep variable"))
      sweepNames->push_back(name);
    std::optional<Range> range = values.isString() ? toRange(values.string) : std::nullopt;
    bool sound = values.isArray() ? !values.array.empty() : range && range->begin && range->end;
    for (const Json &value : values.array)
      sound = sound && (value.isNumber() || value.isString());
    if (!sound)
      error("NNT0508", values.loc,
            "the sweep variable \"" + name + "\" takes a list of numbers and names, or \"a:b\", found " +
                shown(values));
  }
}

// -- edges --

void PlanReader::readEdge(const Json &edge) {
  later(Later::edge, edge.loc);
  checkKeys(edge, "an edge", {"id", "world", "from", "to", "select", "do"});
  PlanEdit unused; // an edge's operation is read as an edit's
  if (const Json *id = edge.find("id"))
    checkId(*id, unused.id);
  readEditWorlds(edge);
  if (const Json *from = need(edge, "from", "an edge"))
    readAt(*from, "\"from\"");
  if (const Json *to = need(edge, "to", "an edge")) {
    if (to->isObject()) {
      checkKeys(*to, "\"to\"", {"at", "select"});
      if (const Json *at = need(*to, "at", "\"to\""))
        readAt(*at, "\"at\"");
      if (const Json *select = to->find("select"))
        readSelect(*select);
    } else {
      readAt(*to, "\"to\"");
    }
  }
  if (const Json *select = edge.find("select"))
    readSelect(*select);
  if (const Json *action = need(edge, "do", "an edge"))
    readDo(*action, unused);
}

// -- calls --

void PlanReader::readCall(const Json &argument, const Json &action) {
  later(Later::call, argument.loc);
  if (std::optional<std::string> function = text(argument, "\"call\"")) {
    if ((*function)[0] != '@')
      error("NNT0508", argument.loc,
            "\"call\" takes a function's name that begins with \"@\", found " + shown(argument));
    else
      checkName(function->substr(1), argument.loc, "the function");
  }
  const Json *with = action.find("with");
  if (with && is(*with, Json::Kind::array, "\"with\""))
    for (const Json &value : with->array)
      valueName(value, "an entry of \"with\"");
}

} // namespace nnterp
