// Declares the commands of nnterp and their options.
#include "tools/nnterp/CommandLine.h"
#include "runtime/exec/Key.h"
#include "tools/nnterp/Help.h"
#include "tools/nnterp/RunFlags.h"
#include "tools/nnterp/explain/Gpus.h"

namespace nnterp {

namespace {

class CommandLine {
public:
  CommandLine();
  int execute(int argc, char **argv) {
    return runTool(app, "nnterp", argc, argv, [this] { return dispatch(); });
  }

private:
  CLI::App *command(const char *name, const char *what, const char *examples);
  void planOptions(CLI::App *command, PlanArguments &arguments);
  void verifyOptions();
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
  InputFlags runInputs, explainInputs;
  std::vector<std::string> verifyPrompts, verifyIds;
  std::string textCheckpoint, importCheckpoint, infoCheckpoint, importDType = "auto", importOut, code;
  bool infoJson = false, tokenizeJson = false, skipSpecial = false;
};

CLI::App *CommandLine::command(const char *name, const char *what, const char *examples) {
  return app.add_subcommand(name, what)->footer(examples);
}

void CommandLine::planOptions(CLI::App *command, PlanArguments &arguments) {
  checkpointOption(command, arguments.checkpoint);
  command->add_option("--plan", arguments.plan, "Plan file (JSON)")->type_name("FILE");
  repeatedOption(command, "--tap", "NAME", arguments.flags.taps,
                 "Value to write out, such as 'layers[*].layer_output'; repeatable");
  repeatedOption(command, "--edit", "'NAME OP'", arguments.flags.edits,
                 "Value and operation, such as 'layers[3].mlp.mlp_output zero'; repeatable");
  repeatedOption(command, "--value", "NAME=...", arguments.flags.values,
                 "NAME=FILE#KEY or NAME=1,2.5: a vector for edits; repeatable");
  dtypeOption(command, arguments.dtype);
  command
      ->add_flag("--print-plan{json}", arguments.printPlan,
                 "Print the plan with all flags in it, as JSON or with =ir as nnterp.plan, and stop")
      ->type_name("")
      ->check(CLI::IsMember({"json", "ir"}));
  command->add_flag("--quiet", arguments.quiet, "No progress, no remarks, no table");
  command->add_flag("--text-only", arguments.textOnly, "Leave the image encoder out: no value of it, no weight read");
  generateOption(command, arguments.generate);
  targetOption(command, arguments.target);
}

void CommandLine::verifyOptions() {
  CLI::Option *folder = checkpointOption(verify, verifyArguments.checkpoint)->required(false);
  repeatedOption(verify, "--prompt", "TEXT", verifyPrompts, "Text to look at; repeatable: a batch");
  repeatedOption(verify, "--ids", "IDS", verifyIds, "1,2,3: token ids to look at; repeatable: a batch");
  dtypeOption(verify, verifyArguments.dtype);
  targetOption(verify, verifyArguments.target);
  repeatedOption(verify, "--only", "NAME", verifyArguments.only, "Check only this; repeatable");
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
  checkpointOption(info, infoCheckpoint);
  info->add_flag("--json", infoJson, "As JSON");

  points = command("points", "Every named value of the model: layout, shape, access, cost, meaning", help::points);
  checkpointOption(points, pointsArguments.checkpoint);
  points->add_option("FILTER", pointsArguments.filter, "Only names that contain this")->type_name("");
  CLI::Option *json = points->add_flag("--json", pointsArguments.json, "As JSON");
  points->add_flag("--text-only", pointsArguments.textOnly, "Leave the image encoder out");
  points->add_flag("--tree", pointsArguments.tree, "The modules of the model with the values at each")->excludes(json);

  import = command("import", "The graph of a checkpoint, no weights read", help::import);
  checkpointOption(import, importCheckpoint);
  dtypeOption(import, importDType);
  import->add_flag("--text-only", importTextOnly, "Leave the image encoder out");
  import->add_option("--out", importOut, "Instead of standard output")->type_name("FILE");

  check = command("check", "Checks a plan against a model", help::check);
  planOptions(check, checkArguments);
  check->add_flag("--json", checkArguments.json, "Summary and diagnostics as JSON on standard output");

  explain = command("explain", "What a plan will cost: programs, worlds, arithmetic, bytes, memory", help::explain);
  planOptions(explain, explainArguments);
  explainInputs.declare(explain);
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
  explain->option_defaults()->group("Devices");
  std::vector<std::string> names;
  for (const Gpu &gpu : gpus())
    names.emplace_back(gpu.name);
  explain
      ->add_option("--gpu", explainArguments.gpu,
                   "Target cuda: whose memory and arithmetic the kernels' times are from (default: H200)")
      ->check(CLI::IsMember(names, CLI::ignore_case));

  compile = command("compile", "Compiles a plan, to a program or to any stage before", help::compile);
  planOptions(compile, compileArguments);
  compile->add_option("--emit", compileArguments.emit, "Stage to stop at (default: object)")
      ->check(CLI::IsMember(
          {"import", "plan", "checked", "simplified", "kernels", "bufferized", "launches", "llvm", "ptx", "object"}));
  compile
      ->add_option("--for", compileArguments.purposes,
                   "What runs of the program will do besides: chunk (read prompts in pieces), load-state, save-state,\n"
                   "image (have pictures); repeatable")
      ->type_name("USE")
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"chunk", "load-state", "save-state", "image"}));
  compile->add_option("--out", compileArguments.out, "File for a stage's text, folder for the program")
      ->type_name("PATH");

  run = command("run", "Runs a plan on a prompt, generates tokens, shows the tapped values", help::run);
  planOptions(run, runArguments);
  run->add_flag("--no-cache", runArguments.noCache, "Compile anew, and keep nothing");
  runInputs.declare(run);
  runFlags(run, runArguments);

  verify = command("verify", "Checks what the family promises, and that padding, batches and caches change nothing",
                   help::verify);
  verifyOptions();

  tokenize = command("tokenize", "Text on standard input to token ids", help::tokenize);
  checkpointOption(tokenize, textCheckpoint);
  tokenize->add_flag("--json", tokenizeJson, "ids, pieces and byte offsets");

  detokenize = command("detokenize", "Token ids on standard input to text", help::detokenize);
  checkpointOption(detokenize, textCheckpoint);
  detokenize->add_flag("--skip-special", skipSpecial, "Leave out special tokens");

  errors = command("errors", "What the error codes mean", help::errors);
  errors->add_option("CODE", code, "Such as NNT0601")->type_name("");
}

int CommandLine::dispatch() {
  runArguments.inputs = runInputs.inputs();
  runArguments.chat = runInputs.chat();
  explainArguments.inputs = explainInputs.inputs();
  explainArguments.chat = explainInputs.chat();

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

} // namespace

int runCommandLine(int argc, char **argv) { return CommandLine().execute(argc, argv); }

} // namespace nnterp
