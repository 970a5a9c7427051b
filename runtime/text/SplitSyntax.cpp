// Rewrites split expressions from Oniguruma's syntax to PCRE2's, and refuses what the two read differently.
#include "runtime/text/SplitExpression.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace nnterp {

namespace {

// White_Space and its complement as class ranges: PCRE2's own \s also holds U+180E.
constexpr const char *spaceRanges =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr const char *notSpaceRanges =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";

constexpr const char *categories[] = {"L",  "Lu", "Ll", "Lt", "Lm", "Lo", "M",  "Mn", "Mc", "Me", "N",  "Nd",
                                      "Nl", "No", "P",  "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S",  "Sm",
                                      "Sc", "Sk", "So", "Z",  "Zs", "Zl", "Zp", "C",  "Cc", "Cf", "Co", "Cn"};

/// Letter pairs that one character folds to (such as U+FB06): Oniguruma matches them without regard to case, PCRE2 not.
constexpr const char *foldedPairs[] = {"ff", "fi", "fl", "ss", "st"};

class Translator {
public:
  Translator(std::string_view in, SplitError &error) : in(in), error(error) {}

  std::optional<std::string> run() {
    while (at < in.size())
      if (!step())
        return std::nullopt;
    if (!groups.empty()) {
      refuse("is a group that is not closed", groups.back().at);
      return std::nullopt;
    }
    return std::move(out);
  }

private:
  struct Group {
    size_t at;
    bool caseless; ///< as before the group
    bool lookahead;
  };
  /// One element of a class: a character, or a set that cannot bound a range.
  struct Item {
    std::string text;
    bool isSet;
  };

  bool refuse(std::string_view why, size_t from) {
    size_t length = std::min<size_t>(in.size() - from, 12);
    while (length > 1 && from + length < in.size() && (uint8_t(in[from + length]) & 0xC0) == 0x80)
      --length; // whole characters
    error = {from, "\"" + std::string(in.substr(from, length)) + "\" " + std::string(why)};
    return false;
  }
  bool next(std::string_view word) const { return in.substr(at, word.size()) == word; }

  bool step() {
    switch (in[at]) {
    case '(':
      return openGroup();
    case ')':
      return closeGroup();
    case '[':
      return characterClass();
    case '|':
      out += in[at++];
      canRepeat = false;
      return true;
    case '?':
    case '*':
    case '+':
    case '{':
      return repeat();
    case '.':
    case '^':
    case '$':
    case ']':
    case '}':
      return refuse("is not supported in a split expression", at);
    case '\\': {
      std::optional<Item> item = escape();
      if (!item)
        return false;
      out += wrapRanges(*item);
      canRepeat = true;
      return true;
    }
    default:
      return literal();
    }
  }

  /// Sets that are ranges need brackets outside a class; properties stand alone.
  static std::string wrapRanges(const Item &item) {
    const bool ranges = item.isSet && item.text.find('-') != std::string::npos;
    return ranges ? "[" + item.text + "]" : item.text;
  }

  bool openGroup() {
    const size_t begin = at;
    Group group{begin, caseless, false};
    static constexpr std::string_view openings[] = {"(?:", "(?i:", "(?=", "(?!", "(?>"};
    std::string_view opening = "(";
    for (std::string_view candidate : openings)
      if (next(candidate))
        opening = candidate;
    if (opening == "(" && next("(?"))
      return refuse("is a kind of group that is not supported in a split expression", begin);
    if (opening == "(?i:")
      caseless = true;
    group.lookahead = opening == "(?=" || opening == "(?!";
    out += opening == "(" ? "(?:" : opening; // nothing refers back to groups
    at += opening.size();
    groups.push_back(group);
    canRepeat = false;
    return true;
  }

  bool closeGroup() {
    if (groups.empty())
      return refuse("closes no group", at);
    caseless = groups.back().caseless;
    canRepeat = !groups.back().lookahead;
    groups.pop_back();
    out += in[at++];
    return true;
  }

  bool repeat() {
    const size_t begin = at;
    if (!canRepeat)
      return refuse("has nothing to repeat", begin);
    canRepeat = false;
    if (in[at] != '{') {
      out += in[at++];
      if (next("?") || next("+")) // lazy, possessive
        out += in[at++];
      return true;
    }
    size_t end = at + 1;
    auto digits = [&] {
      size_t from = end;
      while (end < in.size() && std::isdigit(uint8_t(in[end])))
        ++end;
      return end > from;
    };
    bool good = digits();
    const bool isRange = good && end < in.size() && in[end] == ',';
    if (isRange)
      ++end, digits();
    if (!good || end == in.size() || in[end] != '}')
      return refuse("is not a repetition {n}, {n,} or {n,m}", begin);
    ++end;
    if (isRange && end < in.size() && in[end] == '?')
      ++end; // lazy; {n}? is optional to Oniguruma and lazy to PCRE2
    if (end < in.size() && (in[end] == '?' || in[end] == '+' || in[end] == '*'))
      return refuse("is a repetition of a repetition, which is not supported in a split expression", begin);
    out += in.substr(begin, end - begin);
    at = end;
    return true;
  }

  bool literal() {
    if (caseless) {
      if (uint8_t(in[at]) >= 0x80)
        return refuse("is not ASCII, which is not supported without regard to case", at);
      for (std::string_view pair : foldedPairs)
        if (at + 1 < in.size() && std::tolower(uint8_t(in[at])) == pair[0] &&
            std::tolower(uint8_t(in[at + 1])) == pair[1])
          return refuse(
              "begins with letters that are also one character, which is not supported without regard to case", at);
    }
    do
      out += in[at++];
    while (at < in.size() && (uint8_t(in[at]) & 0xC0) == 0x80); // a whole character
    canRepeat = true;
    return true;
  }

  std::optional<Item> escape() {
    const size_t begin = at;
    auto give = [&](std::string text, bool isSet, size_t length) -> std::optional<Item> {
      at = begin + length;
      return Item{std::move(text), isSet};
    };
    const char c = begin + 1 < in.size() ? in[begin + 1] : '\0';
    switch (c) {
    case 'r':
    case 'n':
    case 't':
    case 'f':
      return give(std::string("\\") + c, false, 2);
    case 'v':
      return give("\\x{b}", false, 2);
    case 's':
      return give(spaceRanges, true, 2);
    case 'S':
      return give(notSpaceRanges, true, 2);
    case 'd':
      return give("\\p{Nd}", true, 2);
    case 'D':
      return give("\\P{Nd}", true, 2);
    case 'p':
    case 'P':
      return property(begin);
    default:
      if (std::ispunct(uint8_t(c)))
        return give(std::string("\\") + c, false, 2);
      refuse("is not supported in a split expression", begin);
      return std::nullopt;
    }
  }

  std::optional<Item> property(size_t begin) {
    const size_t close = in.find('}', begin);
    std::string_view name;
    if (close != std::string_view::npos && in.substr(begin + 2, 1) == "{")
      name = in.substr(begin + 3, close - begin - 3);
    bool inverted = in[begin + 1] == 'P';
    if (!name.empty() && name[0] == '^')
      inverted = !inverted, name.remove_prefix(1);
    if (std::find(std::begin(categories), std::end(categories), name) == std::end(categories)) {
      refuse("is no general category of Unicode", begin);
      return std::nullopt;
    }
    if (caseless) {
      refuse("is not supported without regard to case", begin);
      return std::nullopt;
    }
    at = close + 1;
    return Item{(inverted ? "\\P{" : "\\p{") + std::string(name) + "}", true};
  }

  /// An element of a class; '-' is handled by the caller.
  std::optional<Item> classItem() {
    if (in[at] == '\\')
      return escape();
    if (in[at] == '[' || next("&&")) {
      refuse("is a class in a class, which is not supported in a split expression", at);
      return std::nullopt;
    }
    if (caseless && uint8_t(in[at]) >= 0x80) {
      refuse("is not ASCII, which is not supported without regard to case", at);
      return std::nullopt;
    }
    std::string text;
    do
      text += in[at++];
    while (at < in.size() && (uint8_t(in[at]) & 0xC0) == 0x80);
    return Item{std::move(text), false};
  }

  bool characterClass() {
    const size_t begin = at++;
    out += '[';
    if (next("^")) {
      if (caseless)
        return refuse("is an inverted class, which is not supported without regard to case", begin);
      out += in[at++];
    }
    if (next("]"))
      return refuse("is an empty class", begin);
    for (bool first = true; at < in.size() && in[at] != ']'; first = false) {
      if (in[at] == '-') {
        if (!first && in.substr(at + 1, 1) != "]")
          return refuse("is a range without a beginning", at);
        out += "\\-", ++at;
        continue;
      }
      std::optional<Item> low = classItem();
      if (!low)
        return false;
      out += low->text;
      if (!next("-") || in.substr(at + 1, 1) == "]" || at + 1 >= in.size())
        continue;
      const size_t dash = at++;
      std::optional<Item> high = classItem();
      if (!high)
        return false;
      if (low->isSet || high->isSet)
        return refuse("is a range whose bounds are not characters", dash);
      out += "-" + high->text;
    }
    if (at == in.size())
      return refuse("is a class that is not closed", begin);
    out += in[at++];
    canRepeat = true;
    return true;
  }

  std::string_view in;
  SplitError &error;
  size_t at = 0;
  std::string out;
  std::vector<Group> groups;
  bool caseless = false;
  bool canRepeat = false; ///< something stands before that a quantifier can apply to
};

} // namespace

std::optional<std::string> toPcre2(std::string_view expression, SplitError &error) {
  return Translator(expression, error).run();
}

} // namespace nnterp
