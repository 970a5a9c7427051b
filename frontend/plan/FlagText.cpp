// Pieces of a flag's text, and what all flags have in common: places with selections, and numbers.
#include "frontend/plan/FlagText.h"
#include "frontend/plan/PlanChecks.h"

#include <algorithm>
#include <charconv>

namespace nnterp {

Piece Piece::part(size_t from, size_t to) const {
  from = std::min(from, text.size());
  to = std::clamp(to, from, text.size());
  return {text.substr(from, to - from), begin + from};
}

Piece Piece::trimmed() const {
  size_t from = text.find_first_not_of(FlagText::blanks);
  if (from == std::string_view::npos)
    return part(text.size());
  return part(from, text.find_last_not_of(FlagText::blanks) + 1);
}

size_t findOutside(std::string_view text, std::string_view stops) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && stops.find(text[i]) != std::string_view::npos)
      return i;
    if (text[i] == '[')
      ++depth;
    else if (text[i] == ']' && depth > 0)
      --depth;
  }
  return text.size();
}

/// Columns count characters, as those of JSON files do.
SourceLoc FlagText::loc(size_t offset) const {
  auto starts = [](char c) { return (c & 0xc0) != 0x80; };
  offset = std::min(offset, text.size());
  return {flag, 1, 1 + int(std::count_if(text.begin(), text.begin() + ptrdiff_t(offset), starts))};
}

std::nullopt_t FlagText::fail(const Piece &where, std::string expected) {
  std::string found = where.empty() ? "nothing" : "\"" + std::string(where.text) + "\"";
  Diagnostic::Note note;
  note.message = std::string("the form is ") + form;
  diags.error("NNT0516", loc(where.begin), "expected " + expected + ", found " + found)
      .notes.push_back(std::move(note));
  return std::nullopt;
}

Json FlagText::at(const Piece &piece, Json json) const {
  json.loc = loc(piece.begin);
  return json;
}

bool FlagText::put(Json &object, std::string key, const Piece &where, std::optional<Json> value) const {
  if (value)
    object.object.push_back({std::move(key), loc(where.begin), std::move(*value)});
  return value.has_value();
}

// -- places --

bool FlagText::place(Piece &rest, Json &entry) {
  auto nameEnd = [&] { return findOutside(rest.text, "{@= \t\n\r"); };
  if (size_t colon = findOutside(rest.part(0, nameEnd()).text, ":"); colon < nameEnd()) {
    put(entry, "world", rest, string(rest.part(0, colon)));
    rest = rest.part(colon + 1);
  }
  Piece name = rest.part(0, nameEnd());
  if (name.empty()) {
    fail(rest, "a value's name");
    return false;
  }
  put(entry, "at", name, string(name));
  rest = rest.part(name.text.size());
  if (rest.front() != '{')
    return true;
  size_t close = rest.text.find('}');
  if (close == std::string_view::npos) {
    fail(rest, "a \"}\" that closes \"{\"");
    return false;
  }
  std::optional<Json> chosen = select(rest.part(1, close));
  if (!chosen)
    return false;
  put(entry, "select", rest, at(rest, std::move(*chosen)));
  rest = rest.part(close + 1);
  return true;
}

std::optional<Json> FlagText::select(Piece inside) {
  Json result = Json::dict();
  for (bool more = true; more;) {
    size_t comma = findOutside(inside.text, ",");
    more = comma < inside.text.size();
    Piece pair = inside.part(0, comma).trimmed();
    inside = inside.part(comma + 1);
    size_t equal = pair.text.find('=');
    if (equal == std::string_view::npos || equal == 0)
      return fail(pair, "AXIS=SEL");
    Piece axis = pair.part(0, equal).trimmed();
    if (result.find(axis.text))
      return fail(axis, "each axis once (its selections are joined by \"|\")");
    std::optional<Json> chosen = selection(pair.part(equal + 1).trimmed());
    if (!put(result, std::string(axis.text), axis, std::move(chosen)))
      return std::nullopt;
  }
  return result;
}

std::optional<Json> FlagText::selection(Piece piece) {
  Json list = at(piece, Json::list());
  for (bool more = true; more;) {
    size_t bar = findOutside(piece.text, "|");
    more = bar < piece.text.size();
    Piece one = piece.part(0, bar).trimmed();
    piece = piece.part(bar + 1);
    if (one.empty())
      return fail(one, "an index, a:b, prompt[…], gen[…] or *");
    std::optional<int64_t> index = toInteger(one.text);
    list.array.push_back(index ? at(one, Json::of(*index)) : string(one));
  }
  if (list.array.size() > 1)
    return list;
  return std::move(list.array[0]);
}

// -- numbers --

std::optional<Json> FlagText::numberOrNone(const Piece &piece) const {
  std::string_view digits = piece.text;
  if (!digits.empty() && digits[0] == '+')
    digits.remove_prefix(1);
  // Names such as "inf" and "nan" are not numbers here.
  if (digits.empty() || digits.find_first_not_of("0123456789+-.eE") != std::string_view::npos)
    return std::nullopt;
  if (std::optional<int64_t> whole = toInteger(digits))
    return at(piece, Json::of(*whole));
  double value = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc() || end != digits.data() + digits.size())
    return std::nullopt;
  return at(piece, Json::of(value));
}

std::optional<Json> FlagText::number(const Piece &piece) {
  if (piece.front() == '$')
    return string(piece);
  std::optional<Json> read = numberOrNone(piece);
  return read ? read : fail(piece, "a number");
}

std::optional<Json> FlagText::numbers(Piece piece) {
  Json list = at(piece, Json::list());
  bool sound = true;
  for (bool more = true; more;) {
    size_t comma = std::min(piece.text.find(','), piece.text.size());
    more = comma < piece.text.size();
    std::optional<Json> one = number(piece.part(0, comma).trimmed());
    piece = piece.part(comma + 1);
    if (one)
      list.array.push_back(std::move(*one));
    sound = sound && one;
  }
  if (!sound)
    return std::nullopt;
  return list;
}

} // namespace nnterp
