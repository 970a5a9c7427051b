// Plan against model: names become points, selections become tables, entries become specifications in the order of
// application.
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Conflicts.h"
#include "frontend/plan/Sources.h"

#include <algorithm>
#include <tuple>

namespace nnterp {

Resolver::Resolver(std::shared_ptr<const Plan> plan, const PointTable &points, const ModelConfig &config,
                   Diagnostics &diags)
    : plan(*plan), points(points), config(config), diags(diags) {
  result.plan = std::move(plan);
}

std::optional<ResolvedPlan> Resolver::resolve() {
  size_t before = diags.all().size();
  for (size_t entry = 0; entry < plan.edits.size(); ++entry)
    resolveEdit(entry);
  for (size_t entry = 0; entry < plan.taps.size(); ++entry)
    resolveTap(entry);
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
  }
  return found;
}

const PlanValue &Resolver::value(const std::string &name) const { return plan.values.find(name)->second; }

// -- edits --

void Resolver::resolveEdit(size_t entry) {
  const PlanEdit &edit = plan.edits[entry];
  const Select *select = pointerTo(edit.select);
  std::optional<std::vector<PointRef>> matched = expand(edit.at, edit.atLoc);
  if (!matched)
    return;
  // A pattern matches one row of the table at several blocks, so what follows holds at all of them.
  const PointRef &first = matched->front();
  const PointInfo &info = *first.info;
  bool sound = checkOperation(edit, first);
  sound &= checkSelect(select, first, true);
  sound &= checkOneToken(edit.at, select, edit.atLoc);
  if (!sound)
    return;

  EditSpec spec;
  std::string prefix = "e" + std::to_string(entry);
  spec.entry = entry;
  spec.layout = info.layout;
  spec.op = edit.op;
  const std::vector<std::string> &names = axes(info.layout);
  for (size_t i = 0; i < names.size(); ++i)
    spec.ordinals.push_back(editTable(prefix + "." + names[i], info.shape[i], names[i], chosen(select, names[i])));
  if (edit.source) {
    std::optional<SourceSpec> read = source(edit, first, spec, prefix);
    if (!read)
      return;
    spec.sources.push_back(std::move(*read));
  }
  for (size_t i = 0; i < edit.numbers.size(); ++i) {
    spec.numbers.push_back(prefix + ".c" + std::to_string(i));
    addBuffer(spec.numbers.back(), DType::f32, {});
  }
  spec.hasMin = edit.hasMin;
  spec.hasMax = edit.hasMax;
  if (edit.op == Op::drop || edit.op == Op::drop_renorm || isRouting(edit.op)) {
    spec.experts = prefix + ".experts";
    spec.forceMax = edit.forceMax;
    addBuffer(spec.experts, DType::i64, {edit.op == Op::force ? config.expertsPerToken : config.numExperts});
  }

  for (const PointRef &point : *matched) {
    spec.point = point.name();
    spec.layer = point.layer;
    if (edit.source && edit.source->kind == Source::Kind::place) {
      std::optional<PointRef> from = sourcePoint(edit, point);
      if (!from)
        return;
      spec.sources[0].place.point = from->name();
    }
    result.edits.push_back(spec);
  }
}

/// Where an edit stands among those of its point: absolute ones, additive ones (summed by id, else by position),
/// `reroute`, `force` (by id, else by position).
static auto applicationOrder(const PlanEdit &edit) {
  int stage = edit.op == Op::add ? 1 : edit.op == Op::reroute ? 2 : edit.op == Op::force ? 3 : 0;
  std::string id = stage == 0 ? "" : edit.id;
  return std::tuple(stage, id.empty(), id, edit.position);
}

void Resolver::sortEdits() {
  std::map<std::string, size_t> forward;
  for (const PointRef &point : points.points())
    forward.emplace(point.name(), forward.size());
  std::stable_sort(result.edits.begin(), result.edits.end(), [&](const EditSpec &a, const EditSpec &b) {
    if (a.point != b.point)
      return forward[a.point] < forward[b.point];
    return applicationOrder(plan.edits[a.entry]) < applicationOrder(plan.edits[b.entry]);
  });
}

// -- taps --

void Resolver::resolveTap(size_t entry) {
  const PlanTap &tap = plan.taps[entry];
  const Select *select = pointerTo(tap.select);
  std::optional<std::vector<PointRef>> matched = expand(tap.at, tap.atLoc);
  if (!matched)
    return;
  const PointRef &first = matched->front();
  bool sound = checkSelect(select, first, false);
  sound &= checkOneToken(tap.at, select, tap.atLoc);
  if (!sound)
    return;

  TapSpec spec;
  spec.entry = entry;
  spec.gather.layout = first.info->layout;
  spec.gather.when = tap.when;
  bool isNew = false;
  std::vector<AxisTable> tables; // named after the entry; their buffers are added once one of its keys is new
  for (const PointRef &point : *matched) {
    spec.gather.point = point.name();
    spec.key = tap.as.empty() ? point.name() : matched->size() == 1 ? tap.as : tap.as + "/" + point.name();
    if (tap.when == When::before)
      spec.key += "@before";
    auto [known, added] = tapKeys.try_emplace(spec.key, result.taps.size());
    if (!added) {
      const TapSpec &other = result.taps[known->second];
      const PlanTap &otherTap = plan.taps[other.entry];
      if (other.gather.point == spec.gather.point && other.gather.when == tap.when &&
          sameSelection(pointerTo(otherTap.select), select))
        continue; // the same tap again
      diags
          .error("NNT0804", tap.loc,
                 "two different taps write the key \"" + spec.key + "\"; name one of them with \"as\"")
          .notes.push_back({otherTap.loc, "the other tap"});
      continue;
    }
    if (!isNew)
      tables = gatherTables("t" + std::to_string(entry), first.info->layout, select);
    isNew = true;
    spec.gather.tables = tables;
    result.taps.push_back(spec);
  }
}

// -- tables --

void Resolver::addBuffer(const std::string &name, DType dtype, Shape dims) {
  if (bufferNames.insert(name).second)
    result.buffers.push_back({name, dtype, std::move(dims)});
}

/// The table of one axis of an edited value, along the whole axis; none where everything is meant and rows do not
/// differ.
AxisTable Resolver::editTable(const std::string &name, const Dim &dim, const std::string &axis,
                              const AxisSelection *selection) {
  if (!selection && !isTokenAxis(axis))
    return {};
  AxisTable table{name, isTokenAxis(axis) || (selection && !selection->rowValue.empty())};
  int64_t extent = dim.kind == Dim::fixed ? dim.size : BufferSpec::dynamic;
  addBuffer(name, DType::i64, table.perRow ? Shape{BufferSpec::dynamic, extent} : Shape{extent});
  return table;
}

/// The table of one axis of a gathered value; its extent depends on the numbers of the plan, so it is dynamic.
AxisTable Resolver::gatherTable(const std::string &name, const std::string &axis, const AxisSelection *selection) {
  if (!selection && !isTokenAxis(axis))
    return {};
  AxisTable table{name, isTokenAxis(axis) || (selection && !selection->rowValue.empty())};
  addBuffer(name, DType::i64,
            table.perRow ? Shape{BufferSpec::dynamic, BufferSpec::dynamic} : Shape{BufferSpec::dynamic});
  return table;
}

std::vector<AxisTable> Resolver::gatherTables(const std::string &prefix, Layout layout, const Select *select) {
  std::vector<AxisTable> tables;
  for (const std::string &axis : axes(layout))
    tables.push_back(gatherTable(prefix + "." + axis, axis, chosen(select, axis)));
  return tables;
}

std::optional<ResolvedPlan> resolvePlan(std::shared_ptr<const Plan> plan, const PointTable &points,
                                        const ModelConfig &config, Diagnostics &diags) {
  return Resolver(std::move(plan), points, config, diags).resolve();
}

} // namespace nnterp
