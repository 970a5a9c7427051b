// A checkpoint's chat template, rendered by Jinja itself: a Python process that gets template and conversations on its
// standard input (spec/qwen3_5_moe.md 6.3).
#pragma once

#include "runtime/text/ChildProcess.h"
#include "runtime/text/Conversation.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// What the command line says of chats; it wins over what a conversation's file says.
struct ChatOptions {
  std::optional<bool> enableThinking; ///< nothing: not said
  bool generationPrompt = true;       ///< end with the opening of the model's turn
};

class ChatTemplate {
public:
  /// `CKPT/chat_template.jinja`, else `chat_template` of `CKPT/tokenizer_config.json`: a template, or a list of named
  /// ones, of which `default` is used, and `tool_use` for a conversation with tools. Errors: NNT0101, NNT0103, NNT0410.
  static std::optional<ChatTemplate> load(const std::string &checkpoint, Diagnostics &diags);

  /// One text per conversation. Where the template knows the switch `enable_thinking`, it must have been given. A note
  /// names members of the file that the template does not mention. Errors: NNT0412 to NNT0415.
  std::optional<std::vector<std::string>> render(const ConversationFile &file, const ChatOptions &options,
                                                 Diagnostics &diags) const;

  ChildLimits limits; ///< of the process, whatever the template does

private:
  struct Text {
    std::string source;
    SourceLoc loc;
    bool isFile = false; ///< lines of the template are lines of the file
  };
  bool readConfig(const std::string &path, Diagnostics &diags);
  const Text &textFor(const Conversation &conversation) const;
  std::optional<Json> arguments(const Conversation &conversation, const ChatOptions &options, Diagnostics &diags) const;
  std::optional<Json> ask(const std::string &request, const SourceLoc &loc, Diagnostics &diags) const;
  void reportFailure(const Json &failure, const Conversation &conversation, Diagnostics &diags) const;

  std::map<std::string, Text> texts; ///< by name; always has `default`
  Json specialTokens = Json::dict(); ///< variables of the template: bos_token, eos_token, …
};

} // namespace nnterp
