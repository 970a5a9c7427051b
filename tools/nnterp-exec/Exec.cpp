// Options of nnterp-exec: those of `nnterp run` without what decides about the program.
#include "tools/nnterp-exec/Exec.h"
#include "runtime/exec/Key.h"
#include "tools/nnterp/ArtefactProgram.h"
#include "tools/nnterp/CommandRun.h"
#include "tools/nnterp/RunFlags.h"
#include "tools/nnterp/Terminal.h"

namespace nnterp {

static constexpr const char *examples =
    R"(ARTEFACT is a folder that nnterp compile --out wrote. It holds a program for one plan: prompts, numbers, indices and
vectors may be others, names and operations may not. Without --plan, the plan that it was compiled from is run. How many
tokens are generated, chunks and states have to be of the kind that it was compiled for (nnterp compile --generate, --for).

Examples
  nnterp compile toy/ --plan plan.json --out artefact/
  nnterp-exec artefact/ toy/ --prompt "The capital of Italy is"
  nnterp-exec artefact/ toy/ --prompt "The capital of Italy is" --value v=other.safetensors#v --out values.safetensors

  nnterp compile toy/ --generate 10 --target cuda --out for-gpu/
  nnterp-exec for-gpu/ toy/ --prompt "The capital of Italy is" --generate 20
  nnterp-exec for-gpu/ toy/ --prompt "The capital of Italy is" --generate 20 --target emulator      without a GPU)";

namespace {

class ExecCommandLine {
public:
  ExecCommandLine();
  int execute(int argc, char **argv) {
    return runTool(app, "nnterp-exec", argc, argv, [this] { return run(); });
  }

private:
  int run();
  bool useArtefact(RunOptions &options, Diagnostics &diags) const;

  CLI::App app{"Runs a compiled program on a checkpoint; no compiler is needed.", "nnterp-exec"};
  CLI::Option *target;
  std::string artefact;
  RunArguments arguments;
  InputFlags inputs;
};

ExecCommandLine::ExecCommandLine() {
  app.footer(examples);
  app.set_version_flag("--version", "nnterp-exec " + std::string(toolVersion()));
  app.get_formatter()->column_width(34);
  app.add_option("ARTEFACT", artefact, "Folder that nnterp compile --out wrote")->type_name("")->required();
  checkpointOption(&app, arguments.checkpoint);
  app.add_option("--plan", arguments.plan, "Plan file (JSON) of the same structure (default: the artefact's)")
      ->type_name("FILE");
  repeatedOption(&app, "--value", "NAME=...", arguments.flags.values,
                 "NAME=FILE#KEY or NAME=1,2.5: a vector for edits, in place of the plan's; repeatable");
  generateOption(&app, arguments.generate);
  target =
      targetOption(&app, arguments.target)->description("cuda (default) or emulator, for a program compiled for a GPU");
  app.add_flag("--quiet", arguments.quiet, "No progress, no remarks, no table");
  app.add_flag("--text-only", arguments.textOnly, "For a program that was compiled so");
  inputs.declare(&app);
  runFlags(&app, arguments);
}

bool ExecCommandLine::useArtefact(RunOptions &options, Diagnostics &diags) const {
  std::optional<Artefact> opened = readArtefact(artefact, diags);
  if (!opened)
    return false;
  if (arguments.plan.empty()) {
    options.plan.json = keptPlan(*opened, arguments.flags.values, diags);
    if (!options.plan.json)
      return false;
  }
  options.dtype = opened->manifest.dtype;
  if (target->count() == 0)
    options.target = opened->manifest.target == "gpu" ? Target::cuda : Target::cpu;
  options.artefact = std::make_shared<Artefact>(std::move(*opened));
  return true;
}

int ExecCommandLine::run() {
  Diagnostics diags;
  arguments.inputs = inputs.inputs();
  arguments.chat = inputs.chat();
  std::optional<RunOptions> options = runOptions(arguments, diags);
  if (!options || !useArtefact(*options, diags))
    return report(diags);
  return runAndShow(std::move(*options), arguments, diags);
}

} // namespace

int runExecCommandLine(int argc, char **argv) { return ExecCommandLine().execute(argc, argv); }

} // namespace nnterp
