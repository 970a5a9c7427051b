// Runs a plan on a checkpoint.
#include "tools/nnterp/RunModel.h"
#include "runtime/exec/Bind.h"
#include "tools/nnterp/ProgramSource.h"

#include <algorithm>
#include <chrono>

namespace nnterp {

namespace {

/// Measures the steps of a run.
class Stopwatch {
public:
  double lap() {
    const auto now = Clock::now();
    const double elapsed = milliseconds(now - last);
    last = now;
    return elapsed;
  }
  double total() const { return milliseconds(Clock::now() - start); }

private:
  using Clock = std::chrono::steady_clock;
  static double milliseconds(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }
  Clock::time_point start = Clock::now(), last = start;
};

/// What a run needs to know before a program is looked for.
struct RunParts {
  PreparedPlan prepared;
  OpenWeights weights;
  Batch batch;
};

/// Plan, checkpoint and prompt do not depend on each other: what is wrong with them is reported together.
std::optional<RunParts> readParts(const RunOptions &options, Diagnostics &diags) {
  std::optional<ModelConfig> config = loadConfig(options.checkpoint, diags);
  std::optional<Plan> plan = loadPlan(options.plan, diags);
  if (!config)
    return std::nullopt;
  PointTable points = qwen35MoePoints(*config);
  std::optional<OpenWeights> weights = openWeights(options.checkpoint, *config, options.dtype, diags);
  if (!plan)
    return std::nullopt;
  std::optional<Batch> batch = readInput(options.inputs, *plan, *config, options.checkpoint, diags);
  std::optional<ResolvedPlan> resolved =
      resolvePlan(std::make_shared<const Plan>(std::move(*plan)), points, *config, diags);
  if (!weights || !batch || !resolved)
    return std::nullopt;
  return RunParts{
      {std::move(*config), std::move(points), std::move(*resolved)}, std::move(*weights), std::move(*batch)};
}

void reportFailures(const RunReport &report, const Plan &plan, Diagnostics &diags) {
  for (const RunFailure &failure : report.failures) {
    const bool known = failure.entry >= 0 && size_t(failure.entry) < plan.edits.size();
    diags.error("NNT1018", known ? plan.edits[size_t(failure.entry)].doLoc : SourceLoc(),
                "the direction to project out is zero at some token; expected a vector of positive length");
  }
}

/// Outputs in the order of the plan's taps.
std::vector<std::pair<std::string, Tensor>> inPlanOrder(std::vector<std::pair<std::string, Tensor>> outputs,
                                                        const ResolvedPlan &plan) {
  std::map<std::string, size_t> place;
  for (const TapSpec &tap : plan.taps)
    place.emplace(tap.key, place.size());
  std::sort(outputs.begin(), outputs.end(),
            [&](const auto &a, const auto &b) { return place[a.first] < place[b.first]; });
  return outputs;
}

} // namespace

const TapSpec *RunResult::tapOf(std::string_view key) const {
  for (const TapSpec &tap : prepared.resolved.taps)
    if (tap.key == key)
      return &tap;
  return nullptr;
}

std::optional<RunResult> runModel(const RunOptions &options, Diagnostics &diags) {
  Stopwatch watch;
  RunTimes times;
  std::optional<RunParts> parts = readParts(options, diags);
  if (!parts)
    return std::nullopt;
  auto &[prepared, weights, batch] = *parts;
  const BatchInfo info{batch.seq(), batch.rowLengths()};
  std::optional<std::map<std::string, Tensor>> buffers =
      fillBuffers(prepared.resolved, prepared.points, prepared.config, info, diags);
  times.read = watch.lap();
  if (!buffers || diags.hasErrors())
    return std::nullopt;

  auto progress = [&](std::string_view phase, double fraction) {
    if (options.progress)
      options.progress(phase, fraction);
  };
  ProgramRequest request{prepared, weights.index, weights.dtype, options.useCache, options.cacheDir, {}};
  request.progress = [&](std::string_view, double fraction) { progress("compile", fraction); };
  std::optional<ReadyProgram> ready = obtainProgram(request, diags);
  times.program = watch.lap();
  if (!ready)
    return std::nullopt;

  std::map<std::string, Shape> shapes;
  for (const TapSpec &tap : prepared.resolved.taps)
    shapes[tap.key] = tapShape(tap, prepared.points, *buffers, info);
  std::optional<BoundTable> table = bind(ready->program->manifest(), {batch, weights.index, *buffers, shapes}, diags);
  times.weights = watch.lap();
  if (!table)
    return std::nullopt;

  auto onRun = [&](int64_t done, int64_t total) { progress("run", total > 0 ? double(done) / double(total) : 1); };
  std::optional<RunReport> report = ready->program->run(table->slots, onRun, diags);
  times.run = watch.lap();
  if (!report)
    return std::nullopt;
  reportFailures(*report, *prepared.resolved.plan, diags);
  if (diags.hasErrors())
    return std::nullopt;
  times.total = watch.total();

  std::vector<std::pair<std::string, Tensor>> outputs = inPlanOrder(std::move(table->outputs), prepared.resolved);
  return RunResult{std::move(outputs),
                   ready->program->manifest(),
                   ready->compiled,
                   times,
                   report->arenaPeak,
                   weights.index.copiedBytes(),
                   weights.index.copiedTensors(),
                   std::move(prepared),
                   std::move(batch),
                   std::move(*buffers)};
}

} // namespace nnterp
