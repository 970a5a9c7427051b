// Byte-level BPE tokenizers of this family, read from tokenizer.json (spec/qwen3_5_moe.md 6.1).
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Json.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// One token of an encoded text; `begin`/`end` are byte offsets in the text given.
struct Token {
  int64_t id;
  size_t begin, end;
};

class Tokenizer {
public:
  /// Reads `CKPT/tokenizer.json`. Parts this reader does not know (another model, normaliser, pre-tokeniser, decoder,
  /// post-processor) are refused by name. Errors: NNT0101, NNT0103, NNT04xx.
  static std::optional<Tokenizer> load(const std::string &checkpoint, Diagnostics &diags);
  static std::optional<Tokenizer> fromJson(const Json &json, Diagnostics &diags);

  /// Text (UTF-8) to tokens: added tokens verbatim first, NFC, split, byte-level BPE. Invalid UTF-8 is an error
  /// (NNT04xx).
  std::optional<std::vector<Token>> encode(std::string_view text, Diagnostics &diags) const;
  std::vector<int64_t> encodeIds(std::string_view text, Diagnostics &diags) const;
  /// Ids to text; incomplete UTF-8 sequences become U+FFFD as the reference's decoder does. Unknown ids decode to
  /// nothing.
  std::string decode(const std::vector<int64_t> &ids, bool skipSpecial = false) const;
  /// The bytes of one token as shown to people ("" when unknown).
  std::string piece(int64_t id) const;
  std::optional<int64_t> idOf(std::string_view token) const; ///< of an added token or a vocabulary entry, verbatim
  int64_t size() const;

private:
  struct Impl;
  std::shared_ptr<const Impl> impl;
};

} // namespace nnterp
