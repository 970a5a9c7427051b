// nnterp compile and nnterp import
#include "runtime/exec/Cache.h"
#include "runtime/weights/Safetensors.h"
#include "tools/nnterp/ArtefactProgram.h"
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/ProgramSource.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Points.h"

#include <algorithm>
#include <filesystem>

namespace nnterp {

namespace fs = std::filesystem;

/// Text of a stage to a file, or to standard output.
static int emitText(const std::string &text, const std::string &out) {
  if (out.empty())
    return print(text);
  Diagnostics diags;
  writeFileAtomically(out, text, diags);
  return report(diags);
}

/// The artefact: into a folder that the user names, or into the cache.
static int emitArtefact(const ProgramRequest &request, const std::string &out, bool quiet, Diagnostics &diags) {
  if (out.empty()) {
    std::optional<bool> compiled;
    {
      ProgressBar bar(!quiet);
      ProgramRequest withBar = request;
      withBar.progress = [&](std::string_view, double fraction) { bar.show("compile", fraction); };
      compiled = cacheProgram(withBar, diags);
    }
    if (report(diags, quiet) != exitSuccess || !compiled)
      return exitDiagnosed;
    const std::string folder = (fs::path(ProgramCache::defaultRoot()) / programKey(request)).string();
    return print((*compiled ? "compiled: " : "cached: ") + folder + "\n");
  }
  std::optional<CompileResult> result;
  {
    ProgressBar bar(!quiet);
    result = compileTo(Stage::object, request.prepared.config, &request.prepared.resolved,
                       {request.dtype, request.target, &request.weights, programKey(request),
                        [&](std::string_view, double fraction) { bar.show("compile", fraction); }},
                       diags);
  }
  std::error_code failure;
  if (result) {
    fs::create_directories(out, failure);
    if (failure)
      diags.error("NNT0102", {out, 0, 0}, "cannot make the folder \"" + out + "\": " + failure.message());
    else
      writeArtefact(out, result->object, result->manifest, planToKeep(*request.prepared.resolved.plan), diags);
  }
  return report(diags, quiet) == exitSuccess ? print("compiled: " + out + "\n") : exitDiagnosed;
}

int compileCommand(const CompileArguments &arguments) {
  Diagnostics diags;
  if (!arguments.printPlan.empty())
    return printPlan(arguments);
  const Stage stage = stageByName(arguments.emit).value_or(Stage::object); // the command line takes no other names
  if ((stage == Stage::launches || stage == Stage::ptx) && arguments.target == Target::cpu) {
    diags.error("NNT1747", {"--emit", 0, 0},
                "programs for the CPU have no stage \"" + arguments.emit + "\"; expected --target=cuda with it");
    return report(diags);
  }
  const bool needsWeights = stage == Stage::object || haveWeights(arguments.checkpoint);

  auto isFor = [&](const char *purpose) {
    return std::find(arguments.purposes.begin(), arguments.purposes.end(), purpose) != arguments.purposes.end();
  };
  RunShape shape = runShape(arguments.generate, isFor("chunk"), isFor("save-state"), isFor("load-state"));
  shape.images = isFor("image");
  std::optional<PreparedPlan> prepared =
      preparePlan(arguments.checkpoint, planSource(arguments), shape, diags, arguments.textOnly);
  if (!prepared)
    return report(diags);
  std::optional<OpenWeights> weights;
  if (needsWeights) {
    weights = openWeights(arguments.checkpoint, prepared->config, requestedDType(arguments.dtype), diags,
                          prepared->resolved.shape.images);
    if (!weights)
      return report(diags);
  }
  if (stage == Stage::object) {
    const ProgramRequest request{*prepared, weights->index, weights->dtype, arguments.target};
    return emitArtefact(request, arguments.out, arguments.quiet, diags);
  }

  const DType dtype =
      weights ? weights->dtype : requestedDType(arguments.dtype).value_or(dtypeWithoutWeights(prepared->config));
  std::optional<CompileResult> result;
  {
    ProgressBar bar(!arguments.quiet);
    result = compileTo(stage, prepared->config, &prepared->resolved,
                       {dtype, arguments.target, weights ? &weights->index : nullptr, "",
                        [&](std::string_view, double fraction) { bar.show("compile", fraction); }},
                       diags);
  }
  const int status = report(diags, arguments.quiet);
  return result && status == exitSuccess ? emitText(result->text, arguments.out) : exitDiagnosed;
}

int importCommand(const std::string &checkpoint, const std::string &dtype, const std::string &out, bool textOnly) {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(checkpoint, diags, textOnly);
  std::optional<CompileResult> result;
  if (config)
    result = compileTo(Stage::import, *config, nullptr, {requestedDType(dtype).value_or(dtypeWithoutWeights(*config))},
                       diags);
  const int status = report(diags);
  return result && status == exitSuccess ? emitText(result->text, out) : exitDiagnosed;
}

} // namespace nnterp
