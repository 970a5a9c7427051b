// Gathers what a plan will cost.
#include "tools/nnterp/Explain.h"

#include "tools/nnterp/CommandPlan.h"

#include "tools/nnterp/ProgramSource.h"
#include "tools/nnterp/report/Points.h"

#include <algorithm>
#include <functional>

namespace nnterp {

namespace {

/// Inputs that nobody gave, as rows of some token.
bool fillInputs(Batches &inputs, const Plan &plan, const ExplainArguments &arguments, Diagnostics &diags) {
  for (const std::string &name : plan.inputNames()) {
    if (inputs.count(name))
      continue;
    const std::vector<std::vector<int64_t>> rows(size_t(arguments.rows),
                                                 std::vector<int64_t>(size_t(arguments.tokens), 0));
    InputRules rules;
    rules.vocabSize = 1;
    std::optional<Batch> batch = batchFromIds(rows, rules, {"--tokens", 0, 0}, diags);
    if (!batch)
      return false;
    inputs.emplace(name, std::move(*batch));
  }
  return true;
}

CallCost costOf(std::string what, const EntryReport &entry, const CallExtents &extents, double allExperts) {
  return {std::move(what), entry.flops.value(std::cref(extents)), double(entry.weightBytes),
          std::min(entry.expertBytes.value(std::cref(extents)), allExperts)};
}

/// Bytes of all experts that the program reads.
double expertBytes(const Manifest &manifest) {
  double bytes = 0;
  for (const SlotSpec &slot : manifest.slots)
    if (slot.kind == SlotKind::weight && slot.name.find(".mlp.experts.") != std::string::npos)
      bytes += double(elementCount(slot.dims)) * double(byteSize(slot.dtype));
  return bytes;
}

uint64_t sequenceBytes(const Manifest &manifest, const std::string &prefix, int64_t tokens) {
  uint64_t bytes = 0;
  for (const SlotSpec &slot : manifest.slots) {
    if (slot.kind != SlotKind::state || slot.name.compare(0, prefix.size(), prefix) != 0)
      continue;
    uint64_t part = byteSize(slot.dtype);
    for (size_t axis = 1; axis < slot.dims.size(); ++axis)
      part *= uint64_t(slot.dims[axis] < 0 ? tokens : slot.dims[axis]);
    bytes += part;
  }
  return bytes;
}

} // namespace

std::optional<Explanation> explain(const ExplainArguments &arguments, Diagnostics &diags) {
  std::optional<ModelConfig> config = loadConfig(arguments.checkpoint, diags, arguments.textOnly);
  std::optional<Plan> plan = loadPlan(planSource(arguments), diags);
  if (!config || !plan)
    return std::nullopt;
  PointTable points = qwen35MoePoints(*config);
  std::optional<Batches> inputs =
      readInputs(arguments.inputs, *plan, *config, arguments.checkpoint, arguments.chat, diags,
                 /*allowMissing=*/true);
  if (!inputs || !fillInputs(*inputs, *plan, arguments, diags))
    return std::nullopt;
  RunShape shape = runShape(arguments.generate, arguments.chunk > 0);
  shape.images = namesImages(*plan, points) || hasImages(*inputs);
  std::optional<ResolvedPlan> resolved =
      resolvePlan(std::make_shared<const Plan>(std::move(*plan)), points, *config, shape, diags);
  if (!resolved)
    return std::nullopt;
  Explanation result{{std::move(*config), std::move(points), std::move(*resolved)}, {}, {}, 0, 0, 0, 0, {}, {}, false};
  const PreparedPlan &prepared = result.prepared;

  std::optional<OpenWeights> weights;
  result.hasWeights = haveWeights(arguments.checkpoint);
  if (result.hasWeights) {
    weights = openWeights(arguments.checkpoint, prepared.config, requestedDType(arguments.dtype), diags, shape.images);
    if (!weights)
      return std::nullopt;
  }
  RunInfo info;
  for (const auto &[name, batch] : *inputs)
    info.inputs[name] = batchInfo(batch);
  info.generate = arguments.generate;
  info.chunk = arguments.chunk;
  std::optional<RunBuffers> buffers =
      RunBuffers::make(prepared.resolved, prepared.points, prepared.config, info, diags);
  if (!buffers)
    return std::nullopt;
  const DType dtype =
      weights ? weights->dtype : requestedDType(arguments.dtype).value_or(dtypeWithoutWeights(prepared.config));
  const bool forGpu = arguments.target != Target::cpu;
  std::optional<CompileResult> compiled =
      compileTo(forGpu ? Stage::object : Stage::bufferized, prepared.config, &prepared.resolved,
                {dtype, arguments.target, weights ? &weights->index : nullptr}, diags);
  if (!compiled)
    return std::nullopt;
  const Manifest &manifest = compiled->manifest;
  std::unique_ptr<LaunchRecorder> recorder;
  if (forGpu) {
    recorder = LaunchRecorder::open(compiled->object, manifest, *gpuByName(arguments.gpu), diags);
    if (!recorder)
      return std::nullopt;
  }
  // What a call costs; `entry` is the program's for it.
  auto add = [&](const std::string &what, const EntryReport &report, Program::Entry entry, const Call &call) {
    const CallExtents extents({prepared.resolved, info, *inputs}, manifest, *buffers, call);
    result.calls.push_back(costOf(what, report, extents, expertBytes(manifest)));
    return !recorder || recorder->add(what, entry, extents, diags);
  };

  result.report = compiled->report;
  const RunOutline outline{prepared.resolved, info, *inputs};
  result.memory = estimateMemory(outline, manifest, weights ? &weights->index : nullptr, *buffers);
  const Batch &first = inputs->begin()->second;
  const bool several = inputs->size() > 1 || prepared.resolved.worlds.size() > 1;
  Call last = buffers->promptCalls().back();
  std::string prompt =
      "a prompt of " + std::to_string(first.rows()) + " x " + std::to_string(last.end - last.begin) + " tokens";
  if (!add(prompt + (several ? ", all worlds" : ""), result.report.prompt, Program::Entry::prompt, last))
    return std::nullopt;
  if (shape.images) {
    int64_t patches = 0;
    for (const auto &[name, batch] : *inputs)
      patches += batch.images ? batch.images->pixels.shape[0] : 0;
    if (!add("images of " + std::to_string(patches) + " patches", result.report.images, Program::Entry::images, last))
      return std::nullopt;
  }
  if (info.steps() > 0) {
    last = Call();
    last.phase = Phase::gen;
    last.step = info.steps() - 1;
    std::string token = first.rows() == 1 ? "a generated token" : "a generated token of each row";
    if (!add(token + (several ? ", all worlds" : ""), result.report.step, Program::Entry::step, last))
      return std::nullopt;
  }
  if (recorder)
    result.launches = recorder->finish();
  if (prepared.resolved.shape.memory) {
    const WorldSpec &world = prepared.resolved.worlds.front();
    result.stateTokens = tokensBehind(outline, world, last);
    result.stateBytes = sequenceBytes(manifest, prepared.resolved.prefix(world.name), result.stateTokens);
  }
  for (const TapLayout &tap : buffers->taps()) {
    if (elementCount(tap.shape) == 0)
      continue;
    ++result.tapTensors;
    for (const SlotSpec &slot : manifest.slots)
      if (slot.kind == SlotKind::output && slot.name == tap.key)
        result.tapBytes += uint64_t(elementCount(tap.shape)) * byteSize(slot.dtype);
  }
  return result;
}

} // namespace nnterp
