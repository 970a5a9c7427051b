// Declares options, and explains wrong usage. CLI11 is slow to compile and reports by exceptions; nothing outside the
// command lines knows it.
#include "tools/nnterp/RunFlags.h"
#include "tools/nnterp/Terminal.h"

namespace nnterp {

void repeatedOption(CLI::App *command, const char *flag, const char *value, std::vector<std::string> &values,
                    const char *what) {
  command->add_option(flag, values, what)->type_name(value)->allow_extra_args(false);
}

CLI::Option *checkpointOption(CLI::App *command, std::string &value) {
  return command->add_option("CKPT", value, "Folder with config.json and weights")
      ->type_name("")
      ->required()
      ->check([](const std::string &path) { return path.empty() ? "the path of the checkpoint is empty" : ""; }, "");
}

void dtypeOption(CLI::App *command, std::string &value) {
  command
      ->add_option("--dtype", value,
                   "auto, float32 or bfloat16: what the model computes in (auto: what the "
                   "configuration says; float16 runs as float32, FP8 as bfloat16)")
      ->check(CLI::IsMember({"auto", "float32", "bfloat16"}));
}

CLI::Option *targetOption(CLI::App *command, Target &value) {
  return command
      ->add_option_function<std::string>(
          "--target", [&value](const std::string &text) { value = *targetByName(text); },
          "cpu (default), cuda (an NVIDIA GPU of this machine), or emulator (the GPU's code on the CPU,\n"
          "checked at every access; slow)")
      ->check(CLI::IsMember({"cpu", "cuda", "emulator"}));
}

void InputFlags::declare(CLI::App *command) {
  command->option_defaults()->group("Inputs");
  repeatedOption(command, "--prompt", "TEXT", prompts, "[INPUT:=]TEXT; repeatable: a batch");
  repeatedOption(command, "--ids", "IDS", ids, "[INPUT:=]1,2,3: token ids; repeatable: a batch");
  repeatedOption(
      command, "--input", "FILE", files,
      "[INPUT=]FILE: safetensors with input_ids and, optionally, attention_mask, position_ids, and images as\n"
      "pixel_values, image_grid_thw");
  repeatedOption(command, "--chat", "FILE", chats,
                 "[INPUT:=]FILE: a conversation as JSON, through the checkpoint's template");
  repeatedOption(command, "--chat-prompt", "TEXT", chatPrompts, "[INPUT:=]TEXT: a conversation of one message");
  CLI::Option *think = command->add_flag("--enable-thinking", thinking, "Chats: the model thinks before it answers");
  command->add_flag("--no-thinking", noThinking, "Chats: the model answers at once")->excludes(think);
  command->add_flag("--no-generation-prompt", noGenerationPrompt, "Chats: do not open the model's turn at the end");
  repeatedOption(command, "--image", "FILE", images,
                 "[INPUT:=]FILE: a PNG or JPEG for the next image token of prompt, ids or chat; repeatable");
}

std::vector<InputArgument> InputFlags::inputs() const {
  std::vector<InputArgument> list;
  auto add = [&](InputKind kind, const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      list.push_back({kind, text});
  };
  add(InputKind::prompt, prompts);
  add(InputKind::ids, ids);
  add(InputKind::file, files);
  add(InputKind::chat, chats);
  add(InputKind::chatPrompt, chatPrompts);
  add(InputKind::image, images);
  return list;
}

ChatOptions InputFlags::chat() const {
  ChatOptions chat;
  if (thinking || noThinking)
    chat.enableThinking = thinking;
  chat.generationPrompt = !noGenerationPrompt;
  return chat;
}

void generateOption(CLI::App *command, int64_t &value) {
  command->add_option("--generate", value, "Tokens to generate behind each row of the prompt (default: 0)")
      ->type_name("N")
      ->check(CLI::Range(int64_t(0), maxPosition));
}

/// Sampling is what the checkpoint's generation_config.json says, unless these say otherwise.
static void generationFlags(CLI::App *run, RunArguments &arguments) {
  run->option_defaults()->group("Generation");
  GenerationOptions &options = arguments.generation;
  CLI::Option *greedy = run->add_flag("--greedy", options.greedy, "Always the likeliest token");
  run->add_option("--temperature", options.temperature, "Sample, with logits divided by this")
      ->type_name("T")
      ->excludes(greedy);
  run->add_option("--top-k", options.topK, "Sample, from the K likeliest tokens (0: from all)")
      ->type_name("K")
      ->excludes(greedy);
  run->add_option("--top-p", options.topP, "Sample, from the likeliest tokens that together have probability P")
      ->type_name("P")
      ->excludes(greedy);
  run->add_option("--seed", options.seed, "Of sampling (default: 0); the same seed gives the same tokens, in any batch")
      ->type_name("N");
  CLI::Option *eos =
      run->add_option("--eos", arguments.eos, "Ids that end a row, instead of the checkpoint's")->type_name("ID,ID");
  run->add_flag("--no-eos", arguments.noEos, "No token ends a row")->excludes(eos);
}

static void stateFlags(CLI::App *run, RunArguments &arguments) {
  run->option_defaults()->group("Memory");
  run->add_option("--chunk", arguments.chunk, "Read the prompt in pieces of at most N tokens: takes less memory")
      ->type_name("N")
      ->check(CLI::Range(int64_t(1), maxPosition));
  run->add_option("--save-state", arguments.saveState, "Safetensors file for the memory of the sequence at the end")
      ->type_name("FILE");
  run->add_option("--load-state", arguments.loadState,
                  "Continue from such a file: with a prompt, or with the last generated token alone")
      ->type_name("FILE");
  run->add_option("--max-memory", arguments.maxMemory,
                  "Refuse a run that is expected to need more, such as 12G; mapped weights do not count, those on a GPU do")
      ->type_name("SIZE");
}

void runFlags(CLI::App *run, RunArguments &arguments) {
  generationFlags(run, arguments);
  stateFlags(run, arguments);
  run->option_defaults()->group("Results");
  run->add_option("--out", arguments.out,
                  "Safetensors file for the tapped values; index.json beside it says what is in it")
      ->type_name("FILE");
  run->add_flag("--json", arguments.json, "The result as JSON on standard output");
  run->option_defaults()->group("Devices");
  run->add_option("--device", arguments.device.ordinal, "Target cuda: which of the machine's GPUs (default: 0)")
      ->type_name("N")
      ->check(CLI::Range(0, 1023));
  run->add_flag("--check-races", arguments.device.checkRaces,
                "Target emulator: look for threads that disturb each other, and for memory that is read before\n"
                "it is written; slower still");
}

/// One line on what is wrong, one on where to look.
static int usageError(const CLI::App &app, const std::string &tool, const CLI::ParseError &error) {
  const std::vector<CLI::App *> chosen = app.get_subcommands();
  const CLI::App *where = chosen.empty() ? &app : chosen.front();
  const std::string called = where == &app ? tool : tool + " " + where->get_name();
  bool explained = false;
  for (const std::string &word : app.remaining(true)) {
    std::vector<std::string> known;
    if (word.rfind("--", 0) == 0)
      for (const CLI::Option *option : where->get_options())
        for (const std::string &name : option->get_lnames())
          known.push_back("--" + name);
    else if (where == &app)
      for (const CLI::App *sub : app.get_subcommands(nullptr))
        known.push_back(sub->get_name());
    if (known.empty())
      continue;
    std::fprintf(stderr, "%s: %s is not known here; nearest: %s\n", called.c_str(), word.c_str(),
                 joinOr(nearest(word, known)).c_str());
    explained = true;
  }
  if (!explained)
    std::fprintf(stderr, "%s: %s\n", called.c_str(), error.what());
  std::fprintf(stderr, "%s --help shows how it is used\n", called.c_str());
  return exitUsage;
}

int runTool(CLI::App &app, const std::string &name, int argc, char **argv, const std::function<int()> &dispatch) {
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return exitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    return print(chosen.empty() ? app.help() : chosen.front()->help(name));
  } catch (const CLI::CallForVersion &version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError &error) {
    return usageError(app, name, error);
  }
  return dispatch();
}

} // namespace nnterp
