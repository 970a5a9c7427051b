// NFC with the way back to the source.
#include "runtime/text/Normalize.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace nnterp;

static std::string nfc(std::string_view text) { return std::string(NormalizedText(text).text()); }

static std::pair<size_t, size_t> source(const NormalizedText &text, size_t begin, size_t end) {
  NormalizedText::Range range = text.source(begin, end);
  return {range.begin, range.end};
}

TEST_CASE("composes, reorders and keeps") {
  CHECK(nfc("") == "");
  CHECK(nfc("plain ASCII") == "plain ASCII");
  CHECK(nfc("e\u0301") == "\u00e9");
  CHECK(nfc("1\u0301") == "1\u0301");
  CHECK(nfc("a\u0300\u0323") == "\u1ea1\u0300"); // the mark below goes first
  CHECK(nfc("\u212b\u2126") == "\u00c5\u03a9");  // singletons
  CHECK(nfc("\u0958") == "\u0915\u093c");        // excluded from composition
  CHECK(nfc("\u1112\u1161\u11ab") == "\ud55c");  // Hangul
  CHECK(nfc("\uac00\u11a8") == "\uac01");
  CHECK(nfc("\u09c7\u09be") == "\u09cb");         // a second half of class 0
  CHECK(nfc("\u0301\u0300e") == "\u0301\u0300e"); // marks without a base
}

TEST_CASE("U+11A7 is kept: it only marks where Hangul finals are counted from") {
  CHECK(nfc("\uac00\u11a7") == "\uac00\u11a7");
  CHECK(nfc("\uac00\u11a7\u11a8") == "\uac00\u11a7\u11a8");
}

TEST_CASE("marks that the reference's tables do not have are not moved") {
  CHECK(nfc("a\u0898\u0301") == "a\u0898\u0301");
  CHECK(nfc("u\u1de2\u1dfa") == "u\u1de2\u1dfa");
  CHECK(nfc("\U00011935\U00011930") == "\U00011935\U00011930");
}

TEST_CASE("normalised bytes know their source") {
  // "ae´bo´´c": é and ó come from 3 and 3 bytes, and the second accent of the o stays.
  const NormalizedText text("ae\u0301bo\u0301\u0301c");
  REQUIRE(text.text() == "a\u00e9b\u00f3\u0301c");
  CHECK(source(text, 0, 1) == std::pair<size_t, size_t>(0, 1));
  CHECK(source(text, 1, 3) == std::pair<size_t, size_t>(1, 4));
  CHECK(source(text, 1, 2) == std::pair<size_t, size_t>(1, 4)); // half of é is all of it
  CHECK(source(text, 2, 4) == std::pair<size_t, size_t>(1, 5));
  CHECK(source(text, 3, 4) == std::pair<size_t, size_t>(4, 5));
  CHECK(source(text, 4, 8) == std::pair<size_t, size_t>(5, 10));
  CHECK(source(text, 8, 9) == std::pair<size_t, size_t>(10, 11));
}

TEST_CASE("a hundred thousand marks on one letter take no quadratic time") {
  std::string marks = "x";
  for (int i = 0; i < 50000; ++i)
    marks += "\u0301\u0316";
  const auto begin = std::chrono::steady_clock::now();
  const std::string result = nfc(marks);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(2));
  CHECK(result.size() == marks.size());
  CHECK(result.substr(0, 5) == "x\u0316\u0316");
}
