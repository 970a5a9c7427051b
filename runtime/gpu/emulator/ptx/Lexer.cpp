// Splits PTX text into tokens.
#include "runtime/gpu/emulator/ptx/Lexer.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string>

namespace nnterp::gpu::emulator {

static bool beginsWord(char c) { return std::isalpha(uint8_t(c)) || c == '_' || c == '$' || c == '%' || c == '.'; }
static bool continuesWord(char c) { return std::isalnum(uint8_t(c)) || c == '_' || c == '$' || c == '.'; }

void Lexer::skipBlanks() {
  while (at < text.size()) {
    if (text[at] == '\n') {
      ++line, ++at;
    } else if (std::isspace(uint8_t(text[at])) || text[at] == '\0') {
      ++at;
    } else if (text.compare(at, 2, "//") == 0) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.compare(at, 2, "/*") == 0) {
      const size_t stop = std::min(text.find("*/", at + 2), text.size());
      for (; at < stop; ++at)
        line += text[at] == '\n';
      at = std::min(at + 2, text.size());
    } else {
      return;
    }
  }
}

/// `12`, `-` is a mark of its own, `0x1F`, `017`, `0b101`, each with `U` behind it if one likes; `0f3F800000`, `0d…`,
/// `1.5e3`.
Token Lexer::number() {
  size_t stop = at;
  while (stop < text.size() &&
         (continuesWord(text[stop]) ||
          ((text[stop] == '+' || text[stop] == '-') && std::tolower(text[stop - 1]) == 'e' &&
           text.compare(at, 2, "0x") != 0 && text.compare(at, 2, "0f") != 0 && text.compare(at, 2, "0d") != 0 &&
           text.compare(at, 2, "0F") != 0 && text.compare(at, 2, "0D") != 0 && text.compare(at, 2, "0X") != 0)))
    ++stop;
  Token token{TokenKind::integer, text.substr(at, stop - at), line, 0};
  at = stop;
  std::string digits(token.text);
  const char second = digits.size() > 1 && digits[0] == '0' ? char(std::tolower(digits[1])) : '\0';
  int base = second == 'x' ? 16 : second == 'b' ? 2 : 10;
  if ((second == 'f' && digits.size() == 10) || (second == 'd' && digits.size() == 18)) {
    token.kind = second == 'f' ? TokenKind::real32 : TokenKind::real64;
    base = 16;
  } else if (digits.find('.') != std::string::npos || (base == 10 && digits.find_first_of("eE") != std::string::npos)) {
    char *rest = nullptr;
    const double value = std::strtod(digits.c_str(), &rest);
    std::memcpy(&token.bits, &value, sizeof value);
    token.kind = *rest ? TokenKind::bad : TokenKind::real64;
    return token;
  } else if (base == 10 && digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  if (token.kind == TokenKind::integer && std::tolower(digits.back()) == 'u')
    digits.pop_back();
  const char *first = digits.c_str() + (base == 16 || base == 2 ? 2 : 0);
  char *rest = nullptr;
  token.bits = std::strtoull(first, &rest, base);
  if (*rest || rest == first)
    token.kind = TokenKind::bad;
  return token;
}

Token Lexer::next() {
  skipBlanks();
  if (at == text.size())
    return {TokenKind::end, "the end of the text", line, 0};
  const char c = text[at];
  if (std::isdigit(uint8_t(c)))
    return number();
  const size_t first = at;
  if (c == '"') {
    const size_t stop = text.find('"', at + 1);
    if (stop == std::string_view::npos || text.substr(at, stop - at).find('\n') != std::string_view::npos) {
      at = text.size();
      return {TokenKind::bad, text.substr(first, 1), line, 0};
    }
    at = stop + 1;
    return {TokenKind::string, text.substr(first + 1, stop - first - 1), line, 0};
  }
  ++at;
  if (!beginsWord(c))
    return {TokenKind::mark, text.substr(first, 1), line, 0};
  while (at < text.size() && (continuesWord(text[at]) || text.compare(at, 2, "::") == 0))
    at += text[at] == ':' ? 2 : 1;
  return {TokenKind::word, text.substr(first, at - first), line, 0};
}

} // namespace nnterp::gpu::emulator
