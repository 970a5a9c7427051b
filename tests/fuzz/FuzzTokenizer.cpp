// Fuzzes tokenizer.json's reader, and encoding with a small tokenizer: whatever the bytes are, a result or an error.
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Utf8.h"

#include <cstdint>
#include <cstdlib>

using namespace nnterp;

/// A tokenizer with an entry per byte, a few merges, and added tokens of every kind.
static const Tokenizer &smallTokenizer() {
  static const Tokenizer tokenizer = [] {
    std::string vocab;
    for (int byte = 0; byte < 256; ++byte) {
      std::string letter;
      appendUtf8(letter, byteToLetter(uint8_t(byte)));
      vocab += Json::of(letter).dump() + ":" + std::to_string(byte) + ",";
    }
    const std::string text =
        R"({"version": "1.0", "added_tokens": [
        {"id": 260, "content": "<|a|>", "single_word": false, "lstrip": true, "rstrip": false, "normalized": false, "special": true},
        {"id": 261, "content": "<b>", "single_word": true, "lstrip": false, "rstrip": true, "normalized": false, "special": false},
        {"id": 262, "content": "e\u0301", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true, "special": false},
        {"id": 263, "content": "\n\n", "single_word": false, "lstrip": true, "rstrip": true, "normalized": true, "special": false}],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": false},
        {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}]},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {)" +
        vocab + R"("th": 256, "the": 257, "aa": 258, "aaaa": 259}, "merges": ["t h", "th e", "a a", "aa aa"]}})";
    Diagnostics diags;
    std::optional<Json> json = parseJson(text, "small", diags);
    std::optional<Tokenizer> small = json ? Tokenizer::fromJson(*json, diags) : std::nullopt;
    if (!small)
      std::abort();
    return *small;
  }();
  return tokenizer;
}

/// What holds for every encoding: an error or tokens with places in the text, which decode to UTF-8.
static void check(const Tokenizer &tokenizer, std::string_view text) {
  Diagnostics diags;
  std::optional<std::vector<Token>> tokens = tokenizer.encode(text, diags);
  if (tokens.has_value() == diags.hasErrors())
    std::abort();
  if (!tokens)
    return;
  std::vector<int64_t> ids;
  for (const Token &token : *tokens) {
    if (token.begin > token.end || token.end > text.size())
      std::abort();
    ids.push_back(token.id);
  }
  if (findInvalidUtf8(tokenizer.decode(ids)) || findInvalidUtf8(tokenizer.decode(ids, true)))
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  Diagnostics diags;
  if (std::optional<Json> json = parseJson(text, "tokenizer.json", diags)) {
    std::optional<Tokenizer> tokenizer = Tokenizer::fromJson(*json, diags);
    if (tokenizer.has_value() == diags.hasErrors())
      std::abort();
    if (tokenizer)
      check(*tokenizer, "It's the cafe\u0301 of <|a|> 12 aaaaaaa\n\n  \U0001f642");
  }
  check(smallTokenizer(), text);
  return 0;
}
