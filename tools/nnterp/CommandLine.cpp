// Declares commands and options; the only file that includes CLI11, which is slow to compile and reports by exceptions.
#include "tools/nnterp/CommandLine.h"
#include "runtime/exec/Key.h"
#include "tools/nnterp/Commands.h"
#include "tools/nnterp/Help.h"
#include "tools/nnterp/Terminal.h"

#include <CLI/CLI.hpp>

namespace nnterp {

namespace {

/// Options of later versions: known, and refused by code when given.
struct LaterOptions {
  std::string target = "cpu";

  std::vector<LaterFlag> given() const {
    std::vector<LaterFlag> list;
    auto add = [&](bool isGiven, const char *code, const char *flag, const char *feature) {
      if (isGiven)
        list.push_back({code, flag, feature});
    };
    add(target == "cuda", "NNT0909", "--target", "the target \"cuda\"");
    add(target == "emulator", "NNT0909", "--target", "the target \"emulator\"");
    return list;
  }
};

class CommandLine {
public:
  CommandLine();
  int execute(int argc, char **argv);

private:
  CLI::App *command(const char *name, const char *what, const char *examples);
  CLI::Option *checkpoint(CLI::App *command, std::string &value);
  void repeated(CLI::App *command, const char *flag, const char *value, std::vector<std::string> &values,
                const char *what);
  void dtype(CLI::App *command, std::string &value);
  void planOptions(CLI::App *command, PlanArguments &arguments);
  void runOptions();
  void inputOptions(CLI::App *command);
  void generationOptions();
  void stateOptions();
  void verifyOptions();
  int usageError(const CLI::ParseError &error);
  int dispatch();

  CLI::App app{
      "Looks into and edits Qwen3.5-MoE models: compiles a plan of taps and edits into the model, and runs it.",
      "nnterp"};
  CLI::App *info, *points, *import, *check, *explain, *compile, *run, *verify, *tokenize, *detokenize, *errors;

  RunArguments runArguments;
  CompileArguments compileArguments;
  PlanArguments checkArguments;
  PointsArguments pointsArguments;
  ExplainArguments explainArguments;
  VerifyArguments verifyArguments;
  bool importTextOnly = false;
  LaterOptions later;
  std::vector<std::string> prompts, ids, files, chats, chatPrompts, images, verifyPrompts, verifyIds;
  std::string textCheckpoint, importCheckpoint, infoCheckpoint, importDType = "auto", importOut, code;
  bool infoJson = false, tokenizeJson = false, skipSpecial = false, thinking = false, noThinking = false,
       noGenerationPrompt = false;
};

CLI::App *CommandLine::command(const char *name, const char *what, const char *examples) {
  return app.add_subcommand(name, what)->footer(examples);
}

CLI::Option *CommandLine::checkpoint(CLI::App *command, std::string &value) {
  return command->add_option("CKPT", value, "Folder with config.json and weights")
      ->type_name("")
      ->required()
      ->check([](const std::string &path) { return path.empty() ? "the path of the checkpoint is empty" : ""; }, "");
}

/// One value for each time a flag is given; a value may hold commas and brackets.
void CommandLine::repeated(CLI::App *command, const char *flag, const char *value, std::vector<std::string> &values,
                           const char *what) {
  command->add_option(flag, values, what)->type_name(value)->allow_extra_args(false);
}

void CommandLine::dtype(CLI::App *command, std::string &value) {
  command
      ->add_option("--dtype", value,
                   "auto, float32 or bfloat16: what the model computes in (auto: what the "
                   "configuration says; float16 runs as float32, FP8 as bfloat16)")
      ->check(CLI::IsMember({"auto", "float32", "bfloat16"}));
}

void CommandLine::planOptions(CLI::App *command, PlanArguments &arguments) {
  checkpoint(command, arguments.checkpoint);
  command->add_option("--plan", arguments.plan, "Plan file (JSON)")->type_name("FILE");
  repeated(command, "--tap", "NAME", arguments.flags.taps,
           "Value to write out, such as 'layers[*].layer_output'; repeatable");
  repeated(command, "--edit", "'NAME OP'", arguments.flags.edits,
           "Value and operation, such as 'layers[3].mlp.mlp_output zero'; repeatable");
  repeated(command, "--value", "NAME=...", arguments.flags.values,
           "NAME=FILE#KEY or NAME=1,2.5: a vector for edits; repeatable");
  dtype(command, arguments.dtype);
  command
      ->add_flag("--print-plan{json}", arguments.printPlan,
                 "Print the plan with all flags in it, as JSON or with =ir as nnterp.plan, and stop")
      ->type_name("")
      ->check(CLI::IsMember({"json", "ir"}));
  command->add_flag("--quiet", arguments.quiet, "No progress, no remarks, no table");
  command->add_flag("--text-only", arguments.textOnly, "Leave the image encoder out: no value of it, no weight read");
  command->add_option("--generate", arguments.generate, "Tokens to generate behind each row of the prompt (default: 0)")
      ->type_name("N")
      ->check(CLI::Range(int64_t(0), maxPosition));
  command->add_option("--target", later.target, "cpu; cuda and emulator are not in this version")
      ->check(CLI::IsMember({"cpu", "cuda", "emulator"}));
}

void CommandLine::inputOptions(CLI::App *command) {
  command->option_defaults()->group("Inputs");
  repeated(command, "--prompt", "TEXT", prompts, "[INPUT:=]TEXT; repeatable: a batch");
  repeated(command, "--ids", "IDS", ids, "[INPUT:=]1,2,3: token ids; repeatable: a batch");
  repeated(command, "--input", "FILE", files,
           "[INPUT=]FILE: safetensors with input_ids and, optionally, attention_mask, position_ids, and images as\n"
           "pixel_values, image_grid_thw");
  repeated(command, "--chat", "FILE", chats,
           "[INPUT:=]FILE: a conversation as JSON, through the checkpoint's template");
  repeated(command, "--chat-prompt", "TEXT", chatPrompts, "[INPUT:=]TEXT: a conversation of one message");
  CLI::Option *think = command->add_flag("--enable-thinking", thinking, "Chats: the model thinks before it answers");
  command->add_flag("--no-thinking", noThinking, "Chats: the model answers at once")->excludes(think);
  command->add_flag("--no-generation-prompt", noGenerationPrompt, "Chats: do not open the model's turn at the end");
  repeated(command, "--image", "FILE", images,
           "[INPUT:=]FILE: a PNG or JPEG for the next image token of prompt, ids or chat; repeatable");
}

/// Sampling is what the checkpoint's generation_config.json says, unless these say otherwise.
void CommandLine::generationOptions() {
  run->option_defaults()->group("Generation");
  GenerationOptions &options = runArguments.generation;
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
      run->add_option("--eos", runArguments.eos, "Ids that end a row, instead of the checkpoint's")->type_name("ID,ID");
  run->add_flag("--no-eos", runArguments.noEos, "No token ends a row")->excludes(eos);
}

void CommandLine::stateOptions() {
  run->option_defaults()->group("Memory");
  run->add_option("--chunk", runArguments.chunk, "Read the prompt in pieces of at most N tokens: takes less memory")
      ->type_name("N")
      ->check(CLI::Range(int64_t(1), maxPosition));
  run->add_option("--save-state", runArguments.saveState, "Safetensors file for the memory of the sequence at the end")
      ->type_name("FILE");
  run->add_option("--load-state", runArguments.loadState,
                  "Continue from such a file: with a prompt, or with the last generated token alone")
      ->type_name("FILE");
  run->add_option("--max-memory", runArguments.maxMemory,
                  "Refuse a run that is expected to need more, such as 12G; mapped weights do not count")
      ->type_name("SIZE");
}

void CommandLine::runOptions() {
  planOptions(run, runArguments);
  inputOptions(run);
  generationOptions();
  stateOptions();
  run->option_defaults()->group("Results");
  run->add_option("--out", runArguments.out,
                  "Safetensors file for the tapped values; index.json beside it says what is in it")
      ->type_name("FILE");
  run->add_flag("--json", runArguments.json, "The result as JSON on standard output");
  run->add_flag("--no-cache", runArguments.noCache, "Compile anew, and keep nothing");
}

void CommandLine::verifyOptions() {
  CLI::Option *folder = checkpoint(verify, verifyArguments.checkpoint)->required(false);
  repeated(verify, "--prompt", "TEXT", verifyPrompts, "Text to look at; repeatable: a batch");
  repeated(verify, "--ids", "IDS", verifyIds, "1,2,3: token ids to look at; repeatable: a batch");
  dtype(verify, verifyArguments.dtype);
  repeated(verify, "--only", "NAME", verifyArguments.only, "Check only this; repeatable");
  verify->add_flag("--all-blocks", verifyArguments.allBlocks, "Look at every block: takes more memory");
  verify->add_option("--generate", verifyArguments.generate, "Tokens to generate behind each row (default: 3)")
      ->type_name("N")
      ->check(CLI::Range(int64_t(3), maxPosition));
  verify
      ->add_option("--chunk", verifyArguments.chunk,
                   "Columns per piece where the prompt is read in pieces (default: 2)")
      ->type_name("N")
      ->check(CLI::Range(int64_t(1), maxPosition));
  CLI::Option *list =
      verify->add_flag("--list", verifyArguments.list, "Show the checks and what they promise, and stop");
  verify->add_flag("--json", verifyArguments.json, "The result as JSON on standard output");
  verify->add_flag("--quiet", verifyArguments.quiet, "No progress, no table");
  verify->add_flag("--no-cache", verifyArguments.noCache, "Compile anew, and keep nothing");
  verify->callback([=] {
    if (folder->count() == 0 && list->count() == 0)
      throw CLI::RequiredError("CKPT");
  });
}

CommandLine::CommandLine() {
  app.footer(help::tool);
  app.require_subcommand(1);
  app.set_version_flag("--version", "nnterp " + std::string(toolVersion()));
  app.get_formatter()->column_width(34);

  info = command("info", "Family, sizes, configuration values with their source, tensors", help::info);
  checkpoint(info, infoCheckpoint);
  info->add_flag("--json", infoJson, "As JSON");

  points = command("points", "Every named value of the model: layout, shape, access, cost, meaning", help::points);
  checkpoint(points, pointsArguments.checkpoint);
  points->add_option("FILTER", pointsArguments.filter, "Only names that contain this")->type_name("");
  CLI::Option *json = points->add_flag("--json", pointsArguments.json, "As JSON");
  points->add_flag("--text-only", pointsArguments.textOnly, "Leave the image encoder out");
  points->add_flag("--tree", pointsArguments.tree, "The modules of the model with the values at each")->excludes(json);

  import = command("import", "The graph of a checkpoint, no weights read", help::import);
  checkpoint(import, importCheckpoint);
  dtype(import, importDType);
  import->add_flag("--text-only", importTextOnly, "Leave the image encoder out");
  import->add_option("--out", importOut, "Instead of standard output")->type_name("FILE");

  check = command("check", "Checks a plan against a model", help::check);
  planOptions(check, checkArguments);
  check->add_flag("--json", checkArguments.json, "Summary and diagnostics as JSON on standard output");

  explain = command("explain", "What a plan will cost: programs, worlds, arithmetic, bytes, memory", help::explain);
  planOptions(explain, explainArguments);
  inputOptions(explain);
  explain->option_defaults()->group("Sizes");
  explain->add_option("--rows", explainArguments.rows, "Rows of each input that the plan does not give (default: 1)")
      ->type_name("B")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 20));
  explain->add_option("--tokens", explainArguments.tokens, "Tokens of each such row (default: 128)")
      ->type_name("S")
      ->check(CLI::Range(int64_t(1), maxPosition));
  explain->add_option("--chunk", explainArguments.chunk, "As for run: the prompt in pieces of at most N tokens")
      ->type_name("N")
      ->check(CLI::Range(int64_t(1), maxPosition));
  explain->add_flag("--json", explainArguments.json, "As JSON");

  compile = command("compile", "Compiles a plan, to a program or to any stage before", help::compile);
  planOptions(compile, compileArguments);
  compile->add_option("--emit", compileArguments.emit, "Stage to stop at (default: object)")
      ->check(CLI::IsMember({"import", "plan", "checked", "simplified", "kernels", "bufferized", "llvm", "object"}));
  compile->add_option("--out", compileArguments.out, "File for a stage's text, folder for the program")
      ->type_name("PATH");

  run = command("run", "Runs a plan on a prompt, generates tokens, shows the tapped values", help::run);
  runOptions();

  verify = command("verify", "Checks what the family promises, and that padding, batches and caches change nothing",
                   help::verify);
  verifyOptions();

  tokenize = command("tokenize", "Text on standard input to token ids", help::tokenize);
  checkpoint(tokenize, textCheckpoint);
  tokenize->add_flag("--json", tokenizeJson, "ids, pieces and byte offsets");

  detokenize = command("detokenize", "Token ids on standard input to text", help::detokenize);
  checkpoint(detokenize, textCheckpoint);
  detokenize->add_flag("--skip-special", skipSpecial, "Leave out special tokens");

  errors = command("errors", "What the error codes mean", help::errors);
  errors->add_option("CODE", code, "Such as NNT0601")->type_name("");
}

/// One line on what is wrong, one on where to look.
int CommandLine::usageError(const CLI::ParseError &error) {
  const std::vector<CLI::App *> chosen = app.get_subcommands();
  const CLI::App *where = chosen.empty() ? &app : chosen.front();
  const std::string called = where == &app ? "nnterp" : "nnterp " + where->get_name();
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

int CommandLine::dispatch() {
  runArguments.later = compileArguments.later = checkArguments.later = explainArguments.later = later.given();
  auto inputs = [&](InputKind kind, const std::vector<std::string> &texts) {
    for (const std::string &text : texts)
      runArguments.inputs.push_back({kind, text});
  };
  inputs(InputKind::prompt, prompts);
  inputs(InputKind::ids, ids);
  inputs(InputKind::file, files);
  inputs(InputKind::chat, chats);
  inputs(InputKind::chatPrompt, chatPrompts);
  inputs(InputKind::image, images);
  if (thinking || noThinking)
    runArguments.chat.enableThinking = thinking;
  runArguments.chat.generationPrompt = !noGenerationPrompt;
  explainArguments.inputs = runArguments.inputs;
  explainArguments.chat = runArguments.chat;

  if (info->parsed())
    return infoCommand(infoCheckpoint, infoJson);
  if (points->parsed())
    return pointsCommand(pointsArguments);
  if (import->parsed())
    return importCommand(importCheckpoint, importDType, importOut, importTextOnly);
  if (check->parsed())
    return checkCommand(checkArguments);
  if (explain->parsed())
    return explainCommand(explainArguments);
  if (compile->parsed())
    return compileCommand(compileArguments);
  if (run->parsed())
    return runCommand(runArguments);
  if (verify->parsed()) {
    for (const std::string &text : verifyPrompts)
      verifyArguments.inputs.push_back({InputKind::prompt, text});
    for (const std::string &text : verifyIds)
      verifyArguments.inputs.push_back({InputKind::ids, text});
    return verifyCommand(verifyArguments);
  }
  if (tokenize->parsed())
    return tokenizeCommand(textCheckpoint, tokenizeJson);
  if (detokenize->parsed())
    return detokenizeCommand(textCheckpoint, skipSpecial);
  return errorsCommand(code);
}

int CommandLine::execute(int argc, char **argv) {
  if (argc < 2) {
    std::fputs(app.help().c_str(), stderr);
    return exitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    const std::vector<CLI::App *> chosen = app.get_subcommands();
    return print(chosen.empty() ? app.help() : chosen.front()->help("nnterp"));
  } catch (const CLI::CallForVersion &version) {
    return print(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError &error) {
    return usageError(error);
  }
  return dispatch();
}

} // namespace

int runCommandLine(int argc, char **argv) { return CommandLine().execute(argc, argv); }

} // namespace nnterp
