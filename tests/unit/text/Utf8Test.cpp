// UTF-8: strict reading, replacement like the reference decoder's, and the letters of bytes.
#include "runtime/text/Utf8.h"

#include <catch2/catch.hpp>
#include <set>

using namespace nnterp;

static std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (int value : values)
    text += char(value);
  return text;
}

TEST_CASE("every character reads back as it was written") {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000)
      continue;
    std::string text;
    appendUtf8(text, c);
    Utf8Char read = readUtf8(text, 0), before = readUtf8Before("x" + text, text.size() + 1);
    if (!read.valid || read.value != c || read.length != text.size() || before.value != c)
      FAIL("U+" << std::hex << uint32_t(c));
  }
}

TEST_CASE("what is no UTF-8 is found where it begins") {
  CHECK_FALSE(findInvalidUtf8("a\xC3\xA9\xF0\x9F\x99\x82"));
  CHECK(findInvalidUtf8("ab\xFF") == 2u);
  CHECK(findInvalidUtf8("\x80") == 0u);
  CHECK(findInvalidUtf8("a\xC3") == 1u);
  CHECK(findInvalidUtf8("\xC0\x80") == 0u);         // overlong
  CHECK(findInvalidUtf8("\xE0\x9F\xBF") == 0u);     // overlong
  CHECK(findInvalidUtf8("\xED\xA0\x80") == 0u);     // surrogate
  CHECK(findInvalidUtf8("\xF4\x90\x80\x80") == 0u); // beyond U+10FFFF
}

TEST_CASE("each longest broken beginning becomes one replacement character") {
  const std::string mark = "\xEF\xBF\xBD";
  CHECK(replaceInvalidUtf8("a\xF0\x9F\x99") == "a" + mark);
  CHECK(replaceInvalidUtf8(bytes({0xF0, 0x9F, 'b'})) == mark + "b");
  CHECK(replaceInvalidUtf8(bytes({0xE0, 0x80, 0x80})) == mark + mark + mark);
  CHECK(replaceInvalidUtf8(bytes({0xC3, 0xC3, 0xA9})) == mark + "\xC3\xA9");
  CHECK(replaceInvalidUtf8(bytes({0xED, 0xA0, 0x80, 'x'})) == mark + mark + mark + "x");
  CHECK(replaceInvalidUtf8("").empty());
}

TEST_CASE("bytes and letters correspond") {
  CHECK(byteToLetter('A') == U'A');
  CHECK(byteToLetter(' ') == 0x120);
  CHECK(byteToLetter(0) == 0x100);
  CHECK(byteToLetter(0xAD) == 0x143);
  std::set<char32_t> letters;
  for (int byte = 0; byte < 256; ++byte) {
    letters.insert(byteToLetter(uint8_t(byte)));
    CHECK(letterToByte(byteToLetter(uint8_t(byte))) == uint8_t(byte));
  }
  CHECK(letters.size() == 256);
  CHECK_FALSE(letterToByte(U' '));
  CHECK_FALSE(letterToByte(0x144));
}

TEST_CASE("white space and word characters follow Unicode") {
  CHECK(isSpace(0x3000));
  CHECK(isSpace(0x85));
  CHECK_FALSE(isSpace(0x180E));
  CHECK_FALSE(isSpace(0x200B));
  for (char32_t c : {U'a', U'_', U'7', U'é', U'中', char32_t(0x301), char32_t(0x24B6), char32_t(0x200D)})
    CHECK(isWord(c));
  for (char32_t c : {U' ', U'-', U'<', U'½', U'🙂'})
    CHECK_FALSE(isWord(c));
}
