// Splits PTX text into tokens: directives and opcodes with all their modifiers, names, numbers, punctuation.
#pragma once

#include <cstdint>
#include <string_view>

namespace nnterp::gpu::emulator {

enum class TokenKind { end, word, integer, real32, real64, string, mark, bad };

/// `word`: `.reg`, `ld.global.b32`, `%tid.x`, `$L__BB0_1`. `mark`: one character of `{}[]()<>,;:@!|+-=_` and the like.
struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  int line = 0;
  uint64_t bits = 0; ///< of numbers: the integer, or the float's bits

  bool is(std::string_view what) const { return kind != TokenKind::string && text == what; }
};

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  Token next();

private:
  void skipBlanks();
  Token number();

  std::string_view text;
  size_t at = 0;
  int line = 1;
};

} // namespace nnterp::gpu::emulator
