// UTF-8 as the tokenizer needs it: strict reading, replacement of what is not text, and byte-level BPE's alphabet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnterp {

/// What stands at one place of a byte string: a character, or the longest beginning of one that then breaks off.
struct Utf8Char {
  char32_t value = 0;
  size_t length = 0; ///< bytes; at least 1
  bool valid = false;
};

/// Reads at `at` < text.size(). Surrogates, overlong forms and values beyond U+10FFFF are not valid.
Utf8Char readUtf8(std::string_view text, size_t at);

/// Reads the character that ends at `end` > 0 of valid text.
Utf8Char readUtf8Before(std::string_view text, size_t end);

void appendUtf8(std::string &out, char32_t c);

/// The offset of the first byte that is not part of a character, or nothing when all is UTF-8.
std::optional<size_t> findInvalidUtf8(std::string_view text);

/// Every longest broken beginning of a character becomes one U+FFFD.
std::string replaceInvalidUtf8(std::string_view bytes);

/// Unicode's White_Space.
bool isSpace(char32_t c);

/// A word character in the sense of Unicode's regular expressions (UTS 18): Alphabetic, M, Nd, Pc, Join_Control.
bool isWord(char32_t c);

/// The printable letter that stands for a byte in vocabularies of byte-level BPE.
char32_t byteToLetter(uint8_t byte);
std::optional<uint8_t> letterToByte(char32_t letter);

/// "0xff": for messages.
std::string hexByte(uint8_t byte);

} // namespace nnterp
