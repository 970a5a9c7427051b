// Runs a plan on a checkpoint.
#include "tools/nnterp/RunModel.h"
#include "frontend/families/Qwen35MoeMemory.h"
#include "runtime/exec/Hash.h"
#include "runtime/exec/Key.h"
#include "tools/nnterp/ArtefactProgram.h"
#include "tools/nnterp/Continuation.h"
#include "tools/nnterp/ProgramSource.h"
#include "tools/nnterp/Stopwatch.h"
#include "tools/nnterp/report/Units.h"

#include <algorithm>

namespace nnterp {

namespace {

/// What a run needs to know before a program is looked for.
struct RunParts {
  PreparedPlan prepared;
  OpenWeights weights;
  Batches inputs;
  SavedStates loaded;
  GenerationSettings generation;
  StateIdentity identity; ///< of states that are loaded or saved
  RunInfo info;
};

RunInfo runInfo(const RunOptions &options, const Batches &inputs, const SavedStates &loaded) {
  RunInfo info;
  for (const auto &[name, batch] : inputs)
    info.inputs[name] = batchInfo(batch);
  for (const auto &[world, state] : loaded)
    info.loaded[world] = state.lengths;
  info.generate = options.generation.tokens;
  info.chunk = options.chunk;
  return info;
}

StateIdentity identityOf(const ModelConfig &config, DType dtype) {
  return {hashOf(configFingerprint(config)), dtype, std::string(toolVersion()), memoryParts(config, dtype),
          config.vocabSize};
}

/// Plan, checkpoint, prompts and state do not depend on each other: what is wrong with them is reported together.
std::optional<RunParts> readParts(const RunOptions &options, Diagnostics &diags) {
  std::optional<ModelConfig> config = loadConfig(options.checkpoint, diags, options.textOnly);
  std::optional<Plan> plan = loadPlan(options.plan, diags);
  if (!config)
    return std::nullopt;
  PointTable points = qwen35MoePoints(*config);
  std::optional<GenerationSettings> generation =
      generationSettings(options.generation, checkpointFolder(options.checkpoint), *config, diags);
  const bool load = !options.loadState.empty(), save = !options.saveState.empty();
  std::optional<Batches> inputs;
  if (plan)
    inputs = readInputs(options.inputs, *plan, *config, options.checkpoint, options.chat, diags, load);
  const bool images = inputs && hasImages(*inputs);
  std::optional<OpenWeights> weights = openWeights(options.checkpoint, *config, options.dtype, diags, images);
  if (!plan)
    return std::nullopt;
  SavedStates loaded;
  StateIdentity identity;
  if (weights)
    identity = identityOf(*config, weights->dtype);
  if (weights && load) {
    std::vector<std::string> worlds;
    for (const PlanWorld &world : plan->worlds)
      worlds.push_back(world.name);
    std::optional<SavedStates> states = loadStates(options.loadState, worlds, identity, diags);
    if (!states)
      inputs.reset();
    if (inputs)
      inputs = continueFrom(*states, plan->worlds, *inputs, options.loadState, diags);
    if (states)
      loaded = std::move(*states);
  }
  RunShape shape = runShape(options.generation.tokens, options.chunk > 0, save, load);
  shape.images = images;
  std::optional<ResolvedPlan> resolved =
      resolvePlan(std::make_shared<const Plan>(std::move(*plan)), points, *config, shape, diags);
  if (!weights || !generation || !inputs || !resolved)
    return std::nullopt;
  RunInfo info = runInfo(options, *inputs, loaded);
  if (!checkPositions(*inputs, info.steps(), diags))
    return std::nullopt;
  return RunParts{{std::move(*config), std::move(points), std::move(*resolved)},
                  std::move(*weights),
                  std::move(*inputs),
                  std::move(loaded),
                  std::move(*generation),
                  std::move(identity),
                  std::move(info)};
}

/// Programs compute with int64 where a value is true or false.
bool isBoolean(const PreparedPlan &prepared, const std::string &key) {
  for (const TapSpec &tap : prepared.resolved.taps)
    if (tap.key == key) {
      const PointInfo *row = prepared.points.row(tap.gather.point);
      return row && row->type == ValueType::boolean;
    }
  return false;
}

Tensor asBoolean(const Tensor &numbers) {
  Tensor flags = Tensor::make(DType::boolean, numbers.shape);
  for (int64_t i = 0; i < elementCount(numbers.shape); ++i)
    flags.as<unsigned char>()[i] = numbers.as<int64_t>()[i] != 0;
  return flags;
}

bool fitsBudget(const RunOptions &options, const MemoryEstimate &estimate, Diagnostics &diags) {
  if (!options.maxMemory || estimate.total() <= *options.maxMemory)
    return true;
  auto note = [](std::string message) {
    Diagnostic::Note note;
    note.message = std::move(message);
    return note;
  };
  std::vector<Diagnostic::Note> notes;
  if (estimate.mapped)
    notes.push_back(note(bytesText(double(estimate.mapped)) +
                         " of weights are read in place from their files and are not counted"));
  notes.push_back(note("smaller batches, fewer taps and --chunk need less"));
  diags
      .error("NNT1304", {"--max-memory", 0, 0},
             "the run is expected to need " + estimate.text() + "; allowed are " +
                 bytesText(double(*options.maxMemory)))
      .notes = std::move(notes);
  return false;
}

} // namespace

const TapSpec *RunResult::tapOf(std::string_view key) const {
  for (const TapSpec &tap : prepared.resolved.taps)
    if (tap.key == key)
      return &tap;
  return nullptr;
}

const Batch &RunResult::batchOf(const std::string &world) const {
  for (const WorldSpec &spec : prepared.resolved.worlds)
    if (spec.name == world)
      return inputs.at(spec.input);
  return inputs.begin()->second;
}

std::optional<RunResult> runModel(const RunOptions &options, Diagnostics &diags) {
  Stopwatch watch;
  RunTimes times;
  std::optional<RunParts> parts = readParts(options, diags);
  if (!parts || diags.hasErrors())
    return std::nullopt;
  auto &[prepared, weights, inputs, loaded, generation, identity, info] = *parts;
  std::optional<RunBuffers> buffers =
      RunBuffers::make(prepared.resolved, prepared.points, prepared.config, info, diags);
  times.read = watch.lap();
  if (!buffers || diags.hasErrors())
    return std::nullopt;

  auto progress = [&](std::string_view phase, double fraction) {
    if (options.progress)
      options.progress(phase, fraction);
  };
  std::shared_ptr<gpu::Device> device = options.onDevice;
  if (!device && options.target != Target::cpu) {
    device = openDevice(options.target, options.device, diags);
    if (!device)
      return std::nullopt;
  }
  ProgramRequest request{prepared, weights.index, weights.dtype, options.target, options.useCache, options.cacheDir};
  request.progress = [&](std::string_view, double fraction) { progress("compile", fraction); };
  std::optional<ReadyProgram> ready = options.artefact ? openArtefact(*options.artefact, request, diags, device)
                                                       : obtainProgram(request, diags, device);
  times.program = watch.lap();
  if (!ready)
    return std::nullopt;
  const Manifest &manifest = ready->program->manifest();
  const MemoryEstimate estimate = estimateMemory({prepared.resolved, info, inputs}, manifest, &weights.index, *buffers);
  if (!fitsBudget(options, estimate, diags))
    return std::nullopt;

  std::unique_ptr<MemorySpace> ofDevice;
  if (device)
    ofDevice = deviceSpace(device, [&] { return ready->program->trim(); });
  MemorySpace &space = ofDevice ? *ofDevice : hostSpace();
  BindProgress uploading;
  if (device)
    uploading = [&](uint64_t done, uint64_t total) { progress("upload", double(done) / double(total)); };
  std::optional<BoundTable> table = BoundTable::make(manifest, weights.index, diags, space, uploading);
  times.weights = watch.lap();
  if (!table)
    return std::nullopt;
  const InputRules rules = inputRules(prepared.config);
  SequenceRun run({prepared.resolved, info, inputs, loaded, generation, *ready->program, *buffers, *table, space,
                   rules.images, rules.patchValues});
  if (!run.run([&](double fraction) { progress("run", fraction); }, options.onToken, diags))
    return std::nullopt;
  if (buffers->unedited() > 0)
    diags.note({}, std::to_string(buffers->unedited()) +
                       " rows of edits at generated tokens were left as they are: the source's row had ended");
  times.run = watch.lap();
  times.prompt = run.costs().promptMilliseconds;
  times.steps = run.costs().stepsMilliseconds;
  if (!options.saveState.empty()) {
    std::optional<SavedStates> states = run.states(diags);
    if (!states || !saveStates(options.saveState, *states, prepared.resolved.declaresWorlds, identity, diags))
      return std::nullopt;
  }
  times.total = watch.total();

  std::vector<std::pair<std::string, Tensor>> outputs = run.outputs(); // the run reads the plan, which moves on
  for (auto &[key, tensor] : outputs)
    if (isBoolean(prepared, key))
      tensor = asBoolean(tensor);
  RunResult result(std::move(prepared));
  result.outputs = std::move(outputs);
  result.generated = run.generated();
  result.manifest = manifest;
  result.device = device ? device->description() : "";
  result.compiled = ready->compiled;
  result.times = times;
  result.costs = run.costs();
  result.copiedBytes = weights.index.copiedBytes();
  result.copiedTensors = weights.index.copiedTensors();
  result.estimate = estimate;
  result.buffers = run.buffers();
  result.inputs = std::move(inputs);
  for (const auto &[name, batch] : result.inputs)
    for (int64_t b = 0; b < batch.rows(); ++b)
      result.lastLengths[name].push_back(rowWindow(info, name, b, buffers->promptCalls().back()).length);
  return result;
}

} // namespace nnterp
