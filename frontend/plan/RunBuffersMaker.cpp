// Makes one run's buffers: numbers, values, expert lists and tables of every entry, checked against the real lengths of
// the inputs before anything is computed.
#include "frontend/plan/RunBuffersMaker.h"

#include "frontend/plan/RunBuffersTaps.h"
#include "frontend/plan/Sources.h"

#include <algorithm>
#include <cassert>

namespace nnterp {

RunBuffers::Maker::Maker(const ResolvedPlan &resolved, const PointTable &points, const ModelConfig &config,
                         const RunInfo &run, Diagnostics &diags)
    : resolved(resolved), plan(*resolved.plan), points(points), config(config), run(run), diags(diags),
      before(diags.all().size()), state(*(result.state = std::make_shared<State>())) {
  state.plan = resolved.plan;
  state.columns = promptColumns(run);
}

bool RunBuffers::Maker::failed() const {
  return std::any_of(diags.all().begin() + std::ptrdiff_t(before), diags.all().end(),
                     [](const Diagnostic &d) { return d.severity == Severity::error; });
}

std::optional<RunBuffers> RunBuffers::Maker::make() {
  if (!readInputs())
    return std::nullopt;
  std::set<std::tuple<size_t, std::string, Phase>> edits;
  for (const EditSpec &edit : resolved.edits)
    if (edits.emplace(edit.entry, edit.world, edit.phase).second)
      makeEdit(edit);
  for (const TapSpec &tap : resolved.taps)
    makeTap(tap);
  if (failed())
    return std::nullopt;
  checkConflictsInRun(resolved, state.edits, config, diags);
  if (failed())
    return std::nullopt;
  makeCalls();
  noteTokens();
  noteEmptyTaps();
  return std::move(result);
}

// -- inputs --

const WorldSpec &RunBuffers::Maker::world(const std::string &name) const {
  return *std::find_if(resolved.worlds.begin(), resolved.worlds.end(),
                       [&](const WorldSpec &world) { return world.name == name; });
}

bool RunBuffers::Maker::readInputs() {
  std::map<std::string, const WorldSpec *> readers; // the first world on each input
  for (size_t i = 0; i < resolved.worlds.size(); ++i) {
    const WorldSpec &world = resolved.worlds[i];
    const BatchInfo &batch = run.inputs.at(world.input);
    std::vector<int64_t> loaded(batch.lengths.size(), 0);
    if (auto state = run.loaded.find(world.name); state != run.loaded.end())
      loaded = state->second;
    loaded.resize(batch.lengths.size(), 0);
    auto [input, added] = state.inputs.try_emplace(world.input);
    if (added) {
      std::string label = resolved.declaresWorlds ? " of input \"" + world.input + "\"" : "";
      input->second = {label,
                       batch.lengths,
                       loaded,
                       batch.seq,
                       resolved.shape.steps ? run.steps() : 0,
                       batch.grids,
                       config.vision ? config.vision->spatialMergeSize : 1};
      readers[world.input] = &world;
    }
    state.rows[world.name].start(input->second);
    const std::vector<int64_t> &others = input->second.loaded;
    for (size_t row = 0; row < loaded.size(); ++row)
      if (loaded[row] != others[row]) {
        diags.error("NNT0720", plan.worlds[i].loc,
                    "row " + std::to_string(row) + ": world \"" + world.name + "\" starts from a state of " +
                        count(loaded[row], "token") + ", world \"" + readers[world.input]->name +
                        "\", on the same input, from one of " + std::to_string(others[row]));
        return false;
      }
  }
  return true;
}

PointRef RunBuffers::Maker::pointOf(const std::string &name) const {
  NameError error;
  return points.expand(name, error)->front(); // resolvePlan got this name from the same table
}

/// Values of images exist for inputs that have some, one image's attention for as many as there are.
bool RunBuffers::Maker::checkImages(const PointRef &point, const InputRows &input, const SourceLoc &loc) {
  int64_t images = int64_t(input.grids.size());
  if (point.info->presence != Presence::image || (images > 0 && point.segment < images))
    return true;
  if (images == 0)
    diags.error("NNT0609", loc,
                "\"" + point.name() + "\" exists only when the input has images, and " + input.whole() + " has none");
  else
    diags.error("NNT0702", loc,
                point.name() + ": there is no image " + std::to_string(point.segment) + ": " + input.whole() + " has " +
                    count(images, "image"));
  return false;
}

const Region *RunBuffers::Maker::region(EditRegions &known, size_t entry, const Select *select,
                                        const std::string &point, const std::string &input, const SourceLoc &loc) {
  auto found = known.find({entry, input});
  if (found == known.end()) {
    const PointRef ref = pointOf(point);
    if (!checkImages(ref, state.inputs.at(input), loc))
      return nullptr;
    std::optional<Region> read = readRegion(select, ref, plan, state.inputs.at(input), diags);
    if (!read)
      return nullptr;
    found = known.emplace(std::pair(entry, input), std::move(*read)).first;
  }
  return &found->second;
}

RegionInCalls RunBuffers::Maker::calls(const Region &region, const std::string &world, Phase phase) const {
  return {&region, &state.rows.at(world), phase};
}

// -- edits --

void RunBuffers::Maker::makeEdit(const EditSpec &spec) {
  const PlanEdit &edit = plan.edits[spec.entry];
  if (failedEdits.count(spec.entry))
    return; // said already
  size_t errors = diags.all().size();
  const Region *found =
      region(state.edits, spec.entry, pointerTo(edit.select), spec.point, world(spec.world).input, edit.atLoc);
  if (found && !found->live(Phase::prompt) && !found->live(Phase::gen))
    diags.error("NNT0703", edit.select ? edit.select->loc : edit.loc,
                "this edit of " + spec.point + " selects nothing in any row of this run");
  if (diags.all().size() == errors) {
    for (size_t i = 0; i < spec.numbers.size(); ++i)
      number(spec.numbers[i], edit.numbers[i]);
    if (!spec.experts.empty())
      result.shared[spec.experts] = experts(edit);
    if (spec.sources.empty())
      makeOrdinals(spec, *found, nullptr);
    else
      makeSource(spec, *found);
  }
  if (diags.all().size() != errors)
    failedEdits.insert(spec.entry);
}

void RunBuffers::Maker::number(const std::string &name, double value) {
  if (name.empty())
    return;
  Tensor &tensor = result.shared[name] = Tensor::make(DType::f32, {});
  tensor.as<float>()[0] = float(value);
}

Tensor RunBuffers::Maker::experts(const PlanEdit &edit) const {
  if (edit.op == Op::force) {
    Tensor listed = Tensor::make(DType::i64, {config.expertsPerToken});
    std::fill_n(listed.as<int64_t>(), config.expertsPerToken, -1);
    std::copy(edit.experts.begin(), edit.experts.end(), listed.as<int64_t>());
    return listed;
  }
  Tensor member = Tensor::make(DType::i64, {config.numExperts});
  for (int64_t expert : edit.experts)
    member.as<int64_t>()[expert] = 1;
  return member;
}

/// `pair`: a source that may end before the region does, in another world.
void RunBuffers::Maker::makeOrdinals(const EditSpec &spec, const Region &region, const SourcePair *pair) {
  for (size_t axis = 0; axis < spec.ordinals.size(); ++axis) {
    const AxisTable &table = spec.ordinals[axis];
    if (table.buffer.empty())
      continue;
    if (isFixed(region, axis)) {
      result.shared[table.buffer] = fixedOrdinals(region, axis, table.perRow);
      continue;
    }
    if (!made.insert(table.buffer).second)
      continue; // worlds on one input share it
    std::function<bool(size_t)> leftOut;
    if (pair && region.axes[axis].kind != RegionAxis::keys)
      leftOut = [&state = state, pair, theirs = &state.rows.at(spec.sources[0].place.world)](size_t rank) {
        const Region &from = pair->gathered();
        std::optional<size_t> row = pair->rowFor(rank);
        auto ended = [&](size_t at) { return theirs->ended(from.rows[at]); };
        bool gone = row ? ended(*row) : from.hasBatch;
        for (size_t at = 0; !row && at < from.rows.size(); ++at)
          gone &= ended(at); // of an average something is left as long as one row goes on
        state.skipped += gone;
        return gone;
      };
    state.tables(spec.phase)
        .push_back(ordinals(table.buffer, calls(region, spec.world, spec.phase), axis, std::move(leftOut)));
  }
}

// -- sources --

void RunBuffers::Maker::makeSource(const EditSpec &spec, const Region &region) {
  const PlanEdit &edit = plan.edits[spec.entry];
  const SourceSpec &source = spec.sources[0];
  number(source.scale, edit.source->scale);
  if (source.kind == SourceSpec::Kind::number) {
    number(source.buffer, edit.source->number);
    return makeOrdinals(spec, region, nullptr);
  }
  if (source.kind == SourceSpec::Kind::value) {
    result.shared[source.buffer] = scaledValue(plan, *edit.source);
    if (SourcePair(edit, spec, region, nullptr).check(diags))
      makeOrdinals(spec, region, nullptr);
    return;
  }
  Select select = placeSelect(edit, spec.layout, source.place.layout);
  const Region *from = this->region(state.sources, spec.entry, &select, source.place.point,
                                    world(source.place.world).input, edit.source->loc);
  if (!from)
    return;
  SourcePair &pair = state.pairs.emplace_back(edit, spec, region, from);
  readers[&pair] = &*edit.source;
  if (!pair.check(diags))
    return;
  bool mayEnd = spec.phase == Phase::gen && source.kind == SourceSpec::Kind::place && source.place.world != spec.world;
  makeOrdinals(spec, region, mayEnd ? &pair : nullptr);
  makeGather(source.place, *from, pair.gatheredPhase(), from->shape(pair.gatheredPhase()));
  makeEntries(spec, pair);
  if (source.kind == SourceSpec::Kind::kept)
    makeKept(source, *from);
}

void RunBuffers::Maker::makeGather(const GatherSpec &spec, const Region &region, Phase phase, const Shape &extents) {
  for (size_t axis = 0; axis < spec.tables.size(); ++axis) {
    const AxisTable &table = spec.tables[axis];
    if (table.buffer.empty())
      continue;
    if (isFixed(region, axis))
      result.shared[table.buffer] = fixedGather(region, axis, table.perRow, extents[axis]);
    else if (made.insert(table.buffer).second)
      state.tables(phase).push_back(gather(table.buffer, calls(region, spec.world, phase), axis, extents[axis]));
  }
}

void RunBuffers::Maker::makeEntries(const EditSpec &spec, const SourcePair &pair) {
  const SourceSpec &source = spec.sources[0];
  for (size_t i = 0; i < source.axes.size(); ++i) {
    const AxisTable &table = source.axes[i].table;
    size_t axis = pair.regionAxis(i);
    if (table.buffer.empty() || table.buffer == spec.ordinals[axis].buffer)
      continue; // identity, or the edit's own table
    const RegionAxis &own = pair.edited().axes[axis];
    if (own.kind == RegionAxis::entries)
      result.shared[table.buffer] = fixedEntries(pair, i, table.perRow);
    else if (made.insert(table.buffer).second)
      state.tables(spec.phase)
          .push_back(entries(table.buffer, pair, i, calls(pair.edited(), spec.world, spec.phase),
                             state.rows.at(source.place.world)));
  }
}

void RunBuffers::Maker::makeKept(const SourceSpec &source, const Region &from) {
  Shape shape = from.shape(source.place.phase);
  for (int64_t axis : source.place.meanAxes)
    shape[size_t(axis)] = 1;
  result.kept[source.buffer] = std::move(shape);
}

// -- taps --

void RunBuffers::Maker::makeTap(const TapSpec &spec) {
  const PlanTap &tap = plan.taps[spec.entry];
  if (failedTaps.count(spec.entry))
    return;
  PointRef point = pointOf(spec.gather.point);
  const Region *found = region(state.taps, spec.entry, pointerTo(tap.select), spec.gather.point,
                               world(spec.gather.world).input, tap.atLoc);
  if (!found) {
    failedTaps.insert(spec.entry);
    return;
  }
  TapLayout layout = layoutOf(spec, tap, *point.info, *found);
  makeGather(spec.gather, *found, spec.phase, layout.callShape());
  result.layouts.push_back(std::move(layout));
}

} // namespace nnterp
