// Runs calls one after another.
#include "tools/nnterp/SequenceRun.h"
#include "tools/nnterp/Stopwatch.h"

#include "runtime/exec/BatchImages.h"

#include <algorithm>

namespace nnterp {

namespace {

/// The program's slot of that kind and name; null when it has none.
const SlotSpec *findSlot(const Manifest &manifest, SlotKind kind, const std::string &name) {
  for (const SlotSpec &slot : manifest.slots)
    if (slot.kind == kind && slot.name == name)
      return &slot;
  return nullptr;
}

void reportFailures(const RunReport &report, const Plan &plan, Diagnostics &diags) {
  for (const RunFailure &failure : report.failures) {
    const bool known = failure.entry >= 0 && size_t(failure.entry) < plan.edits.size();
    diags.error("NNT1018", known ? plan.edits[size_t(failure.entry)].doLoc : SourceLoc(),
                "the direction to project out is zero at some token; expected a vector of positive length");
  }
}

} // namespace

SequenceRun::SequenceRun(const SequenceParts &parts)
    : parts(parts),
      assembly(parts.buffers.taps(), parts.program.manifest(), parts.buffers.promptCalls().size(), tensors.outputs),
      sampler(parts.generation.sampling) {}

int64_t SequenceRun::loadedLength(const std::string &world, int64_t row) const {
  auto found = parts.loaded.find(world);
  return found == parts.loaded.end() ? 0 : found->second.lengths[size_t(row)];
}

/// The logits of every row's last token, [B,V].
bool SequenceRun::addLogits(const std::string &name, int64_t rows, Diagnostics &diags) {
  const SlotSpec *slot = findSlot(parts.program.manifest(), SlotKind::output, name);
  if (slot && slot->dims.size() == 2) {
    tensors.outputs[name] = Tensor::make(slot->dtype, {rows, slot->dims[1]});
    return true;
  }
  diags.error("NNT1020", {}, "the program has no output \"" + name + "\" [rows, vocabulary] to choose tokens from");
  return false;
}

/// Memory, the logits that tokens are chosen from, and what steps read, for every world.
bool SequenceRun::start(Diagnostics &diags) {
  const Manifest &manifest = parts.program.manifest();
  const RunShape &shape = parts.plan.shape;
  if (shape.steps && !manifest.steps) {
    diags.error("NNT1020", {}, "the program has no entry for generated tokens");
    return false;
  }
  tensors.buffers = parts.buffers.common();
  bool good = true;
  for (const auto &[name, extents] : parts.buffers.keeps())
    if (const SlotSpec *slot = findSlot(manifest, SlotKind::kept, name))
      good &= parts.space.make(tensors.kept[name], slot->dtype, extents, diags);

  const int64_t N = parts.generation.tokens;
  for (const WorldSpec &spec : parts.plan.worlds) {
    World &world = worlds.emplace_back();
    world.spec = &spec;
    world.prefix = parts.plan.prefix(spec.name);
    world.batch = &parts.inputs.at(spec.input);
    const int64_t B = world.batch->rows();
    world.hashes.resize(size_t(B));
    if (shape.images)
      good &= addImages(world, diags);
    world.ended = &ended.emplace(spec.name, std::vector<bool>(size_t(B), false)).first->second;
    auto saved = parts.loaded.find(spec.name);
    if (shape.memory) {
      world.state = SequenceState::make(manifest.slots, world.prefix, B, diags, parts.space);
      if (!world.state)
        return false;
      good &= saved == parts.loaded.end() || world.state->restore(saved->second, diags);
      world.state->publish(world.prefix, tensors.states);
    }
    for (int64_t b = 0; b < B; ++b) { // what was read in earlier runs; the pending token comes with the prompt
      if (saved != parts.loaded.end())
        for (int64_t i = 0; i < saved->second.lengths[size_t(b)]; ++i)
          world.hashes[size_t(b)].add(saved->second.tokens[size_t(b)][size_t(i)]);
      const int64_t *ids = world.batch->ids.as<int64_t>() + b * world.batch->seq();
      for (int64_t i = 0; i < world.batch->lengths.as<int64_t>()[b]; ++i)
        world.hashes[size_t(b)].add(ids[i]);
    }
    if (N == 0)
      continue;
    good &= addLogits(world.prefix + "next", B, diags);
    if (shape.steps) {
      good &= addLogits(world.prefix + "next@gen", B, diags);
      world.step.emplace(B, world.prefix, tensors.inputs);
    }
    world.tokens = Tensor::make(DType::i64, {B, N});
    std::fill_n(world.tokens.as<int64_t>(), B * N, parts.generation.pad);
    world.firstRow = rows.size();
    for (int64_t b = 0; b < B; ++b) {
      rows.push_back({spec.name, b, {}, false});
      rows.back().tokens.reserve(size_t(N));
    }
  }
  return good;
}

/// What the encoder reads of the world's input, and where it leaves the features; worlds that see the same share them.
bool SequenceRun::addImages(const World &world, Diagnostics &diags) {
  const ImageTokenRules &rules = *parts.images;
  setImageInputs(*world.batch, rules, parts.patchValues, parts.plan.declaresWorlds ? world.spec->input + "/" : "",
                 tensors.inputs);
  const std::string name = world.prefix + "image_features";
  const SlotSpec *slot = findSlot(parts.program.manifest(), SlotKind::kept, name);
  if (!slot)
    return true;
  int64_t features = 0;
  if (world.batch->images)
    for (const ImageGrid &grid : world.batch->images->grids)
      features += grid.tokens(rules.mergeSize);
  return parts.space.make(tensors.kept[name], slot->dtype, {features, slot->dims[1]}, diags);
}

bool SequenceRun::reserve(World &world, int64_t tokens, Diagnostics &diags) {
  if (!world.state)
    return true;
  const int64_t before = world.state->capacity();
  if (!world.state->reserve(tokens, diags))
    return false;
  if (world.state->capacity() != before)
    world.state->publish(world.prefix, tensors.states);
  return true;
}

RowPart SequenceRun::partOf(const World &world, int64_t row, const Call &call) const {
  const RowWindow window = rowWindow(parts.info, world.spec->input, row, call);
  return {loadedLength(world.spec->name, row) + window.past, window.past, window.length};
}

bool SequenceRun::setPrompt(const Call &call, Diagnostics &diags) {
  for (World &world : worlds) {
    std::vector<RowPart> list;
    int64_t total = 1;
    for (int64_t b = 0; b < world.batch->rows(); ++b) {
      list.push_back(partOf(world, b, call));
      total = std::max(total, list.back().past + list.back().length);
    }
    if (!reserve(world, total, diags))
      return false;
    // Worlds with one input set the same twice: they continue from equally many tokens.
    const bool fresh = call.first && parts.loaded.empty();
    setPromptInputs(*world.batch, list, fresh, parts.plan.declaresWorlds ? world.spec->input + "/" : "",
                    tensors.inputs);
  }
  return true;
}

void SequenceRun::noteFed(const Call &call) {
  for (World &world : worlds)
    for (int64_t b = 0; world.state && b < world.batch->rows(); ++b) {
      const RowPart done = partOf(world, b, call);
      for (int64_t i = done.begin; i < done.begin + done.length; ++i)
        world.state->fed(b, world.batch->ids.as<int64_t>()[b * world.batch->seq() + i], world.batch->position(b, i));
    }
}

bool SequenceRun::call(Program::Entry entry, const RunProgress &progress, Diagnostics &diags) {
  const bool step = entry == Program::Entry::step;
  if (!parts.table.point(tensors, step, diags))
    return false;
  const std::optional<RunReport> report = parts.program.run(parts.table.slots(), progress, diags, entry);
  if (!report || !parts.table.collect(step, diags))
    return false;
  spent.arenaPeak = std::max(spent.arenaPeak, report->arenaPeak);
  if (step && spent.steps > 0) // the first step grows the arena to what a step takes
    spent.stepAllocations += report->allocations;
  spent.stepsReplayed += report->replayed;
  if (!report->failures.empty())
    reportFailures(*report, *parts.plan.plan, diags);
  return report->failures.empty();
}

bool SequenceRun::prompt(const std::function<void(double)> &progress, Diagnostics &diags) {
  for (const Call &chunk : parts.buffers.promptCalls()) {
    const auto weight = double(chunk.end - chunk.begin);
    if (!setPrompt(chunk, diags))
      return false;
    parts.buffers.fill(chunk, ended, tensors.buffers);
    auto within = [&](int64_t done, int64_t total) {
      progress((finished + weight * (total > 0 ? double(done) / double(total) : 1)) / work);
    };
    if (chunk.first && parts.plan.shape.images && !call(Program::Entry::images, {}, diags))
      return false;
    if (!call(Program::Entry::prompt, within, diags))
      return false;
    finished += weight;
    assembly.takePrompt(chunk);
    noteFed(chunk);
  }
  assembly.finishPrompt();
  return true;
}

/// Chooses token `step` of every row that goes on; false when no row does after it.
bool SequenceRun::choose(int64_t step, const OnToken &onToken) {
  bool more = false;
  for (World &world : worlds) {
    const Tensor &logits = tensors.outputs.at(world.prefix + (step == 0 ? "next" : "next@gen"));
    for (int64_t b = 0; b < world.batch->rows(); ++b) {
      if ((*world.ended)[size_t(b)])
        continue;
      const int64_t id = sampler.choose(logits, b, world.hashes[size_t(b)]);
      const bool ends = parts.generation.ends(id);
      GeneratedRow &row = rows[world.firstRow + size_t(b)];
      row.tokens.push_back(id);
      row.ended = ends;
      world.tokens.as<int64_t>()[b * parts.generation.tokens + step] = id;
      world.hashes[size_t(b)].add(id);
      if (world.state)
        world.state->generated(b, id);
      (*world.ended)[size_t(b)] = ends;
      more |= !ends;
      if (onToken)
        onToken({world.spec->name, b, step, id, ends, rows.size()});
    }
  }
  return more;
}

bool SequenceRun::setStep(Diagnostics &diags) {
  for (World &world : worlds) {
    int64_t longest = 1;
    for (int64_t b = 0; b < world.batch->rows(); ++b) {
      const bool over = (*world.ended)[size_t(b)];
      longest = std::max(longest, world.state->length(b) + (over ? 0 : 1));
      world.step->set(b, world.state->tokens(b).back(), world.state->next(b), world.state->length(b), over);
    }
    world.step->finish();
    if (!reserve(world, longest, diags))
      return false;
  }
  return true;
}

bool SequenceRun::steps(const std::function<void(double)> &progress, const OnToken &onToken, Diagnostics &diags) {
  const int64_t N = parts.generation.tokens;
  const RunProgress within;
  Call next;
  next.phase = Phase::gen;
  for (int64_t k = 0; k < N; ++k) {
    if (!choose(k, onToken) || k + 1 == N)
      break;
    next.step = k;
    if (!setStep(diags))
      return false;
    parts.buffers.fill(next, ended, tensors.buffers);
    if (!call(Program::Entry::step, within, diags))
      return false;
    assembly.takeStep(k, ended);
    for (World &world : worlds)
      for (int64_t b = 0; b < world.batch->rows(); ++b)
        if (!(*world.ended)[size_t(b)])
          world.state->fedBack(b);
    ++spent.steps;
    finished += 1;
    progress(finished / work);
  }
  return true;
}

bool SequenceRun::run(const std::function<void(double)> &progress, const OnToken &onToken, Diagnostics &diags) {
  for (const Call &call : parts.buffers.promptCalls())
    work += double(call.end - call.begin);
  work += double(parts.info.steps());
  Stopwatch watch;
  if (!start(diags) || !prompt(progress, diags))
    return false;
  spent.promptMilliseconds = watch.lap();
  if (parts.generation.tokens > 0 && !steps(progress, onToken, diags))
    return false;
  spent.stepsMilliseconds = watch.lap();
  for (const World &world : worlds)
    if (world.state) {
      spent.growths += world.state->growths();
      for (const auto &[name, tensor] : world.state->parts())
        spent.stateBytes += tensor.bytes();
    }
  return true;
}

std::vector<std::pair<std::string, Tensor>> SequenceRun::outputs() const {
  std::vector<std::pair<std::string, Tensor>> list = assembly.results();
  for (const World &world : worlds)
    if (auto key = parts.plan.tokenKeys.find(world.spec->name); key != parts.plan.tokenKeys.end() && world.tokens.data)
      list.emplace_back(key->second, world.tokens);
  return list;
}

std::optional<SavedStates> SequenceRun::states(Diagnostics &diags) const {
  SavedStates states;
  for (const World &world : worlds) {
    std::optional<SavedSequence> saved;
    if (!world.state)
      continue;
    saved = world.state->snapshot(diags);
    if (!saved)
      return std::nullopt;
    states[world.spec->name] = std::move(*saved);
  }
  return states;
}

} // namespace nnterp
