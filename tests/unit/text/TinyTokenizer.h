// A small tokenizer for tests: tiny-text's tokenizer.json, as it is or with a part of its text replaced.
#pragma once

#include "runtime/abi/File.h"
#include "runtime/text/Tokenizer.h"

#include <catch2/catch.hpp>

inline std::string tinyJson() {
  nnterp::Diagnostics diags;
  auto text = nnterp::readFile(NNTERP_TEST_DATA "/checkpoints/tiny-text/tokenizer.json", diags);
  REQUIRE(text);
  return *text;
}

/// Replaces the first occurrence of `from`, which has to be there.
inline std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

inline std::optional<nnterp::Tokenizer> readTokenizer(const std::string &text, nnterp::Diagnostics &diags) {
  auto json = nnterp::parseJson(text, "tokenizer.json", diags);
  return json ? nnterp::Tokenizer::fromJson(*json, diags) : std::nullopt;
}

inline std::string formatted(const nnterp::Diagnostics &diags) {
  std::string text;
  for (const nnterp::Diagnostic &diagnostic : diags.all())
    text += format(diagnostic);
  return text;
}

inline nnterp::Tokenizer tokenizerOf(const std::string &text) {
  nnterp::Diagnostics diags;
  auto tokenizer = readTokenizer(text, diags);
  INFO(formatted(diags));
  REQUIRE(tokenizer);
  return *tokenizer;
}

/// What reading the text reports; reading has to fail.
inline std::string errorsOf(const std::string &text) {
  nnterp::Diagnostics diags;
  CHECK_FALSE(readTokenizer(text, diags));
  return formatted(diags);
}
