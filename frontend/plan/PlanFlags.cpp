// Flags of spec/plan.md 9 to the JSON they stand for. What JSON can say wrong (a malformed selection, an unknown value) is left
// to the plan's reader, which finds the place within the flag in the JSON made here.
#include "frontend/plan/PlanChecks.h"

#include <charconv>
#include <cmath>
#include <filesystem>

namespace nnterp {
namespace {

constexpr const char *tapForm = "--tap [WORLD:]NAME[{AXIS=SEL,…}][@before][=ALIAS]";
constexpr const char *editForm = "--edit [WORLD:]NAME[{AXIS=SEL,…}] OP [ARGS]";
constexpr const char *valueForm = "--value NAME=FILE#KEY or --value NAME=1,2.5,…";

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// A piece of a flag's text and where it begins in it.
struct Piece {
  std::string_view text;
  size_t begin = 0;

  Piece part(size_t from, size_t to = std::string_view::npos) const {
    from = std::min(from, text.size());
    return {text.substr(from, to == std::string_view::npos ? to : to - from), begin + from};
  }
  Piece trimmed() const {
    size_t from = 0, to = text.size();
    while (from < to && isBlank(text[from]))
      ++from;
    while (to > from && isBlank(text[to - 1]))
      --to;
    return part(from, to);
  }
};

/// The first of `stops` outside `[…]`, or the end.
size_t findOutside(std::string_view text, std::string_view stops, size_t from = 0) {
  int depth = 0;
  for (size_t i = from; i < text.size(); ++i) {
    if (depth == 0 && stops.find(text[i]) != std::string_view::npos)
      return i;
    if (text[i] == '[')
      ++depth;
    else if (text[i] == ']' && depth > 0)
      --depth;
  }
  return text.size();
}

/// A decimal number, an integer when it is written as one and fits.
std::optional<Json> toNumber(std::string_view text) {
  if (!text.empty() && text[0] == '+')
    text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string_view::npos)
    return std::nullopt; // keeps "inf" and "nan" names
  if (std::optional<int64_t> whole = toInteger(text))
    return Json::of(*whole);
  double value = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || failure == std::errc::invalid_argument)
    return std::nullopt;
  if (failure == std::errc::result_out_of_range)
    value = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos ? 0 : HUGE_VAL;
  return Json::of(value);
}

/// One flag's text on its way to JSON. Whatever returns nothing has reported why.
class Flag {
public:
  Flag(const char *name, const char *form, const std::string &text, Diagnostics &diags)
      : name(name), form(form), text(text), diags(diags) {}

  std::optional<Json> tap();
  std::optional<Json> edit();
  std::optional<Json::Member> value();

private:
  /// Columns count characters, as those of JSON files do.
  SourceLoc loc(size_t offset) const {
    int col = 1;
    for (size_t i = 0; i < offset && i < text.size(); ++i)
      col += (text[i] & 0xc0) != 0x80;
    return {name, 1, col};
  }
  std::nullopt_t fail(size_t offset, std::string message) {
    diags.error("NNT0516", loc(offset), std::move(message)).notes.push_back({{}, std::string("the form is ") + form});
    return std::nullopt;
  }
  std::string found(Piece piece) const { return piece.text.empty() ? "nothing" : "\"" + std::string(piece.text) + "\""; }

  Json at(Piece piece, Json json) const {
    json.loc = loc(piece.begin);
    return json;
  }
  Json textAt(Piece piece) const { return at(piece, Json::of(std::string(piece.text))); }
  void add(Json &object, std::string key, Piece where, Json value) const {
    object.object.push_back({std::move(key), loc(where.begin), std::move(value)});
  }

  /// `[WORLD:]NAME[{…}]` at the start of `rest`, added to `entry`; `rest` is what follows.
  bool place(Piece &rest, Json &entry);
  std::optional<Json> select(Piece inside);
  std::optional<Json> selection(Piece piece);

  std::optional<Json> operation(Piece op, const std::vector<Piece> &args);
  std::optional<Json> number(Piece piece);
  std::optional<Json> source(Piece piece);
  std::optional<Json> experts(Piece piece);

  const char *name, *form;
  const std::string &text;
  Diagnostics &diags;
};

// -- places --

bool Flag::place(Piece &rest, Json &entry) {
  std::string_view stops = "{@= \t\n\r";
  size_t end = findOutside(rest.text, stops);
  if (size_t colon = findOutside(rest.text.substr(0, end), ":"); colon < end) {
    add(entry, "world", rest, textAt(rest.part(0, colon)));
    rest = rest.part(colon + 1);
    end -= colon + 1;
  }
  Piece point = rest.part(0, end);
  if (point.text.empty())
    return fail(point.begin, "expected the name of a value, found " + found(rest)), false;
  add(entry, "at", point, textAt(point));
  rest = rest.part(end);
  if (rest.text.empty() || rest.text[0] != '{')
    return true;
  size_t close = rest.text.find('}');
  if (close == std::string_view::npos)
    return fail(rest.begin, "expected a \"}\" that closes this \"{\", found none"), false;
  std::optional<Json> chosen = select(rest.part(1, close));
  if (!chosen)
    return false;
  add(entry, "select", rest, at(rest, std::move(*chosen)));
  rest = rest.part(close + 1);
  return true;
}

std::optional<Json> Flag::select(Piece inside) {
  Json result = Json::dict();
  for (bool more = true; more;) {
    size_t comma = findOutside(inside.text, ",");
    more = comma < inside.text.size();
    Piece pair = inside.part(0, comma).trimmed();
    inside = inside.part(comma + 1);
    size_t equal = pair.text.find('=');
    if (equal == std::string_view::npos || equal == 0)
      return fail(pair.begin, "expected AXIS=SEL, found " + found(pair));
    Piece axis = pair.part(0, equal).trimmed();
    std::string key(axis.text);
    if (result.find(key))
      return fail(axis.begin, "the axis \"" + key + "\" is selected twice; several selections are joined by \"|\"");
    std::optional<Json> chosen = selection(pair.part(equal + 1).trimmed());
    if (!chosen)
      return std::nullopt;
    add(result, std::move(key), axis, std::move(*chosen));
  }
  return result;
}

std::optional<Json> Flag::selection(Piece piece) {
  Json list = at(piece, Json::list());
  for (bool more = true; more;) {
    size_t bar = findOutside(piece.text, "|");
    more = bar < piece.text.size();
    Piece one = piece.part(0, bar).trimmed();
    piece = piece.part(bar + 1);
    if (one.text.empty())
      return fail(one.begin, "expected an index, a:b, prompt[…], gen[…] or *, found nothing");
    std::optional<int64_t> index = toInteger(one.text);
    list.array.push_back(index ? at(one, Json::of(*index)) : textAt(one));
  }
  return list.array.size() == 1 ? std::move(list.array[0]) : list;
}

// -- --tap --

std::optional<Json> Flag::tap() {
  Piece rest = Piece{text}.trimmed();
  Json entry = at(rest, Json::dict());
  if (!place(rest, entry))
    return std::nullopt;
  if (!rest.text.empty() && rest.text[0] == '@') {
    Piece when = rest.part(1, findOutside(rest.text, "="));
    if (when.text != "before")
      return fail(rest.begin, "expected \"@before\", found \"@" + std::string(when.text) + "\"");
    add(entry, "when", when, textAt(when));
    rest = rest.part(1 + when.text.size());
  }
  if (!rest.text.empty() && rest.text[0] == '=') {
    Piece alias = rest.part(1);
    if (!isPlanName(alias.text))
      return fail(alias.begin, "expected an alias (letters, digits, \"_\" and \"-\"), found " + found(alias));
    add(entry, "as", alias, textAt(alias));
    rest = rest.part(rest.text.size());
  }
  if (!rest.text.empty())
    return fail(rest.begin, "expected \"{\", \"@before\", \"=\" or the end, found " + found(rest));
  if (entry.object.size() == 1) // a name alone, as a plan writes it
    return entry.object[0].value;
  return entry;
}

// -- --edit --

/// The operations with the arguments that --edit takes for them.
struct OperationForm {
  std::string_view name;
  size_t least, most;
  const char *arguments;
};
constexpr OperationForm operations[] = {
    {"zero", 0, 0, ""},         {"mask", 0, 0, ""},           {"fill", 1, 1, "C"},       {"scale", 1, 1, "C or SRC"},
    {"add", 1, 1, "SRC[*C]"},   {"replace", 1, 1, "SRC"},     {"clamp", 2, 2, "MIN MAX"}, {"affine", 2, 2, "A B"},
    {"lerp", 2, 2, "SRC T"},    {"project_out", 1, 1, "SRC"}, {"drop", 1, 1, "E,E"},     {"drop_renorm", 1, 1, "E,E"},
    {"reroute", 1, 1, "E,E"},   {"force", 1, 2, "E,E [max]"}, {"call", 1, 1, "@FUNCTION"},
};

std::optional<Json> Flag::edit() {
  Piece rest = Piece{text}.trimmed();
  Json entry = at(rest, Json::dict());
  if (!place(rest, entry))
    return std::nullopt;
  if (!rest.text.empty() && !isBlank(rest.text[0]))
    return fail(rest.begin, "expected a blank and an operation, found " + found(rest));
  std::vector<Piece> words;
  for (rest = rest.trimmed(); !rest.text.empty(); rest = rest.trimmed()) {
    size_t end = 0;
    while (end < rest.text.size() && !isBlank(rest.text[end]))
      ++end;
    words.push_back(rest.part(0, end));
    rest = rest.part(end);
  }
  if (words.empty())
    return fail(rest.begin, "expected an operation, found nothing");
  Piece op = words[0];
  words.erase(words.begin());
  std::optional<Json> action = operation(op, words);
  if (!action)
    return std::nullopt;
  add(entry, "do", op, at(op, std::move(*action)));
  return entry;
}

std::optional<Json> Flag::operation(Piece op, const std::vector<Piece> &args) {
  std::string key(op.text);
  const OperationForm *known = nullptr;
  for (const OperationForm &candidate : operations)
    if (candidate.name == op.text)
      known = &candidate;
  if (!known) {
    diags.error("NNT0507", loc(op.begin), "unknown operation \"" + key + "\"" + suggest(key, operationNames()));
    return std::nullopt;
  }
  if (args.size() < known->least || args.size() > known->most) {
    Piece where = args.size() > known->most ? args[known->most] : op;
    std::string takes = known->most == 0 ? "takes no argument" : "takes " + std::string(known->arguments);
    return fail(where.begin, "\"" + key + "\" " + takes + ", found " + std::to_string(args.size()) + " arguments");
  }

  Json action = Json::dict();
  auto with = [&](Piece where, std::optional<Json> argument) -> std::optional<Json> {
    if (!argument)
      return std::nullopt;
    add(action, key, op, at(where, std::move(*argument)));
    return std::move(action);
  };
  if (known->most == 0)
    return with(op, Json::dict());
  if (key == "fill")
    return with(args[0], number(args[0]));
  if (key == "scale" || key == "replace" || key == "project_out")
    return with(args[0], source(args[0]));
  if (key == "call")
    return with(args[0], textAt(args[0]));
  if (key == "add") {
    size_t star = args[0].text.rfind('*');
    std::optional<Json> what = source(args[0].part(0, star));
    if (what && star != std::string_view::npos) {
      Piece factor = args[0].part(star + 1);
      std::optional<Json> c = number(factor);
      if (!c)
        return std::nullopt;
      with(args[0], std::move(what));
      // Two members: the operation and, beside it, its factor.
      Json both = Json::dict();
      return both;
    }
    return with(args[0], std::move(what));
  }
  return std::nullopt;
}

} // namespace
} // namespace nnterp
