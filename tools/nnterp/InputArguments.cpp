// Which input each argument is for, and the batches they become.
#include "tools/nnterp/InputArguments.h"
#include "runtime/exec/BatchImages.h"
#include "runtime/images/Preprocess.h"
#include "tools/nnterp/Ids.h"
#include "tools/nnterp/InputTexts.h"
#include "tools/nnterp/PreparePlan.h"

#include <algorithm>

namespace nnterp {

namespace {

constexpr const char *mainInput = "main";

/// In the order of InputKind.
constexpr struct {
  const char *flag, *separator, *value;
} forms[] = {{"--prompt", ":=", "TEXT"}, {"--ids", ":=", "IDS"},          {"--input", "=", "FILE"},
             {"--chat", ":=", "FILE"},   {"--chat-prompt", ":=", "TEXT"}, {"--image", ":=", "FILE"}};

const char *flagOf(InputKind kind) { return forms[size_t(kind)].flag; }

bool contains(const std::vector<std::string> &list, const std::string &text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

/// `"a", "b"`
std::string quotedList(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

class InputReader {
public:
  InputReader(const Plan &plan, const ModelConfig &config, const std::string &checkpoint, const ChatOptions &chat,
              Diagnostics &diags)
      : plan(plan), wanted(plan.inputNames()), checkpoint(checkpoint), chat(chat), texts(checkpoint, chat, diags),
        diags(diags) {
    rules = inputRules(config);
    if (config.vision)
      encoder = {config.vision->inChannels, config.vision->patchSize, config.vision->temporalPatchSize,
                 config.vision->spatialMergeSize};
  }

  std::optional<Batches> read(const std::vector<InputArgument> &arguments, bool allowMissing) {
    bool taken = true;
    for (const InputArgument &argument : arguments)
      taken = take(argument) && taken;
    bool good = taken;
    Batches batches;
    for (const std::string &name : wanted) {
      const auto own = given.find(name);
      const auto fromPlan = plan.inputs.find(name);
      std::optional<Batch> batch;
      Given ways = own == given.end() ? Given() : own->second;
      pictures.clear();
      if (auto images = ways.find(InputKind::image); images != ways.end()) {
        pictures = images->second;
        ways.erase(images);
      }
      if (!ways.empty()) {
        batch = fromCommandLine(name, ways);
      } else if (fromPlan != plan.inputs.end()) {
        batch = fromPlanInput(fromPlan->second);
      } else {
        if (!allowMissing && taken) // an argument that was not taken may have been meant for it
          reportMissing(name);
        good = good && allowMissing;
        continue;
      }
      if (batch)
        batches.emplace(name, std::move(*batch));
      else
        good = false;
    }
    if (!good)
      return std::nullopt;
    noteUnusedSwitches();
    return batches;
  }

private:
  /// What the command line gives for one input.
  using Given = std::map<InputKind, std::vector<std::string>>;

  /// Finds out which input an argument is for.
  bool take(const InputArgument &argument) {
    const SourceLoc loc{flagOf(argument.kind), 0, 0};
    const std::string separator = forms[size_t(argument.kind)].separator;
    const size_t end = argument.text.find(separator);
    if (end != std::string::npos) {
      const std::string name = argument.text.substr(0, end);
      const bool isWanted = contains(wanted, name);
      if (isWanted)
        given[name][argument.kind].push_back(argument.text.substr(end + separator.size()));
      else if (plan.inputs.count(name))
        diags.error("NNT1022", loc,
                    "no world reads the input \"" + name +
                        "\"; expected one of those that are read: " + quotedList(wanted));
      if (isWanted || plan.inputs.count(name))
        return isWanted;
    }
    const bool hasMain = contains(wanted, mainInput);
    if (!hasMain && wanted.size() != 1) {
      diags.error("NNT1021", loc,
                  "it is not said which of the inputs " + quotedList(wanted) + " this is for; expected, for example, " +
                      wanted[0] + separator + forms[size_t(argument.kind)].value);
      return false;
    }
    given[hasMain ? mainInput : wanted[0]][argument.kind].push_back(argument.text);
    return true;
  }

  void reportMissing(const std::string &name) {
    const auto world = std::find_if(plan.worlds.begin(), plan.worlds.end(),
                                    [&](const PlanWorld &candidate) { return candidate.input == name; });
    std::vector<std::string> unread;
    for (const auto &[other, input] : plan.inputs)
      if (!contains(wanted, other))
        unread.push_back(other);
    diags.error("NNT1001", world->loc,
                "the run has no input \"" + name + "\"" +
                    (plan.declaresWorlds ? ", which the world \"" + world->name + "\" reads" : "") +
                    "; expected --prompt, --chat, --ids or --input, or \"inputs\" in the plan" +
                    (unread.empty() ? "" : "; the plan's other inputs are " + quotedList(unread)));
  }

  void noteUnusedSwitches() {
    auto note = [&](bool isGiven, const char *flag) {
      if (isGiven && !texts.readChats())
        diags.note({flag, 0, 0}, "it has no effect, because no input is a chat");
    };
    note(chat.enableThinking.has_value(), chat.enableThinking.value_or(false) ? "--enable-thinking" : "--no-thinking");
    note(!chat.generationPrompt, "--no-generation-prompt");
  }

  std::optional<Batch> fromCommandLine(const std::string &name, const Given &ways) {
    const auto &[kind, arguments] = *ways.rbegin();
    const SourceLoc loc{flagOf(kind), 0, 0};
    if (ways.size() > 1) {
      std::string used;
      for (const auto &[way, unused] : ways)
        used += (used.empty() ? "" : " and ") + std::string(flagOf(way));
      diags.error("NNT1002", loc, "the input \"" + name + "\" is given by " + used + " at once; expected one of them");
      return std::nullopt;
    }
    if (kind == InputKind::file) {
      if (arguments.size() == 1)
        return fromFile(arguments.front());
      diags.error("NNT1002", loc,
                  "the input \"" + name + "\" is given by " + std::to_string(arguments.size()) +
                      " files; expected one of them");
      return std::nullopt;
    }
    return batchOf(rowsOf(kind, arguments, loc), loc);
  }

  std::optional<Batch> fromPlanInput(const PlanInput &input) {
    if (!input.file.empty())
      return fromFile(input.file);
    if (!input.ids.empty())
      return batchOf(input.ids, input.loc);
    if (!input.chat.empty())
      return batchOf(texts.encodeChats({input.chat}, input.loc), input.loc);
    return batchOf(texts.encode(input.prompts, input.loc), input.loc);
  }

  std::optional<InputTexts::Rows> rowsOf(InputKind kind, const std::vector<std::string> &arguments,
                                         const SourceLoc &loc) {
    if (kind == InputKind::prompt)
      return texts.encode(arguments, loc);
    if (kind == InputKind::chat)
      return texts.encodeChats(arguments, loc);
    if (kind == InputKind::chatPrompt)
      return texts.encodeChatPrompts(arguments, loc);
    InputTexts::Rows rows;
    for (const std::string &text : arguments)
      if (std::optional<std::vector<int64_t>> ids = parseIds(text, loc, diags))
        rows.push_back(std::move(*ids));
    return rows.size() == arguments.size() ? std::optional(std::move(rows)) : std::nullopt;
  }

  std::optional<Batch> fromFile(const std::string &path) {
    if (pictures.empty())
      return batchFromFile(path, rules, diags);
    diags.error(
        "NNT1002", {flagOf(InputKind::image), 0, 0},
        "\"" + path +
            "\" is an input file, which holds its images itself; expected --image with a prompt, ids or a chat");
    return std::nullopt;
  }

  std::optional<Batch> batchOf(const std::optional<InputTexts::Rows> &rows, const SourceLoc &loc) {
    if (!rows)
      return std::nullopt;
    return pictures.empty() ? batchFromIds(*rows, rules, loc, diags) : withPictures(*rows, loc);
  }

  /// Each image token of the rows becomes as many as its picture has.
  std::optional<Batch> withPictures(const InputTexts::Rows &rows, const SourceLoc &loc) {
    const SourceLoc flag{flagOf(InputKind::image), 0, 0};
    if (!rules.images) {
      diags.error("NNT1013", flag, "this model has no image encoder");
      return std::nullopt;
    }
    std::optional<ImageRules> wants = loadImageRules(checkpointFolder(checkpoint), encoder, diags);
    std::optional<ImagePatches> patches = wants ? loadImages(pictures, *wants, diags, flag) : std::nullopt;
    if (!patches)
      return std::nullopt;
    std::optional<TokenRows> expanded = expandImageTokens(rows, patches->grids, *rules.images, loc, diags);
    if (!expanded)
      return std::nullopt;
    InputRules own = rules;
    own.imageTokens.clear(); // counted with the images
    std::optional<Batch> batch = batchFromIds(*expanded, own, loc, diags);
    if (!batch || !addImages(*batch, std::move(patches->pixelValues), std::move(patches->grids), *rules.images,
                             rules.patchValues, loc, diags))
      return std::nullopt;
    return batch;
  }

  const Plan &plan;
  const std::vector<std::string> wanted; ///< inputs that worlds read
  const std::string checkpoint;
  const ChatOptions chat;
  InputTexts texts;
  EncoderSizes encoder;
  std::vector<std::string> pictures; ///< of the input that is being read
  InputRules rules;
  std::map<std::string, Given> given; ///< by input
  Diagnostics &diags;
};

} // namespace

InputRules inputRules(const ModelConfig &config) {
  InputRules rules;
  rules.vocabSize = config.vocabSize;
  if (config.multimodal)
    rules.imageTokens = {config.imageTokenId, config.videoTokenId};
  if (config.vision) {
    const VisionConfig &v = *config.vision;
    rules.images = {config.imageTokenId, config.videoTokenId, v.spatialMergeSize};
    rules.patchValues = v.inChannels * v.temporalPatchSize * v.patchSize * v.patchSize;
  }
  return rules;
}

BatchInfo batchInfo(const Batch &batch) {
  BatchInfo info;
  info.seq = batch.seq();
  info.lengths = batch.rowLengths();
  if (batch.images)
    for (const ImageGrid &grid : batch.images->grids)
      info.grids.push_back({grid.t, grid.h, grid.w});
  return info;
}

bool hasImages(const Batches &inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const auto &input) { return input.second.images.has_value(); });
}

std::optional<Batches> readInputs(const std::vector<InputArgument> &arguments, const Plan &plan,
                                  const ModelConfig &config, const std::string &checkpoint, const ChatOptions &chat,
                                  Diagnostics &diags, bool allowMissing) {
  return InputReader(plan, config, checkpoint, chat, diags).read(arguments, allowMissing);
}

} // namespace nnterp
