// Added tokens in text: which match, and what their flags do.
#include "runtime/text/AddedTokens.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace nnterp;

/// The pieces of a text, tokens in brackets with their id.
static std::string shown(const std::vector<AddedToken> &tokens, std::string_view text) {
  TokenMatcher matcher;
  for (const AddedToken &token : tokens)
    matcher.add(token.content, token);
  std::string out;
  for (const TokenMatcher::Span &span : matcher.split(text)) {
    const std::string piece(text.substr(span.begin, span.end - span.begin));
    out += span.id ? "[" + std::to_string(*span.id) + ":" + piece + "]" : "(" + piece + ")";
  }
  return out;
}

static AddedToken token(int64_t id, std::string content) {
  AddedToken result;
  result.id = id;
  result.content = std::move(content);
  return result;
}

TEST_CASE("the leftmost token is taken, of those the longest") {
  const std::vector<AddedToken> tokens = {token(1, "ab"), token(2, "abc"), token(3, "bcd")};
  CHECK(shown(tokens, "") == "");
  CHECK(shown(tokens, "xyz") == "(xyz)");
  CHECK(shown(tokens, "xabcdab") == "(x)[2:abc](d)[1:ab]");
  CHECK(shown(tokens, "abab") == "[1:ab][1:ab]");
  CHECK(shown(tokens, "aabx") == "(a)[1:ab](x)");
  CHECK(shown({}, "ab") == "(ab)");
}

TEST_CASE("single words stand between characters of no word") {
  AddedToken word = token(1, "cat");
  word.singleWord = true;
  CHECK(shown({word}, "cat") == "[1:cat]");
  CHECK(shown({word}, "a cat, cats concat \u00e9cat cat\u0301 <cat>") ==
        "(a )[1:cat](, cats concat \u00e9cat cat\u0301 <)[1:cat](>)");
  // A match that is refused is not searched for shorter ones or others inside.
  CHECK(shown({word, token(2, "at")}, "cats") == "(cats)");
}

TEST_CASE("white space is taken along on the sides that say so") {
  AddedToken left = token(1, "<l>"), right = token(2, "<r>");
  left.lstrip = true;
  right.rstrip = true;
  CHECK(shown({left, right}, "a \u3000<l> b") == "(a)[1: \u3000<l>]( b)");
  CHECK(shown({left, right}, "a <r> \n b") == "(a )[2:<r> \n ](b)");
  CHECK(shown({left, right}, "<r>  <l>  <l>") == "[2:<r>  ][1:<l>][1:  <l>]");
  CHECK(shown({left, right}, "  <l>") == "[1:  <l>]");
}

TEST_CASE("a token in white space that another took along is still given, as the reference gives it") {
  AddedToken right = token(1, "<r>"), newline = token(2, "\n");
  right.rstrip = true;
  CHECK(shown({right, newline}, "<r>\nx") == "[1:<r>\n][2:\n](x)");
  newline.lstrip = true;
  CHECK(shown({right, newline}, "<r> \n") == "[1:<r> \n][2:]");
}

TEST_CASE("long runs of space and of token beginnings take no quadratic time") {
  AddedToken space = token(1, " ");
  space.lstrip = true;
  TokenMatcher matcher;
  matcher.add(" ", space);
  matcher.add("<|endoftext|>", token(2, "<|endoftext|>"));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(matcher.split(std::string(200000, ' ')).size() == 200000);
  CHECK(matcher.split(std::string(200000, '<')).size() == 1);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
}
