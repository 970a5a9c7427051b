// Texts through the tokenizer, conversations through chat template and tokenizer.
#include "tools/nnterp/InputTexts.h"
#include "tools/nnterp/PreparePlan.h"

namespace nnterp {

const Tokenizer *InputTexts::needTokenizer() {
  if (!std::exchange(triedTokenizer, true))
    tokenizer = Tokenizer::load(checkpointFolder(checkpoint), diags);
  return tokenizer ? &*tokenizer : nullptr;
}

const ChatTemplate *InputTexts::needTemplate() {
  if (!std::exchange(triedTemplate, true))
    chatTemplate = ChatTemplate::load(checkpointFolder(checkpoint), diags);
  return chatTemplate ? &*chatTemplate : nullptr;
}

std::optional<InputTexts::Rows> InputTexts::encode(const std::vector<std::string> &texts, const SourceLoc &source) {
  const Tokenizer *encoder = needTokenizer();
  if (!encoder)
    return std::nullopt;
  Rows rows;
  for (const std::string &text : texts) {
    Diagnostics unread;
    std::optional<std::vector<Token>> tokens = encoder->encode(text, unread);
    for (Diagnostic &problem : unread.all()) { // "text" says less than where the text came from
      if (source.line > 0)
        problem.loc = source;
      else
        problem.loc.file = source.file;
      diags.all().push_back(std::move(problem));
    }
    if (!tokens)
      continue;
    std::vector<int64_t> &row = rows.emplace_back();
    for (const Token &token : *tokens)
      row.push_back(token.id);
  }
  return rows.size() == texts.size() ? std::optional(std::move(rows)) : std::nullopt;
}

bool InputTexts::render(const std::optional<ConversationFile> &file, std::vector<std::string> &texts) {
  const ChatTemplate *renderer = file ? needTemplate() : nullptr;
  if (!renderer)
    return false;
  std::optional<std::vector<std::string>> rendered = renderer->render(*file, chat, diags);
  if (rendered)
    texts.insert(texts.end(), rendered->begin(), rendered->end());
  return rendered.has_value();
}

std::optional<InputTexts::Rows> InputTexts::encodeChats(const std::vector<std::string> &paths,
                                                        const SourceLoc &source) {
  std::vector<std::string> texts;
  bool good = true;
  for (const std::string &path : paths)
    good = render(ConversationFile::read(path, diags, source), texts) && good;
  return good ? encode(texts, source) : std::nullopt;
}

std::optional<InputTexts::Rows> InputTexts::encodeChatPrompts(const std::vector<std::string> &prompts,
                                                              const SourceLoc &source) {
  std::vector<std::string> texts;
  if (!render(ConversationFile::ofPrompts(prompts, source, diags), texts))
    return std::nullopt;
  return encode(texts, source);
}

} // namespace nnterp
