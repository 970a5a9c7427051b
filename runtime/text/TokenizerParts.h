// What a tokenizer consists of, and reading it from tokenizer.json.
#pragma once

#include "runtime/abi/Json.h"
#include "runtime/text/AddedTokens.h"
#include "runtime/text/Bpe.h"
#include "runtime/text/SplitExpression.h"

namespace nnterp {

struct TokenizerParts {
  Vocabulary vocabulary;
  Bpe bpe;
  bool ignoreMerges = false; ///< a piece that is an entry is that token, whatever the merges say
  SplitExpression split;
  std::vector<AddedToken> added;
};

/// Reads the file's tree; all errors of its parts in one go. Errors: NNT0104, NNT0402-0406, NNT0408.
std::optional<TokenizerParts> readTokenizer(const Json &json, Diagnostics &diags);

} // namespace nnterp
