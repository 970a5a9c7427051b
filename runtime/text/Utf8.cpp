// Reads and repairs UTF-8, classifies characters, and maps bytes to the letters of byte-level BPE.
#include "runtime/text/Utf8.h"

#include <array>
#include <unordered_map>
#include <utf8proc.h>

namespace nnterp {

Utf8Char readUtf8(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return uint8_t(text[i]); };
  const uint8_t lead = byte(at);
  if (lead < 0x80)
    return {lead, 1, true};
  const size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0)
    return {0, 1, false};
  // The range of the second byte excludes overlong forms, surrogates and values beyond U+10FFFF.
  uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t value = lead & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (at + i == text.size() || byte(at + i) < low || byte(at + i) > high)
      return {0, i, false};
    value = value << 6 | (byte(at + i) & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return {value, length, true};
}

Utf8Char readUtf8Before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && (uint8_t(text[begin]) & 0xC0) == 0x80)
    --begin;
  return readUtf8(text, begin);
}

void appendUtf8(std::string &out, char32_t c) {
  if (c < 0x80) {
    out += char(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += char((0xFF80 >> more & 0xFF) | c >> (6 * more)); // lead 110…, 1110… or 11110…
  for (int i = more - 1; i >= 0; --i)
    out += char(0x80 | (c >> (6 * i) & 0x3F));
}

std::optional<size_t> findInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    Utf8Char c = readUtf8(text, at);
    if (!c.valid)
      return at;
    at += c.length;
  }
  return std::nullopt;
}

std::string replaceInvalidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    Utf8Char c = readUtf8(bytes, at);
    if (c.valid)
      out.append(bytes, at, c.length);
    else
      appendUtf8(out, 0xFFFD);
    at += c.length;
  }
  return out;
}

bool isSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool isWord(char32_t c) {
  switch (utf8proc_category(utf8proc_int32_t(c))) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_PC:
    return true;
  case UTF8PROC_CATEGORY_SO: // Alphabetic among the symbols: letters in circles and squares
    return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
           (c >= 0x1F170 && c <= 0x1F189);
  default:
    return c == 0x200C || c == 0x200D; // Join_Control
  }
}

/// Printable bytes of Latin-1 stand for themselves; the others take U+0100 upwards, in their order.
static constexpr std::array<char32_t, 256> makeLetters() {
  std::array<char32_t, 256> letters{};
  char32_t next = 0x100;
  for (char32_t b = 0; b < 256; ++b) {
    const bool printable = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    letters[b] = printable ? b : next++;
  }
  return letters;
}

static constexpr std::array<char32_t, 256> letters = makeLetters();

char32_t byteToLetter(uint8_t byte) { return letters[byte]; }

std::optional<uint8_t> letterToByte(char32_t letter) {
  static const std::unordered_map<char32_t, uint8_t> bytes = [] {
    std::unordered_map<char32_t, uint8_t> map;
    for (unsigned b = 0; b < 256; ++b)
      map.emplace(letters[b], uint8_t(b));
    return map;
  }();
  auto it = bytes.find(letter);
  return it == bytes.end() ? std::nullopt : std::optional<uint8_t>(it->second);
}

std::string hexByte(uint8_t byte) {
  static const char digits[] = "0123456789abcdef";
  return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

} // namespace nnterp
