// nnterp run
#include "tools/nnterp/CommandRun.h"
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/GeneratedText.h"
#include "tools/nnterp/Ids.h"
#include "tools/nnterp/OutputFile.h"
#include "tools/nnterp/TapTable.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Units.h"

#include <cstdio>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace nnterp {

/// "12 ms: program 3 ms (cached), weights 1 ms, run 8 ms; 400 tokens/s; peak memory 48 MiB", and what it ran on if not
/// the CPU
static void printCost(const RunResult &result) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double rate = tokensPerSecond(result);
  char speed[64] = "";
  if (rate > 0)
    std::snprintf(speed, sizeof speed, " (prompt %.0f ms); %.*f tokens/s", result.times.prompt, rate < 10 ? 1 : 0,
                  rate);
  std::string device = result.device.empty() ? "" : "; on " + result.device;
  if (result.costs.stepsReplayed > 0)
    device += ", " + std::to_string(result.costs.stepsReplayed) + " of " + std::to_string(result.costs.steps) +
              " steps replayed";
  std::fprintf(stderr, "%.0f ms: program %.0f ms (%s), weights %.0f ms, run %.0f ms%s; peak memory %s%s\n",
               result.times.total, result.times.program, result.compiled ? "compiled" : "cached", result.times.weights,
               result.times.run, speed, bytesText(double(usage.ru_maxrss) * 1024).c_str(), device.c_str());
}

/// The checkpoint's tokenizer, if it has one that can be read: without, ids are shown alone.
static std::optional<Tokenizer> optionalTokenizer(const std::string &checkpoint) {
  Diagnostics unreported;
  return Tokenizer::load(checkpointFolder(checkpoint), unreported);
}

std::optional<RunOptions> runOptions(const RunArguments &arguments, Diagnostics &diags) {
  RunOptions options;
  options.checkpoint = arguments.checkpoint;
  options.plan = planSource(arguments);
  options.textOnly = arguments.textOnly;
  options.inputs = arguments.inputs;
  options.dtype = requestedDType(arguments.dtype);
  options.chat = arguments.chat;
  options.generation = arguments.generation;
  options.generation.tokens = arguments.generate;
  options.chunk = arguments.chunk;
  options.saveState = arguments.saveState;
  options.loadState = arguments.loadState;
  options.useCache = !arguments.noCache;
  options.target = arguments.target;
  options.device = arguments.device;
  if (arguments.noEos)
    options.generation.eos.emplace();
  else if (!arguments.eos.empty())
    options.generation.eos = parseIds(arguments.eos, {"--eos", 0, 0}, diags);
  if (!arguments.maxMemory.empty()) {
    options.maxMemory = parseSize(arguments.maxMemory);
    if (!options.maxMemory)
      diags.error("NNT1305", {"--max-memory", 0, 0},
                  "expected a size, such as 12G, 512M or a number of bytes; found \"" + arguments.maxMemory + "\"");
  }
  if (!arguments.out.empty())
    checkOutputPath(arguments.out, diags);
  if (!arguments.saveState.empty())
    checkOutputPath(arguments.saveState, diags);
  auto whole = [](const std::string &path) { return std::filesystem::absolute(path).lexically_normal(); };
  if (!arguments.out.empty() && !arguments.saveState.empty() && whole(arguments.out) == whole(arguments.saveState))
    diags.error("NNT0102", {"--save-state", 0, 0},
                "the state cannot go into the file of the tapped values, " + arguments.out);
  return diags.hasErrors() ? std::nullopt : std::optional(std::move(options));
}

/// Text that appears on the terminal while it is generated; only where one row generates.
class LiveText {
public:
  LiveText(bool wanted, const std::string &checkpoint, ProgressBar &bar)
      : wanted(wanted), checkpoint(checkpoint), bar(bar) {}

  void operator()(const GeneratedToken &token) {
    if (!wanted || token.rows != 1)
      return;
    if (!text) {
      bar.stop();
      tokenizer = optionalTokenizer(checkpoint);
      text.emplace(tokenizer ? &*tokenizer : nullptr);
    }
    print(token.ends ? text->finish() : text->add(token.id));
  }
  /// Ends the line; whether there was one.
  bool finish() {
    if (text)
      print(text->finish() + "\n\n");
    return text.has_value();
  }

private:
  bool wanted;
  const std::string &checkpoint;
  ProgressBar &bar;
  std::optional<Tokenizer> tokenizer;
  std::optional<TokenText> text;
};

int runCommand(const RunArguments &arguments) {
  Diagnostics diags;
  if (!arguments.printPlan.empty())
    return printPlan(arguments);
  std::optional<RunOptions> options = runOptions(arguments, diags);
  return options ? runAndShow(std::move(*options), arguments, diags) : report(diags);
}

int runAndShow(RunOptions options, const RunArguments &arguments, Diagnostics &diags) {
  ProgressBar bar(!arguments.quiet);
  LiveText live(!arguments.json && !arguments.quiet && isatty(STDOUT_FILENO), arguments.checkpoint, bar);
  options.progress = [&](std::string_view phase, double fraction) { bar.show(phase, fraction); };
  options.onToken = [&](const GeneratedToken &token) { live(token); };
  std::optional<RunResult> result = runModel(options, diags);
  bar.clear();
  const bool shown = live.finish();
  if (result && !arguments.out.empty())
    writeOutputs(arguments.out, *result, diags);
  if (report(diags, arguments.quiet) != exitSuccess || !result)
    return exitDiagnosed;

  const std::vector<NextTokens> next =
      arguments.generate == 0 || arguments.json ? nextTokens(*result) : std::vector<NextTokens>();
  const std::optional<Tokenizer> tokenizer =
      next.empty() && result->generated.empty() ? std::nullopt : optionalTokenizer(arguments.checkpoint);
  const Tokenizer *texts = tokenizer ? &*tokenizer : nullptr;
  int status = exitSuccess;
  if (arguments.json) {
    status = print(runJson(*result, next, texts, arguments.out, diags));
  } else if (!arguments.quiet) {
    std::string text;
    if (!result->generated.empty() && !shown)
      text = generatedText(result->generated, result->prepared.resolved.declaresWorlds, texts) + "\n";
    status = print(text + tapTable(*result) + nextTokenTable(next, texts));
  }
  if (!arguments.quiet)
    printCost(*result);
  return status;
}

} // namespace nnterp
