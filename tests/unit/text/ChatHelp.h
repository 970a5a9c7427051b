// What the tests of chats share: checkpoints made of a template, and conversations rendered by it.
#pragma once

#include "../weights/Fixtures.h"
#include "runtime/text/ChatTemplate.h"

#include <catch2/catch.hpp>

namespace nnterp {

/// A checkpoint with nothing but a chat template, `in` its own file or in tokenizer_config.json.
struct TemplateFolder {
  TempDir dir;

  explicit TemplateFolder(const std::string &source, const std::string &config = "") {
    if (!source.empty())
      writeBytes(dir / "chat_template.jinja", source);
    if (!config.empty())
      writeBytes(dir / "tokenizer_config.json", config);
  }

  /// What this conversation becomes, or the errors, with the folder's name left out.
  std::string render(const std::string &conversation, const ChatOptions &options = {}, ChildLimits limits = {}) const {
    Diagnostics diags;
    std::string result;
    std::optional<ChatTemplate> chatTemplate = ChatTemplate::load(dir.path, diags);
    std::optional<ConversationFile> file = ConversationFile::parse(conversation, "c.json", diags);
    if (chatTemplate && file) {
      chatTemplate->limits = limits;
      if (std::optional<std::vector<std::string>> texts = chatTemplate->render(*file, options, diags))
        for (const std::string &text : *texts)
          result += (result.empty() ? "" : "|") + text;
    }
    std::string said = text(diags);
    for (size_t at; (at = said.find(dir.path)) != std::string::npos;)
      said.replace(at, dir.path.size(), "CKPT");
    return result + said;
  }
};

} // namespace nnterp
