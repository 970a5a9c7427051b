// Generated tokens as text: while they come, and all together.
#pragma once

#include "runtime/text/Tokenizer.h"
#include "tools/nnterp/SequenceRun.h"

#include <string>
#include <vector>

namespace nnterp {

/// Joins the bytes of one row's tokens, so that no character is shown before all of its bytes are there. Without a tokenizer
/// the ids themselves are the text.
class TokenText {
public:
  explicit TokenText(const Tokenizer *tokenizer) : tokenizer(tokenizer) {}
  /// What can be shown now that this token has come.
  std::string add(int64_t id);
  /// What is left when no more tokens come.
  std::string finish();

private:
  const Tokenizer *tokenizer;
  std::vector<int64_t> held; ///< tokens of a character that is not whole yet
  bool begun = false;
};

/// A row's text, without its end token.
std::string textOf(const GeneratedRow &row, const Tokenizer *tokenizer);

/// Every row's text, each behind its row's number and world where there are several.
std::string generatedText(const std::vector<GeneratedRow> &rows, bool worlds, const Tokenizer *tokenizer);

} // namespace nnterp
