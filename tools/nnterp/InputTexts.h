// Texts and conversations as rows of token ids.
#pragma once

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/Tokenizer.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// Reads a checkpoint's tokenizer and chat template when they are first needed, and once.
class InputTexts {
public:
  using Rows = std::vector<std::vector<int64_t>>;

  InputTexts(std::string checkpoint, ChatOptions chat, Diagnostics &diags)
      : checkpoint(std::move(checkpoint)), chat(chat), diags(diags) {}

  /// One row per text. `source` is where the texts came from. Errors: those of Tokenizer.
  std::optional<Rows> encode(const std::vector<std::string> &texts, const SourceLoc &source);
  /// One row per conversation. Errors: also those of ConversationFile and ChatTemplate.
  std::optional<Rows> encodeChats(const std::vector<std::string> &paths, const SourceLoc &source);
  std::optional<Rows> encodeChatPrompts(const std::vector<std::string> &prompts, const SourceLoc &source);

  /// Whether any conversation was asked for.
  bool readChats() const { return triedTemplate; }

private:
  /// The text of each conversation, added to `texts`; false: reported why not.
  bool render(const std::optional<ConversationFile> &file, std::vector<std::string> &texts);
  const Tokenizer *needTokenizer();
  const ChatTemplate *needTemplate();

  std::string checkpoint;
  ChatOptions chat;
  Diagnostics &diags;
  std::optional<Tokenizer> tokenizer;
  std::optional<ChatTemplate> chatTemplate;
  bool triedTokenizer = false, triedTemplate = false; ///< what is wrong with them is said once
};

} // namespace nnterp
