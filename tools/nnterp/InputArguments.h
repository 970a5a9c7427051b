// The inputs of a run, from the command line or from the plan (spec/plan.md 2).
#pragma once

#include "frontend/Config.h"
#include "frontend/plan/RunBuffers.h"
#include "runtime/exec/Batch.h"
#include "runtime/text/ChatTemplate.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A text, ids, a tensor file, a file with conversations, a text that becomes one message of a user, or a picture for one of these.
enum class InputKind { prompt, ids, file, chat, chatPrompt, image };

/// `--prompt [INPUT:=]TEXT`, `--ids [INPUT:=]1,2,3`, `--input [INPUT=]FILE`, `--chat [INPUT:=]FILE`,
/// `--chat-prompt [INPUT:=]TEXT` or `--image [INPUT:=]FILE`, as given.
struct InputArgument {
  InputKind kind;
  std::string text;
};

/// What a model says about ids and images of inputs.
InputRules inputRules(const ModelConfig &config);

/// Batches by the name of their input.
using Batches = std::map<std::string, Batch>;
/// Whether any of them has images: then there is an encoder to run.
bool hasImages(const Batches &inputs);

/// What the plan needs to know of a batch.
BatchInfo batchInfo(const Batch &batch);

/// The batch of every input that a world reads, by name: what the command line gives, else what the plan gives. A prefix
/// counts only if it is an input's name of the plan; an argument without one is for `main`, or for the only input. With
/// `allowMissing`, an input that nobody gives is left out of the result, instead of an error. Pictures stand where prompts, ids and
/// chats have an image token each, in order. All errors in one go. Errors: those of images (NNT14xx), NNT1001 to NNT1013, NNT1021, NNT1022, those of the tokenizer and of chat templates.
std::optional<Batches> readInputs(const std::vector<InputArgument> &arguments, const Plan &plan,
                                  const ModelConfig &config, const std::string &checkpoint, const ChatOptions &chat,
                                  Diagnostics &diags, bool allowMissing = false);

} // namespace nnterp
