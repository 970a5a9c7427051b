// Split expressions: the family's, others of its kind, and what is refused.
#include "runtime/text/SplitExpression.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

using namespace nnterp;

using Pieces = std::vector<std::string>;

static const char *family =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

static Pieces split(std::string_view expression, std::string_view text) {
  SplitError error;
  auto compiled = SplitExpression::compile(expression, error);
  INFO(error.message);
  REQUIRE(compiled);
  Pieces pieces;
  REQUIRE(compiled->split(
      text, [&](size_t begin, size_t end) { pieces.emplace_back(text.substr(begin, end - begin)); }, error));
  return pieces;
}

static std::string refusal(std::string_view expression) {
  SplitError error;
  REQUIRE_FALSE(SplitExpression::compile(expression, error));
  return std::to_string(error.at) + ": " + error.message;
}

TEST_CASE("the family's expression") {
  CHECK(split(family, "") == Pieces{});
  CHECK(split(family, "it's I'LL go") == Pieces{"it", "'s", " I", "'LL", " go"});
  CHECK(split(family, "x=123 45") == Pieces{"x", "=", "1", "2", "3", " ", "4", "5"});
  CHECK(split(family, "  a \n\n b  ") == Pieces{" ", " a", " \n\n", " b", "  "});
  CHECK(split(family, "hi!!\r\nyo") == Pieces{"hi", "!!\r\n", "yo"});
  CHECK(split(family, "\u0915\u094d\u0937\u093f") == Pieces{"\u0915\u094d\u0937\u093f"}); // marks belong to words
  CHECK(split(family, "a'\u017f") == Pieces{"a", "'\u017f"}); // the long s is an s without regard to case
}

TEST_CASE("white space is Unicode's: U+180E is none, U+3000 and U+0085 are") {
  CHECK(split(R"(\s+)", "a\u180eb\u3000\u0085c") == Pieces{"a\u180eb", "\u3000\u0085", "c"});
  CHECK(split(R"(\S+)", "a\u180e \u200b") == Pieces{"a\u180e", " ", "\u200b"});
  CHECK(split(R"([^\s]+)", "a \u2028b") == Pieces{"a", " \u2028", "b"});
  CHECK(split(R"([^\S\n]+)", "a \t\nb") == Pieces{"a", " \t", "\nb"});
}

TEST_CASE("text between matches is kept as pieces, and empty matches only cut") {
  CHECK(split("b", "abba") == Pieces{"a", "b", "b", "a"});
  CHECK(split("x*", "axxb") == Pieces{"a", "xx", "b"});
  CHECK(split("", "a\u00e9") == Pieces{"a", "\u00e9"});
}

TEST_CASE("other expressions of the kind") {
  CHECK(split(R"('(?i:[sdmt]|ll|ve|re)|\p{N}{1,3}|[^\s\p{L}\p{N}]++|\p{L}+)", "1234it'D!!") ==
        Pieces{"123", "4", "it", "'D", "!!"});
  CHECK(split(R"(\p{Lu}\p{^Lu}*|\P{L})", "AbC d") == Pieces{"Ab", "C d"});
  CHECK(split(R"(a{2}|(b|c){1,2}?|[\d\-.]+)", "aaabc1-2.3") == Pieces{"aa", "a", "b", "c", "1-2.3"});
  CHECK(split("[a-c-]+", "xa-cx") == Pieces{"x", "a-c", "x"});
}

TEST_CASE("inverted properties in a row give back what they took") {
  CHECK(split(R"(\P{So}??\P{Nl})", "!\u00e9") == Pieces{"!", "\u00e9"});
  CHECK(split(R"(\P{Lu}+\P{Nd})", "abc") == Pieces{"abc"});
}

TEST_CASE("a lazy atomic group is found where it first matches") {
  CHECK(split("(?>x+?A?)(?=k)", "xxxxAk") == Pieces{"xxx", "xA", "k"});
}

TEST_CASE("what would be read differently is refused") {
  CHECK(refusal(R"(\w+)") == R"x(0: "\w+" is not supported in a split expression)x");
  CHECK(refusal("ab.") == R"x(2: "." is not supported in a split expression)x");
  CHECK(refusal("^a") == R"x(0: "^a" is not supported in a split expression)x");
  CHECK(refusal(R"(\p{Han})") == R"x(0: "\p{Han}" is no general category of Unicode)x");
  CHECK(refusal("(?<=a)b") == R"x(0: "(?<=a)b" is a kind of group that is not supported in a split expression)x");
  CHECK(refusal("(*UTF)") == R"x(1: "*UTF)" has nothing to repeat)x");
  CHECK(refusal("a**") == R"x(2: "*" has nothing to repeat)x");
  CHECK(refusal("a{2}?") ==
        R"x(1: "{2}?" is a repetition of a repetition, which is not supported in a split expression)x");
  CHECK(refusal("a{,2}") == R"x(1: "{,2}" is not a repetition {n}, {n,} or {n,m})x");
  CHECK(refusal("[a[b]]") == R"x(2: "[b]]" is a class in a class, which is not supported in a split expression)x");
  CHECK(refusal("[a&&b]") == R"x(2: "&&b]" is a class in a class, which is not supported in a split expression)x");
  CHECK(refusal("[a") == R"x(0: "[a" is a class that is not closed)x");
  CHECK(refusal("[]a]") == R"x(0: "[]a]" is an empty class)x");
  CHECK(refusal(R"([\s-z])") == R"x(3: "-z]" is a range whose bounds are not characters)x");
  CHECK(refusal("[a-b-c]") == R"x(4: "-c]" is a range without a beginning)x");
  CHECK(refusal("(a") == R"x(0: "(a" is a group that is not closed)x");
  CHECK(refusal("a)") == R"x(1: ")" closes no group)x");
  CHECK(refusal("(?i:st)") ==
        R"x(4: "st)" begins with letters that are also one character, which is not supported without regard to case)x");
  CHECK(refusal("(?i:\u00e9)") == "4: \"\u00e9)\" is not ASCII, which is not supported without regard to case");
  CHECK(refusal("(?i:\\p{Lu})") == R"x(4: "\p{Lu})" is not supported without regard to case)x");
  CHECK(refusal("\xff") == "0: the expression is not UTF-8");
  CHECK(refusal("[z-a]") == "0: range out of order in character class");
}

TEST_CASE("a hundred thousand characters of one kind take no quadratic time") {
  const auto begin = std::chrono::steady_clock::now();
  for (const char *unit : {"a", " ", "\n", "!", "<", "\u0301", " \n"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i)
      text += unit;
    CHECK(split(family, text + "x").size() <= 3);
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("an expression that takes too many steps is given up") {
  SplitError error;
  auto compiled = SplitExpression::compile("(?:a+)+b|c", error);
  REQUIRE(compiled);
  CHECK_FALSE(compiled->split(
      "c" + std::string(60, 'a'), [](size_t, size_t) {}, error));
  CHECK(error.at == 1);
  CHECK(error.message == "match limit exceeded");
}
