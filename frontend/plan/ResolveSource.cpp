// Sources of edits: which point they read, whether they fit the region, and how region positions find source entries.
#include "frontend/plan/Resolve.h"

#include "frontend/plan/Selection.h"
#include "frontend/plan/Sources.h"

#include <algorithm>

namespace nnterp {

std::optional<SourceSpec> Resolver::source(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                           const Site &site) {
  switch (edit.source->kind) {
  case Source::Kind::value:
    return valueSource(edit, point, spec, site);
  case Source::Kind::place:
    return placeSource(edit, point, spec, site);
  case Source::Kind::number:
    break;
  }
  Tensor number = Tensor::make(DType::f32, {});
  number.as<float>()[0] = float(edit.source->number);
  if (!checkDirection(edit, number))
    return std::nullopt;
  SourceSpec result;
  result.buffer = bufferName(site, "src", false);
  addBuffer(site, result.buffer, DType::f32, {});
  return result;
}

/// A direction to project out must have a length. Directions lie along the last axis.
bool Resolver::checkDirection(const PlanEdit &edit, const Tensor &direction) {
  if (edit.op != Op::project_out)
    return true;
  int64_t width = direction.shape.empty() ? 1 : direction.shape.back(), total = elementCount(direction.shape);
  for (int64_t start = 0; start < total; start += width) {
    float squares = 0; // in float32, as the program computes it: what underflows has no direction either
    for (int64_t i = start; i < start + width; ++i)
      squares += direction.as<float>()[i] * direction.as<float>()[i];
    if (squares == 0) {
      diags.error(
          "NNT0716", edit.source->loc,
          "\"project_out\" of a zero direction" +
              (total > width ? ": vector " + std::to_string(start / width) + " of the source is zero" : std::string()));
      return false;
    }
  }
  return true;
}

/// Reports a source whose static extents cannot broadcast to those of the region. Axes count from the last.
bool Resolver::checkFit(const PlanEdit &edit, const PointRef &point, const Extents &source,
                        const std::vector<std::string> &sourceAxes) {
  Extents region = extentsOf(pointerTo(edit.select), *point.info);
  bool fits = source.size() <= region.size();
  for (size_t i = 0; fits && i < source.size(); ++i) {
    const std::optional<int64_t> &have = source[i], &want = region[region.size() - source.size() + i];
    fits = !have || !want || *have == 1 || *have == *want;
  }
  if (!fits)
    diags.error("NNT0707", edit.source->loc,
                "the source has shape " + shapeText(sourceAxes, source) + ", which does not fit the region " +
                    shapeText(axes(point.info->layout), region) + " of " + point.name());
  return fits;
}

// -- values --

std::optional<SourceSpec> Resolver::valueSource(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                                const Site &site) {
  SourceSpec result;
  result.kind = SourceSpec::Kind::value;
  result.shape = value(edit.source->value).tensor.shape;
  if (!checkFit(edit, point, Extents(result.shape.begin(), result.shape.end()), {}) ||
      (edit.op == Op::project_out && !checkDirection(edit, scaledValue(plan, *edit.source))))
    return std::nullopt;
  result.buffer = bufferName(site, "src", false);
  addBuffer(site, result.buffer, DType::f32, result.shape);
  // The entry for a position is the one at its place in the region: the edit's own tables serve, right-aligned rows
  // included.
  size_t skipped = spec.ordinals.size() - result.shape.size();
  for (size_t i = 0; i < result.shape.size(); ++i) {
    bool broadcast = result.shape[i] == 1;
    result.axes.push_back({broadcast ? AxisTable{} : spec.ordinals[skipped + i], broadcast});
  }
  return result;
}

// -- places --

std::optional<PointRef> Resolver::sourcePoint(const PlanEdit &edit, const PointRef &point) {
  const Source &source = *edit.source;
  if (source.at == "tokens" && result.shape.next) {
    diags.error("NNT0710", source.loc, "tokens can be tapped, but no edit can read them");
    return std::nullopt;
  }
  std::optional<std::vector<PointRef>> matched = std::vector<PointRef>{point};
  if (source.at)
    matched = expand(*source.at, source.loc, point.layer);
  if (!matched)
    return std::nullopt;
  if (matched->size() > 1) {
    diags.error("NNT0708", source.loc,
                "\"" + *source.at + "\" stands for " + std::to_string(matched->size()) +
                    " values, a source is one; [=] is the block that the edit matched");
    return std::nullopt;
  }
  return matched->front();
}

/// What an edit makes it cannot read, unless an earlier call made it.
bool Resolver::checkCycle(const PlanEdit &edit, const PointRef &point, const PointRef &from, const Site &site,
                          bool kept) {
  const Source &source = *edit.source;
  bool ownWorld = !source.world || *source.world == site.world->name;
  if (source.when == When::before || kept || !ownWorld || !(from == point))
    return true;
  diags
      .error("NNT0803", source.loc,
             "a cycle: this edit of " + point.name() +
                 " reads the value that it makes; \"when\": \"before\" reads it unedited")
      .notes.push_back(
          {edit.atLoc, point.name() + " after edits needs this source, which is " + point.name() + " after edits"});
  return false;
}

bool Resolver::checkPlaceSource(const PlanEdit &edit, const PointRef &point, const PointRef &from,
                                const Select &select) {
  const Source &source = *edit.source;
  bool sound = checkSelect(&select, from, true);
  if (source.at)
    sound &= checkOneToken(*source.at, &select, source.loc);
  if (point.info->layout == Layout::ExpertIndices &&
      (from.info->layout != Layout::ExpertIndices || source.scale != 1 || !source.mean.empty())) {
    diags.error("NNT0715", source.loc,
                point.name() +
                    " holds expert numbers; it takes other expert_indices as they are, without \"scale\" and \"mean\"");
    sound = false;
  }
  return sound;
}

std::optional<std::vector<int64_t>> Resolver::meanAxes(const Source &source, const PointRef &from) {
  std::vector<int64_t> result;
  const std::vector<std::string> &known = axes(from.info->layout);
  for (const std::string &axis : source.mean) {
    auto found = std::find(known.begin(), known.end(), axis);
    if (found == known.end()) {
      std::string list;
      for (const std::string &word : known)
        list += (list.empty() ? "" : ", ") + word;
      diags.error("NNT0701", source.loc,
                  from.name() + " (" + std::string(name(from.info->layout)) + ") has no axis \"" + axis +
                      "\" to average; its axes are " + list);
      return std::nullopt;
    }
    result.push_back(found - known.begin());
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// A State takes the states of one token; a call on a generated token has no other.
bool Resolver::checkStateToken(const PlanEdit &edit, const PointRef &from, const Select &select, Phase phase,
                               bool kept) {
  const AxisSelection *tokens = chosen(&select, "seq");
  if (phase == Phase::gen && !kept)
    return true;
  if (tokens && isOneIndex(*tokens, plan, Phase::prompt))
    return true;
  diags.error("NNT0705", edit.source->loc,
              "a State comes from the states of one token: select exactly one index of \"seq\" of " + from.name());
  return false;
}

/// The program that makes the edit, or else an earlier one, which keeps the source for it.
std::optional<Phase> Resolver::sourcePhase(const PlanEdit &edit, const PointRef &point, const PointRef &from,
                                           const Select &select, Phase phase) {
  Phases phases = phasesOf(&select, *from.info);
  for (Phase earlier : {Phase::gen, Phase::prompt, Phase::images})
    if (earlier <= phase && phases.has(earlier))
      return earlier;
  std::string why = phase == Phase::images
                        ? " is made before the text is read, and its source is " + from.name() + " of the text"
                        : " reaches the prompt, but its source selects generated tokens only";
  diags.error("NNT0719", edit.source->loc, "this edit of " + point.name() + why);
  return std::nullopt;
}

std::optional<SourceSpec> Resolver::placeSource(const PlanEdit &edit, const PointRef &point, const EditSpec &spec,
                                                const Site &site) {
  std::optional<PointRef> from = sourcePoint(edit, point);
  if (!from)
    return std::nullopt;
  const PointInfo &info = *from->info;
  Select select = placeSelect(edit, point.info->layout, info.layout);
  if (!checkPlaceSource(edit, point, *from, select))
    return std::nullopt;
  std::optional<Phase> phase = sourcePhase(edit, point, *from, select, site.phase);
  if (!phase)
    return std::nullopt;
  bool kept = *phase != site.phase;
  if (!checkCycle(edit, point, *from, site, kept))
    return std::nullopt;
  std::optional<std::vector<int64_t>> means = meanAxes(*edit.source, *from);
  if (!means)
    return std::nullopt;
  auto averaged = [&](size_t axis) { return std::find(means->begin(), means->end(), int64_t(axis)) != means->end(); };

  SourceSpec result;
  result.kind = kept ? SourceSpec::Kind::kept : SourceSpec::Kind::place;
  result.squeezeSeq = point.info->layout == Layout::State && info.layout == Layout::States;
  if (result.squeezeSeq && !averaged(1) && !checkStateToken(edit, *from, select, site.phase, kept))
    return std::nullopt;

  // Axes of the source as they meet the region, from the last; a state's one token is not among them.
  std::vector<size_t> sourceAxes;
  std::vector<std::string> names;
  Extents all = extentsOf(&select, info), extents;
  for (size_t i = 0; i < all.size(); ++i)
    if (!(result.squeezeSeq && i == 1)) {
      sourceAxes.push_back(i);
      names.push_back(axes(info.layout)[i]);
      extents.push_back(averaged(i) ? std::optional<int64_t>(1) : all[i]);
    }
  if (!checkFit(edit, point, extents, names))
    return std::nullopt;

  // A source is read where it is: by the program that has it, in its own world.
  Site there{site.prefix, *phase, edit.source->world ? &world(*edit.source->world) : site.world};
  result.place.phase = *phase;
  result.place.world = there.world->name;
  result.place.point = from->name();
  result.place.layout = info.layout;
  result.place.when = edit.source->when;
  result.place.tables = gatherTables(there, "src.", info.layout, &select);
  result.place.meanAxes = std::move(*means);
  if (kept)
    result.buffer = keep(site, spec.entry, info, result.place);
  result.scale = bufferName(site, "scale", false);
  addBuffer(site, result.scale, DType::f32, {});
  size_t skipped = spec.ordinals.size() - sourceAxes.size();
  for (size_t i = 0; i < sourceAxes.size(); ++i)
    result.axes.push_back(alignAxis(site, *point.info, skipped + i, spec, info, sourceAxes[i], result.place));
  return result;
}

std::string Resolver::keep(const Site &site, size_t entry, const PointInfo &from, const GatherSpec &gather) {
  std::string name = "e" + std::to_string(entry) + ".kept/" + result.prefix(gather.world) + gather.point;
  if (gather.phase == Phase::images && site.phase == Phase::gen)
    name += "@gen"; // the prompt has one of its own
  if (!bufferNames.insert(name).second)
    return name; // worlds that read one value share it
  Shape dims;
  for (size_t axis = 0; axis < from.shape.size(); ++axis) {
    bool averaged = std::find(gather.meanAxes.begin(), gather.meanAxes.end(), int64_t(axis)) != gather.meanAxes.end();
    bool whole = from.shape[axis].kind == Dim::fixed && gather.tables[axis].buffer.empty();
    dims.push_back(averaged ? 1 : whole ? from.shape[axis].size : BufferSpec::dynamic);
  }
  DType dtype = from.type == ValueType::int64 ? DType::i64 : DType::f32;
  result.buffers.push_back({name, dtype, std::move(dims), site.phase, true});
  result.keeps.push_back({name, gather.phase, entry, gather});
  return name;
}

/// How positions on one axis of the edited value find entries on the axis of the gathered source that meets it. The
/// choice is structure: it rests on which axes have tables, never on how many entries these hold.
SourceSpec::Axis Resolver::alignAxis(const Site &site, const PointInfo &info, size_t axis, const EditSpec &spec,
                                     const PointInfo &from, size_t fromAxis, const GatherSpec &place) {
  const AxisTable &own = spec.ordinals[axis];
  const Dim &have = from.shape[fromAxis], &want = info.shape[axis];
  if (std::find(place.meanAxes.begin(), place.meanAxes.end(), int64_t(fromAxis)) != place.meanAxes.end())
    return {{}, true};
  if (place.tables[fromAxis].buffer.empty()) {
    if (have.kind == Dim::fixed)
      return have.size == 1 ? SourceSpec::Axis{{}, true} : SourceSpec::Axis{own, false};
    // Other inputs may have another number of rows, or images of other sizes.
    bool sameInput = world(place.world).input == site.world->input;
    if (have.kind != Dim::seq && have.kind == want.kind && sameInput)
      return {own, false};
  }
  const std::string &name = axes(info.layout)[axis];
  bool ofInput = own.perRow || name == "batch" || isImageAxis(name) || isImageAxis(axes(from.layout)[fromAxis]);
  AxisTable table =
      addTable(site, "src.at." + name, ofInput, own.perRow, want.kind == Dim::fixed ? want.size : BufferSpec::dynamic);
  return {table, false};
}

} // namespace nnterp
