// Parses what stands between the brackets of a block name.
#include "frontend/names/IndexForm.h"

#include <charconv>

namespace nnterp {

namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ')
    s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ')
    s.remove_suffix(1);
  return s;
}

std::optional<int64_t> integer(std::string_view s) {
  s = trimmed(s);
  int64_t value = 0;
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (s.empty() || error != std::errc() || end != s.data() + s.size())
    return std::nullopt;
  return value;
}

} // namespace

std::optional<IndexForm> parseIndexForm(std::string_view text) {
  text = trimmed(text);
  IndexForm form;
  for (auto [word, kind] : {std::pair<std::string_view, IndexForm::Kind>{"*", IndexForm::Kind::all},
                            {"linear", IndexForm::Kind::linear},
                            {"full", IndexForm::Kind::full},
                            {"=", IndexForm::Kind::matched}})
    if (text == word) {
      form.kind = kind;
      return form;
    }

  if (size_t colon = text.find(':'); colon != std::string_view::npos) {
    form.kind = IndexForm::Kind::range;
    std::string_view first = trimmed(text.substr(0, colon)), second = trimmed(text.substr(colon + 1));
    if (!first.empty() && !(form.begin = integer(first)))
      return std::nullopt;
    if (!second.empty() && !(form.end = integer(second)))
      return std::nullopt;
    return form;
  }

  form.kind = IndexForm::Kind::list;
  for (size_t start = 0;;) {
    size_t comma = text.find(',', start);
    auto value = integer(text.substr(start, comma == std::string_view::npos ? comma : comma - start));
    if (!value)
      return std::nullopt;
    form.list.push_back(*value);
    if (comma == std::string_view::npos)
      return form;
    start = comma + 1;
  }
}

} // namespace nnterp
