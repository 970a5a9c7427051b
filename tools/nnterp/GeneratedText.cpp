// Decodes generated tokens.
#include "tools/nnterp/GeneratedText.h"

#include <map>

namespace nnterp {

/// A character has at most four bytes, so that no more tokens than that can wait for its end.
static constexpr size_t mostHeld = 4;

/// The last character is not whole, or no character at all: decoders show it as U+FFFD.
static bool endsWithin(const std::string &text) {
  constexpr std::string_view replacement = "\xef\xbf\xbd";
  return text.size() >= replacement.size() &&
         text.compare(text.size() - replacement.size(), replacement.size(), replacement) == 0;
}

std::string TokenText::add(int64_t id) {
  if (!tokenizer) {
    std::string text = (begun ? " " : "") + std::to_string(id);
    begun = true;
    return text;
  }
  held.push_back(id);
  std::string text = tokenizer->decode(held);
  if (endsWithin(text) && held.size() < mostHeld)
    return "";
  held.clear();
  return text;
}

std::string TokenText::finish() {
  std::string text = held.empty() ? "" : tokenizer->decode(held);
  held.clear();
  return text;
}

std::string textOf(const GeneratedRow &row, const Tokenizer *tokenizer) {
  const size_t count = row.tokens.size() - (row.ended ? 1 : 0);
  if (tokenizer)
    return tokenizer->decode({row.tokens.begin(), row.tokens.begin() + long(count)});
  TokenText text(nullptr);
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += text.add(row.tokens[i]);
  return all;
}

std::string generatedText(const std::vector<GeneratedRow> &rows, bool worlds, const Tokenizer *tokenizer) {
  std::map<std::string, size_t> rowsOf;
  for (const GeneratedRow &row : rows)
    ++rowsOf[row.world];
  std::string text;
  for (const GeneratedRow &row : rows) {
    std::string label = worlds ? row.world : "";
    if (rowsOf[row.world] > 1)
      label += (label.empty() ? "row " : ", row ") + std::to_string(row.row);
    text += (label.empty() ? "" : label + ": ") + textOf(row, tokenizer) + "\n";
  }
  return text;
}

} // namespace nnterp
