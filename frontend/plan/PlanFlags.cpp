// The flags --tap and --value, and how flags join a plan (spec/plan.md 9).
#include "frontend/plan/FlagText.h"
#include "frontend/plan/PlanChecks.h"

#include <filesystem>

namespace nnterp {
namespace {

std::optional<Json> tapOfFlag(const std::string &text, Diagnostics &diags) {
  FlagText flag("--tap", "--tap [WORLD:]NAME[{AXIS=SEL,…}][@before][=ALIAS]", text, diags);
  Piece rest = flag.all();
  Json entry = flag.at(rest, Json::dict());
  if (!flag.place(rest, entry))
    return std::nullopt;
  if (rest.front() == '@') {
    Piece when = rest.part(0, rest.text.find('='));
    if (when.text != "@before")
      return flag.fail(when, "\"@before\"");
    flag.put(entry, "when", when, flag.string(when.part(1)));
    rest = rest.part(when.text.size());
  }
  if (rest.front() == '=') {
    Piece alias = rest.part(1);
    if (!isPlanName(alias.text))
      return flag.fail(alias, "an alias (letters, digits, \"_\" and \"-\")");
    flag.put(entry, "as", alias, flag.string(alias));
    rest = alias.part(alias.text.size());
  }
  if (!rest.empty())
    return flag.fail(rest, "\"{\", \"@before\", \"=\" or the end");
  if (entry.object.size() == 1) // a name alone, as a plan writes it
    return std::move(entry.object[0].value);
  return entry;
}

/// A member of `values`.
std::optional<Json::Member> valueOfFlag(const std::string &text, Diagnostics &diags) {
  FlagText flag("--value", "--value NAME=FILE#KEY or --value NAME=1,2.5,…", text, diags);
  Piece whole = flag.all();
  size_t equal = whole.text.find('=');
  Piece name = whole.part(0, equal).trimmed();
  if (equal == std::string_view::npos || !isPlanName(name.text))
    return flag.fail(whole, "a value's name and \"=\"");
  Piece rest = whole.part(equal + 1).trimmed();
  Json value = flag.at(rest, Json::dict());
  size_t hash = rest.text.find('#');
  if (hash == std::string_view::npos) {
    if (!flag.put(value, "data", rest, flag.numbers(rest)))
      return std::nullopt;
  } else {
    Piece file = rest.part(0, hash), key = rest.part(hash + 1);
    if (file.empty() || key.empty())
      return flag.fail(rest, "FILE#KEY");
    // A flag's path starts from the current directory, a plan's from the plan: absolute, it is the same for both.
    std::error_code failure;
    std::filesystem::path path = std::filesystem::absolute(std::string(file.text), failure);
    flag.put(value, "file", file,
             flag.at(file, Json::of(failure ? std::string(file.text) : path.lexically_normal().string())));
    flag.put(value, "key", key, flag.string(key));
  }
  return Json::Member{std::string(name.text), flag.loc(name.begin), std::move(value)};
}

/// The member `key` of the plan, made if it is missing; null if it is there and of another kind, which the reader
/// reports.
Json *section(Json &plan, const char *key, Json empty) {
  for (Json::Member &member : plan.object)
    if (member.key == key)
      return member.value.kind == empty.kind ? &member.value : nullptr;
  return &plan.object.emplace_back(Json::Member{key, empty.loc, std::move(empty)}).value;
}

void append(Json &plan, const char *key, std::vector<Json> entries) {
  if (entries.empty())
    return;
  Json empty = Json::list();
  empty.loc = entries[0].loc;
  if (Json *list = section(plan, key, std::move(empty)))
    list->array.insert(list->array.end(), std::make_move_iterator(entries.begin()),
                       std::make_move_iterator(entries.end()));
}

} // namespace

std::optional<Json> expandFlags(std::optional<Json> plan, const PlanFlags &flags, Diagnostics &diags) {
  Json result = plan ? std::move(*plan) : Json::dict().set("nnterp_plan", Json::of(int64_t(1)));
  bool sound = true;
  auto read = [&](const std::vector<std::string> &texts, auto one) {
    std::vector<Json> entries;
    for (const std::string &text : texts) {
      std::optional<Json> entry = one(text, diags);
      sound = sound && entry;
      if (entry)
        entries.push_back(std::move(*entry));
    }
    return entries;
  };
  std::vector<Json> edits = read(flags.edits, editOfFlag), taps = read(flags.taps, tapOfFlag);
  if (result.isObject()) { // anything else is the reader's to report
    append(result, "edits", std::move(edits));
    append(result, "taps", std::move(taps));
  }
  for (const std::string &text : flags.values) {
    std::optional<Json::Member> value = valueOfFlag(text, diags);
    sound = sound && value;
    Json empty = Json::dict();
    if (value)
      empty.loc = value->keyLoc;
    Json *values = value && result.isObject() ? section(result, "values", std::move(empty)) : nullptr;
    if (!values)
      continue;
    if (const Json *first = values->find(value->key)) {
      diags.error("NNT0517", value->keyLoc, "the value \"" + value->key + "\" is defined twice")
          .notes.push_back({first->loc, "it was defined here first"});
      sound = false;
    } else {
      values->object.push_back(std::move(*value));
    }
  }
  if (!sound)
    return std::nullopt;
  return result;
}

} // namespace nnterp
