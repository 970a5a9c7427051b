// Conversations as people write them: JSON lists of messages, with tools and more beside them.
#pragma once

#include "runtime/abi/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// One conversation of a file.
struct Conversation {
  Json messages;                       ///< a list of objects that each have a role
  bool hasTools = false;
  std::optional<bool> enableThinking;  ///< where the file says so
  std::optional<bool> generationPrompt;
  std::vector<Json::Member> variables; ///< other members: variables of the template
  SourceLoc loc;
};

/// What a file holds: one conversation, which is a list of messages or an object `{"messages", "tools"?, …}`, or a list
/// of several, the rows of a batch.
struct ConversationFile {
  std::string text; ///< as written: the template sees numbers with all their digits
  bool several = false;
  std::vector<Conversation> conversations;

  /// A file that cannot be read is reported at `from`, where given. Errors: NNT0101, NNT0103, NNT0411.
  static std::optional<ConversationFile> read(const std::string &path, Diagnostics &diags, const SourceLoc &from = {});
  static std::optional<ConversationFile> parse(std::string text, const std::string &file, Diagnostics &diags);
  /// One message of the user in each. Errors: NNT0401, at `loc`.
  static std::optional<ConversationFile> ofPrompts(const std::vector<std::string> &prompts, const SourceLoc &loc,
                                                   Diagnostics &diags);
};

/// The first picture or video in the messages, or null.
const Json *findPicture(const Conversation &conversation);

} // namespace nnterp
