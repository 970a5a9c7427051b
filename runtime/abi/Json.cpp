// Reads JSON with the place of every value, over nlohmann's event parser, and writes it.
#include "runtime/abi/Json.h"
#include "runtime/abi/File.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

namespace nnterp {

namespace {

/// Deeper nesting than any format here has; it bounds the recursion of what walks a tree.
constexpr size_t maxDepth = 256;

/// Hands out the text and counts what was taken, because nlohmann's events do not say where a token ends.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;

  const char *at = nullptr;
  size_t *taken = nullptr;

  reference operator*() const { return *at; }
  CountingIterator &operator++() {
    ++at;
    ++*taken;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator &other) const { return at == other.at; }
  bool operator!=(const CountingIterator &other) const { return at != other.at; }
};

/// Offsets to lines and columns. Columns count characters, not bytes. Offsets mostly grow, so the last place is kept.
class Lines {
public:
  Lines(std::string_view text, const std::string &file) : text(text), file(file) {}

  SourceLoc at(size_t target) {
    if (target < offset)
      offset = 0, line = col = 1;
    for (target = std::min(target, text.size()); offset < target; ++offset) {
      if (text[offset] == '\n')
        ++line, col = 1;
      else if ((text[offset] & 0xc0) != 0x80) // not a UTF-8 continuation byte
        ++col;
    }
    return {file, line, col};
  }

private:
  std::string_view text;
  const std::string &file;
  size_t offset = 0;
  int line = 1, col = 1;
};

/// Builds the tree from the parser's events.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
  TreeBuilder(std::string_view text, const std::string &file, Diagnostics &diags)
      : text(text), lines(text, file), diags(diags) {}

  size_t taken = 0; ///< characters the parser has read; at most one beyond the token of the current event
  Json root;
  bool failed = false;

  bool null() override { return word(Json()); }
  bool boolean(bool v) override { return word(Json::of(v)); }
  bool number_integer(int64_t v) override { return numeric(Json::of(v)); }
  bool number_unsigned(uint64_t v) override {
    return numeric(v <= uint64_t(std::numeric_limits<int64_t>::max()) ? Json::of(int64_t(v)) : Json::of(double(v)));
  }
  bool number_float(double v, const std::string &) override { return numeric(Json::of(v)); }
  bool string(std::string &v) override { return word(Json::of(std::move(v))); }
  bool binary(binary_t &) override { return false; } // not in JSON text

  bool start_object(size_t) override { return open(Json::dict()); }
  bool start_array(size_t) override { return open(Json::list()); }
  bool end_array() override { return close(); }
  bool end_object() override {
    reportRepeatedKeys(*stack.back());
    return close();
  }
  bool key(std::string &v) override {
    SourceLoc loc = tokenStart();
    position = taken;
    stack.back()->object.push_back({std::move(v), std::move(loc), Json()});
    return true;
  }

  bool parse_error(size_t read, const std::string &, const nlohmann::json::exception &e) override {
    std::string reason =
        e.what(); // "[json.exception…] … at line 1, column 5: syntax error while parsing value - reason"
    if (size_t dash = reason.find(" - "); dash != std::string::npos)
      reason = reason.substr(dash + 3);
    else if (size_t bracket = reason.find("] "); bracket != std::string::npos)
      reason = reason.substr(bracket + 2);
    reason = reason.substr(0, reason.find("; last read"));
    auto startsWith = [&](std::string_view prefix) { return reason.compare(0, prefix.size(), prefix) == 0; };
    std::string message = "not valid JSON: " + reason;
    if (startsWith("unexpected end of input"))
      return fail(lines.at(text.size()), message);
    // A broken token is shown where it breaks, a sound one in the wrong place where it begins.
    bool broken = startsWith("invalid"), punctuation = startsWith("unexpected '");
    return fail(broken || punctuation ? lines.at(read - std::min<size_t>(read, 1)) : tokenStart(), message);
  }

private:
  bool fail(SourceLoc loc, std::string message) {
    diags.error("NNT0103", std::move(loc), std::move(message));
    failed = true;
    return false;
  }

  /// Where the token of the current event begins: after the end of the last one, blanks and punctuation.
  SourceLoc tokenStart() {
    if (position == 0 && text.substr(0, 3) == "\xEF\xBB\xBF")
      position = 3;
    while (position < text.size() && std::string_view(" \t\r\n,:").find(text[position]) != std::string_view::npos)
      ++position;
    return lines.at(position);
  }

  Json &place(Json value, SourceLoc loc) {
    value.loc = std::move(loc);
    Json *slot = &root;
    if (!stack.empty() && stack.back()->isArray())
      slot = &stack.back()->array.emplace_back();
    else if (!stack.empty())
      slot = &stack.back()->object.back().value;
    return *slot = std::move(value);
  }

  /// A token whose end the parser knows without reading on: strings and the three literals.
  bool word(Json value) {
    place(std::move(value), tokenStart());
    position = taken;
    return true;
  }

  /// A number ends only where something else begins, which the parser has then read; or with the text.
  bool numeric(Json value) {
    place(std::move(value), tokenStart());
    bool lastOfText = taken == text.size() && text.back() >= '0' && text.back() <= '9';
    position = lastOfText ? taken : taken - 1;
    return true;
  }

  bool open(Json value) {
    SourceLoc loc = tokenStart();
    if (stack.size() == maxDepth)
      return fail(loc, "not valid JSON here: nested deeper than " + std::to_string(maxDepth) + " levels");
    position = taken;
    // Pointers stay good: a container's parent gets no new member before the container is closed.
    stack.push_back(&place(std::move(value), std::move(loc)));
    return true;
  }

  bool close() {
    position = taken;
    stack.pop_back();
    return true;
  }

  void reportRepeatedKeys(const Json &object) {
    const auto &members = object.object;
    std::vector<size_t> order(members.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return members[a].key < members[b].key; });
    for (size_t i = 1; i < order.size(); ++i) {
      const Json::Member &first = members[order[i - 1]], &second = members[order[i]];
      if (first.key != second.key)
        continue;
      fail(second.keyLoc, "the key \"" + second.key + "\" occurs twice in this object; expected one");
      diags.all().back().notes.push_back({first.keyLoc, "it was given here first"});
    }
  }

  std::string_view text;
  Lines lines;
  Diagnostics &diags;
  size_t position = 0; ///< end of the last token
  std::vector<Json *> stack;
};

std::string quoted(const std::string &s) {
  return nlohmann::json(s).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string shortest(double v) {
  if (!std::isfinite(v))
    return "null"; // JSON has neither infinity nor NaN
  char buffer[32];
  std::string digits(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

void write(const Json &json, int indent, int depth, std::string &out) {
  auto newline = [&](int level) {
    if (indent >= 0)
      out += "\n" + std::string(size_t(indent * level), ' ');
  };
  auto sequence = [&](char open, char close, const auto &items, auto item) {
    out += open;
    bool first = true;
    for (const auto &it : items) {
      if (!first)
        out += ',';
      first = false;
      newline(depth + 1);
      item(it);
    }
    if (!items.empty())
      newline(depth);
    out += close;
  };
  switch (json.kind) {
  case Json::Kind::null:
    out += "null";
    break;
  case Json::Kind::boolean:
    out += json.boolean ? "true" : "false";
    break;
  case Json::Kind::integer:
    out += std::to_string(json.integer);
    break;
  case Json::Kind::number:
    out += shortest(json.number);
    break;
  case Json::Kind::string:
    out += quoted(json.string);
    break;
  case Json::Kind::array:
    sequence('[', ']', json.array, [&](const Json &v) { write(v, indent, depth + 1, out); });
    break;
  case Json::Kind::object:
    sequence('{', '}', json.object, [&](const Json::Member &m) {
      out += quoted(m.key) + (indent >= 0 ? ": " : ":");
      write(m.value, indent, depth + 1, out);
    });
    break;
  }
}

} // namespace

std::string Json::dump(int indent) const {
  std::string out;
  write(*this, indent, 0, out);
  return out;
}

std::optional<Json> parseJson(std::string_view text, const std::string &file, Diagnostics &diags) {
  TreeBuilder builder(text, file, diags);
  CountingIterator begin{text.data(), &builder.taken}, end{text.data() + text.size(), &builder.taken};
  bool read = nlohmann::json::sax_parse(begin, end, &builder);
  if (!read || builder.failed)
    return std::nullopt;
  return std::move(builder.root);
}

std::optional<Json> readJsonFile(const std::string &path, Diagnostics &diags) {
  std::optional<std::string> text = readFile(path, diags);
  return text ? parseJson(*text, path, diags) : std::nullopt;
}

} // namespace nnterp
