// The tokenizer as a whole: added tokens, NFC, split, byte-level BPE; and the way back.
#include "runtime/text/Tokenizer.h"
#include "runtime/text/Normalize.h"
#include "runtime/text/TokenizerParts.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <unordered_map>

namespace nnterp {

struct Tokenizer::Impl {
  TokenizerParts parts;
  TokenMatcher verbatim;   ///< added tokens matched in the text as it is
  TokenMatcher normalized; ///< added tokens matched after NFC

  /// A token as decoding sees it.
  struct Decoded {
    std::string bytes;
    bool special = false;
  };
  std::unordered_map<int64_t, Decoded> added;
  std::unordered_map<std::string, int64_t> addedIds;
  int64_t size = 0;

  explicit Impl(TokenizerParts given);
  std::optional<Decoded> decode(int64_t id) const;
};

/// An entry's letters as the bytes they stand for; an entry with any other character stands for itself.
static std::string entryBytes(std::string_view entry) {
  std::string bytes;
  for (size_t at = 0; at < entry.size();) {
    Utf8Char c = readUtf8(entry, at);
    std::optional<uint8_t> byte = c.valid ? letterToByte(c.value) : std::nullopt;
    if (!byte)
      return std::string(entry);
    bytes += char(*byte);
    at += c.length;
  }
  return bytes;
}

Tokenizer::Impl::Impl(TokenizerParts given) : parts(std::move(given)) {
  size = int64_t(parts.vocabulary.size());
  for (const AddedToken &token : parts.added) {
    std::string form = token.content;
    if (token.normalized)
      form = NormalizedText(token.content).text();
    (token.normalized ? normalized : verbatim).add(form, token);
    added[token.id] = {entryBytes(form), token.special};
    addedIds[token.content] = token.id;
    if (!parts.vocabulary.entryOf(token.id))
      ++size;
  }
}

std::optional<Tokenizer::Impl::Decoded> Tokenizer::Impl::decode(int64_t id) const {
  if (auto it = added.find(id); it != added.end())
    return it->second;
  if (const std::string *entry = parts.vocabulary.entryOf(id))
    return Decoded{entryBytes(*entry), false};
  return std::nullopt;
}

namespace {

/// One call of encode(): the tokens so far, and the pieces seen in it, which repeat a lot in real text.
class Encoder {
public:
  Encoder(const TokenizerParts &parts) : parts(parts) {}

  std::vector<Token> tokens;

  /// Encodes a piece that begins at `begin` in `normal`, which begins at `offset` in the text given.
  void piece(std::string_view bytes, const NormalizedText &normal, size_t begin, size_t offset) {
    for (const Bpe::Symbol &symbol : symbols(bytes)) {
      NormalizedText::Range range = normal.source(begin, begin + symbol.length);
      tokens.push_back({symbol.id, offset + range.begin, offset + range.end});
      begin += symbol.length;
    }
  }

private:
  const std::vector<Bpe::Symbol> &symbols(std::string_view bytes) {
    static constexpr size_t longestKept = 64, mostKept = 1 << 16;
    const bool keep = bytes.size() <= longestKept && seen.size() < mostKept;
    if (bytes.size() <= longestKept)
      if (auto it = seen.find(std::string(bytes)); it != seen.end())
        return it->second;
    current.clear();
    if (std::optional<uint32_t> id = wholeEntry(bytes))
      current.push_back({*id, uint32_t(bytes.size())});
    else
      parts.bpe.encode(bytes, current);
    return keep ? seen.emplace(bytes, current).first->second : current;
  }

  std::optional<uint32_t> wholeEntry(std::string_view bytes) const {
    if (!parts.ignoreMerges)
      return std::nullopt;
    std::string letters;
    for (char byte : bytes)
      appendUtf8(letters, byteToLetter(uint8_t(byte)));
    return parts.vocabulary.idOf(letters);
  }

  const TokenizerParts &parts;
  std::unordered_map<std::string, std::vector<Bpe::Symbol>> seen;
  std::vector<Bpe::Symbol> current;
};

/// Where a byte of a text stands, counted as editors do; the text is named "text".
SourceLoc placeInText(std::string_view text, size_t at) {
  SourceLoc loc{"text", 1, 1};
  for (char c : text.substr(0, at)) {
    if (c == '\n')
      ++loc.line, loc.col = 1;
    else if ((c & 0xC0) != 0x80)
      ++loc.col;
  }
  return loc;
}

} // namespace

std::optional<Tokenizer> Tokenizer::load(const std::string &checkpoint, Diagnostics &diags) {
  std::optional<Json> json = readJsonFile(checkpoint + "/tokenizer.json", diags);
  return json ? fromJson(*json, diags) : std::nullopt;
}

std::optional<Tokenizer> Tokenizer::fromJson(const Json &json, Diagnostics &diags) {
  std::optional<TokenizerParts> parts = readTokenizer(json, diags);
  if (!parts)
    return std::nullopt;
  Tokenizer tokenizer;
  tokenizer.impl = std::make_shared<const Impl>(std::move(*parts));
  return tokenizer;
}

std::optional<std::vector<Token>> Tokenizer::encode(std::string_view text, Diagnostics &diags) const {
  if (std::optional<size_t> invalid = findInvalidUtf8(text)) {
    diags.error("NNT0401", placeInText(text, *invalid),
                "the text is not UTF-8: byte " + hexByte(uint8_t(text[*invalid])) + " at offset " +
                    std::to_string(*invalid) + "; expected a whole UTF-8 character");
    return std::nullopt;
  }
  Encoder encoder(impl->parts);
  for (const TokenMatcher::Span &outer : impl->verbatim.split(text)) {
    if (outer.id) {
      encoder.tokens.push_back({*outer.id, outer.begin, outer.end});
      continue;
    }
    const NormalizedText normal(text.substr(outer.begin, outer.end - outer.begin));
    for (const TokenMatcher::Span &inner : impl->normalized.split(normal.text())) {
      if (inner.id) {
        NormalizedText::Range range = normal.source(inner.begin, inner.end);
        encoder.tokens.push_back({*inner.id, outer.begin + range.begin, outer.begin + range.end});
        continue;
      }
      const std::string_view part = normal.text().substr(inner.begin, inner.end - inner.begin);
      SplitError error;
      bool done = impl->parts.split.split(
          part,
          [&](size_t begin, size_t end) {
            encoder.piece(part.substr(begin, end - begin), normal, inner.begin + begin, outer.begin);
          },
          error);
      if (!done) {
        const size_t at = outer.begin + normal.source(inner.begin + error.at, inner.begin + error.at + 1).begin;
        diags.error("NNT0407", placeInText(text, at),
                    "the split expression gave up at offset " + std::to_string(at) + ": " + error.message +
                        "; expected a match within its limit of steps");
        return std::nullopt;
      }
    }
  }
  return std::move(encoder.tokens);
}

std::vector<int64_t> Tokenizer::encodeIds(std::string_view text, Diagnostics &diags) const {
  std::vector<int64_t> ids;
  if (std::optional<std::vector<Token>> tokens = encode(text, diags))
    for (const Token &token : *tokens)
      ids.push_back(token.id);
  return ids;
}

std::string Tokenizer::decode(const std::vector<int64_t> &ids, bool skipSpecial) const {
  std::string bytes;
  for (int64_t id : ids)
    if (auto token = impl->decode(id); token && !(skipSpecial && token->special))
      bytes += token->bytes;
  return replaceInvalidUtf8(bytes);
}

std::string Tokenizer::piece(int64_t id) const { return decode({id}); }

std::optional<int64_t> Tokenizer::idOf(std::string_view token) const {
  if (auto it = impl->addedIds.find(std::string(token)); it != impl->addedIds.end())
    return it->second;
  return impl->parts.vocabulary.idOf(token);
}

int64_t Tokenizer::size() const { return impl->size; }

} // namespace nnterp
