// The inputs of a run, from the command line or from the plan (spec/plan.md 2).
#pragma once

#include "frontend/Config.h"
#include "frontend/plan/Plan.h"
#include "runtime/exec/Batch.h"
#include "runtime/text/ChatTemplate.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A text, ids, a tensor file, a file with conversations, or a text that becomes one message of a user.
enum class InputKind { prompt, ids, file, chat, chatPrompt };

/// `--prompt [INPUT:=]TEXT`, `--ids [INPUT:=]1,2,3`, `--input [INPUT=]FILE`, `--chat [INPUT:=]FILE` or
/// `--chat-prompt [INPUT:=]TEXT`, as given.
struct InputArgument {
  InputKind kind;
  std::string text;
};

/// The batch of every input that a world reads, by name: what the command line gives, else what the plan gives. A prefix
/// counts only if it is an input's name of the plan; an argument without one is for `main`, or for the only input. With
/// `allowMissing`, an input that nobody gives is left out of the result, instead of an error. All errors in one go.
/// Errors: NNT0908, NNT1001 to NNT1013, NNT1021, NNT1022, those of the tokenizer and of chat templates.
std::optional<std::map<std::string, Batch>> readInputs(const std::vector<InputArgument> &arguments, const Plan &plan,
                                                       const ModelConfig &config, const std::string &checkpoint,
                                                       const ChatOptions &chat, Diagnostics &diags,
                                                       bool allowMissing = false);

} // namespace nnterp
