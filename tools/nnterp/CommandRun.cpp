// nnterp run
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/OutputFile.h"
#include "tools/nnterp/TapTable.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Units.h"

#include <cstdio>
#include <sys/resource.h>

namespace nnterp {

/// "12 ms (program cached) · 48 MiB peak memory"
static void printCost(const RunResult &result) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::fprintf(stderr, "%.0f ms: program %.0f ms (%s), weights %.0f ms, run %.0f ms; peak memory %s\n",
               result.times.total, result.times.program, result.compiled ? "compiled" : "cached", result.times.weights,
               result.times.run, bytesText(double(usage.ru_maxrss) * 1024).c_str());
}

/// The checkpoint's tokenizer, if it has one that can be read: without, ids are shown alone.
static std::optional<Tokenizer> optionalTokenizer(const std::string &checkpoint) {
  Diagnostics unreported;
  return Tokenizer::load(checkpointFolder(checkpoint), unreported);
}

int runCommand(const RunArguments &arguments) {
  Diagnostics diags;
  if (!refuseLater(arguments, diags))
    return report(diags);
  if (!arguments.printPlan.empty())
    return printPlan(arguments);
  if (!arguments.out.empty() && !checkOutputPath(arguments.out, diags))
    return report(diags);

  std::optional<RunResult> result;
  {
    ProgressBar bar(!arguments.quiet);
    RunOptions options;
    options.checkpoint = arguments.checkpoint;
    options.plan = planSource(arguments);
    options.inputs = arguments.inputs;
    options.dtype = requestedDType(arguments.dtype);
    options.useCache = !arguments.noCache;
    options.progress = [&](std::string_view phase, double fraction) { bar.show(phase, fraction); };
    result = runModel(options, diags);
  }
  if (result && !arguments.out.empty())
    writeOutputs(arguments.out, *result, diags);
  if (report(diags, arguments.quiet) != exitSuccess || !result)
    return exitDiagnosed;

  const std::vector<NextTokens> next = nextTokens(*result);
  const std::optional<Tokenizer> tokenizer = next.empty() ? std::nullopt : optionalTokenizer(arguments.checkpoint);
  const Tokenizer *texts = tokenizer ? &*tokenizer : nullptr;
  int status = exitSuccess;
  if (arguments.json)
    status = print(runJson(*result, next, texts, arguments.out, diags));
  else if (!arguments.quiet)
    status = print(tapTable(*result) + nextTokenTable(next, texts));
  if (!arguments.quiet)
    printCost(*result);
  return status;
}

} // namespace nnterp
