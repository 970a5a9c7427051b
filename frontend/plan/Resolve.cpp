// Plan against model: names become points, selections become tables, entries become specifications in the order of
// application.
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Conflicts.h"
#include "frontend/plan/Selection.h"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace nnterp {

Resolver::Resolver(std::shared_ptr<const Plan> plan, const PointTable &points, const ModelConfig &config,
                   const RunShape &shape, Diagnostics &diags)
    : plan(*plan), points(points), config(config), diags(diags) {
  for (const PlanWorld &world : plan->worlds)
    result.worlds.push_back({world.name, world.input});
  result.declaresWorlds = plan->declaresWorlds;
  result.shape = shape;
  result.plan = std::move(plan);
}

std::optional<ResolvedPlan> Resolver::resolve() {
  size_t before = diags.all().size();
  for (size_t entry = 0; entry < plan.edits.size(); ++entry)
    resolveEdit(entry);
  for (size_t entry = 0; entry < plan.taps.size(); ++entry)
    resolveTap(entry);
  nameTokens();
  sortEdits();
  checkConflictsInText(result, points, config, diags);
  bool failed = std::any_of(diags.all().begin() + std::ptrdiff_t(before), diags.all().end(),
                            [](const Diagnostic &d) { return d.severity == Severity::error; });
  return failed ? std::nullopt : std::optional(std::move(result));
}

std::optional<std::vector<PointRef>> Resolver::expand(const std::string &name, const SourceLoc &loc,
                                                      int64_t matchedBlock) {
  NameError error;
  std::optional<std::vector<PointRef>> found = points.expand(name, error, matchedBlock);
  if (!found) {
    Diagnostic &diagnostic = diags.error(error.code, loc, error.message);
    for (const std::string &note : error.notes)
      diagnostic.notes.push_back({SourceLoc(), note});
  } else if (found->front().info->presence == Presence::image && !result.shape.images) {
    diags.error("NNT0609", loc, "\"" + name + "\" exists only when the input has images, and this run has none");
    return std::nullopt;
  }
  return found;
}

const PlanValue &Resolver::value(const std::string &name) const { return plan.values.find(name)->second; }

const WorldSpec &Resolver::world(const std::string &name) const {
  auto found = std::find_if(result.worlds.begin(), result.worlds.end(),
                            [&](const WorldSpec &world) { return world.name == name; });
  assert(found != result.worlds.end() && "readPlan checks the names of worlds");
  return *found;
}

// -- edits --

void Resolver::resolveEdit(size_t entry) {
  const PlanEdit &edit = plan.edits[entry];
  const Select *select = pointerTo(edit.select);
  if (edit.at == "tokens" && result.shape.next) {
    diags.error("NNT0710", edit.atLoc, "tokens can be tapped but not edited");
    return;
  }
  std::optional<std::vector<PointRef>> matched = expand(edit.at, edit.atLoc);
  if (!matched)
    return;
  // A pattern matches one row of the table at several blocks, so what follows holds at all of them.
  const PointRef &first = matched->front();
  bool sound = checkOperation(edit, first);
  sound &= checkSelect(select, first, true);
  sound &= checkOneToken(edit.at, select, edit.atLoc);
  if (!sound || !checkFed(select, *first.info, edit.atLoc))
    return;
  Phases phases = phasesOf(select, *first.info);
  for (Phase phase : {Phase::images, Phase::prompt, Phase::gen})
    if (phases.has(phase) && (phase != Phase::gen || result.shape.steps))
      for (const std::string &name : edit.worlds)
        if (!resolveEditAt(entry, *matched, {"e" + std::to_string(entry), phase, &world(name)}))
          return; // what is wrong in one program or world would be said again of the next
}

/// The entry as one program applies it in one world, at every point it matches.
bool Resolver::resolveEditAt(size_t entry, const std::vector<PointRef> &matched, const Site &site) {
  const PlanEdit &edit = plan.edits[entry];
  const PointInfo &info = *matched.front().info;
  EditSpec spec;
  spec.entry = entry;
  spec.phase = site.phase;
  spec.world = site.world->name;
  spec.layout = info.layout;
  spec.op = edit.op;
  for (size_t i = 0; i < info.shape.size(); ++i)
    spec.ordinals.push_back(editTable(site, info, i, pointerTo(edit.select)));
  for (size_t i = 0; i < edit.numbers.size(); ++i) {
    spec.numbers.push_back(bufferName(site, "c" + std::to_string(i), false));
    addBuffer(site, spec.numbers.back(), DType::f32, {});
  }
  spec.hasMin = edit.hasMin;
  spec.hasMax = edit.hasMax;
  if (edit.op == Op::drop || edit.op == Op::drop_renorm || isRouting(edit.op)) {
    spec.experts = bufferName(site, "experts", false);
    spec.forceMax = edit.forceMax;
    addBuffer(site, spec.experts, DType::i64, {edit.op == Op::force ? config.expertsPerToken : config.numExperts});
  }
  for (const PointRef &point : matched) {
    spec.point = point.name();
    spec.layer = point.layer;
    if (edit.source) {
      std::optional<SourceSpec> read = source(edit, point, spec, site);
      if (!read)
        return false;
      spec.sources = {std::move(*read)};
    }
    result.edits.push_back(spec);
  }
  return true;
}

/// Where an edit stands among those of its point: absolute ones, additive ones (summed by id, else by position),
/// `reroute`, `force` (by id, else by position).
static auto applicationOrder(const PlanEdit &edit) {
  int stage = edit.op == Op::add ? 1 : edit.op == Op::reroute ? 2 : edit.op == Op::force ? 3 : 0;
  std::string id = stage == 0 ? "" : edit.id;
  return std::tuple(stage, id.empty(), id, edit.position);
}

void Resolver::sortEdits() {
  std::map<std::pair<const PointInfo *, int64_t>, size_t> forward;
  for (const std::vector<PointRef> &region : {points.imagePoints(), points.points()})
    for (const PointRef &point : region)
      forward.emplace(std::pair(point.info, point.layer), forward.size());
  auto place = [&](const std::string &name) {
    NameError unused;
    PointRef point = points.expand(name, unused)->front();
    return std::tuple(forward.at({point.info, point.layer}), point.segment);
  };
  std::map<std::string, size_t> worlds;
  for (const WorldSpec &world : result.worlds)
    worlds.emplace(world.name, worlds.size());
  std::map<std::string, decltype(place(""))> places;
  for (const EditSpec &edit : result.edits)
    if (!places.count(edit.point))
      places.emplace(edit.point, place(edit.point));
  auto order = [&](const EditSpec &edit) {
    return std::tuple(edit.phase, worlds[edit.world], places.at(edit.point), applicationOrder(plan.edits[edit.entry]));
  };
  std::stable_sort(result.edits.begin(), result.edits.end(),
                   [&](const EditSpec &a, const EditSpec &b) { return order(a) < order(b); });
}

std::optional<ResolvedPlan> resolvePlan(std::shared_ptr<const Plan> plan, const PointTable &points,
                                        const ModelConfig &config, const RunShape &shape, Diagnostics &diags) {
  return Resolver(std::move(plan), points, config, shape, diags).resolve();
}

} // namespace nnterp
