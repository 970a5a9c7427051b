// One run's buffers: numbers, values, expert lists and tables of every entry, checked against the real lengths of the
// input.
#include "frontend/plan/Buffers.h"

#include "frontend/plan/Conflicts.h"
#include "frontend/plan/Sources.h"

#include <algorithm>

namespace nnterp {

static Tensor filledWith(Shape shape, int64_t value) {
  Tensor tensor = Tensor::make(DType::i64, std::move(shape));
  std::fill_n(tensor.as<int64_t>(), elementCount(tensor.shape), value);
  return tensor;
}

Tensor ordinalTable(const Region &region, size_t axis, bool perRow) {
  const RegionAxis &own = region.axes[axis];
  if (axis == 0 && region.hasBatch) {
    Tensor table = filledWith({region.batchSize}, -1);
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      table.as<int64_t>()[region.rows[rank]] = int64_t(rank);
    return table;
  }
  Tensor table = filledWith(perRow ? Shape{region.batchSize, own.size} : Shape{own.size}, -1);
  for (size_t rank = 0; rank < (perRow ? region.rows.size() : 1); ++rank) {
    int64_t *entries = table.as<int64_t>() + (perRow ? region.rows[rank] * own.size : 0);
    for (int64_t place = 0, places = own.count(rank); place < places; ++place)
      entries[own.listed ? own.of(rank)[size_t(place)] : place] = own.extent - places + place;
  }
  return table;
}

Tensor gatherTable(const Region &region, size_t axis, bool perRow, int64_t extent) {
  const RegionAxis &own = region.axes[axis];
  if (axis == 0 && region.hasBatch) {
    Tensor table = filledWith({int64_t(region.rows.size())}, -1);
    std::copy(region.rows.begin(), region.rows.end(), table.as<int64_t>());
    return table;
  }
  Tensor table = filledWith(perRow ? Shape{int64_t(region.rows.size()), extent} : Shape{extent}, -1);
  for (size_t rank = 0; extent > 0 && rank < (perRow ? region.rows.size() : 1); ++rank) {
    const std::vector<int64_t> &positions = own.of(rank);
    std::copy(positions.begin(), positions.end(),
              table.as<int64_t>() + (perRow ? int64_t(rank) * extent : 0) + extent - int64_t(positions.size()));
  }
  return table;
}

namespace {

class BufferFiller {
public:
  BufferFiller(const ResolvedPlan &resolved, const PointTable &points, const ModelConfig &config,
               const BatchInfo &batch, Diagnostics &diags)
      : resolved(resolved), plan(*resolved.plan), points(points), config(config), batch(batch), diags(diags) {}

  std::optional<std::map<std::string, Tensor>> fill() {
    size_t before = diags.all().size();
    // Blocks that one entry matches share its buffers, so each entry is filled once.
    std::map<size_t, int64_t> blocks;
    for (const EditSpec &edit : resolved.edits)
      if (blocks[edit.entry]++ == 0)
        fillEdit(edit);
    std::set<size_t> taps;
    for (const TapSpec &tap : resolved.taps)
      if (taps.insert(tap.entry).second)
        fillTap(tap);
    auto failed = [&] {
      return std::any_of(diags.all().begin() + std::ptrdiff_t(before), diags.all().end(),
                         [](const Diagnostic &d) { return d.severity == Severity::error; });
    };
    if (failed())
      return std::nullopt;
    checkConflictsInRun(resolved, regions, config, diags);
    if (failed())
      return std::nullopt;
    for (const EditSpec &edit : resolved.edits)
      if (isRouting(edit.op) && blocks.count(edit.entry))
        noteTokens(edit, blocks.extract(edit.entry).mapped());
    return std::move(buffers);
  }

private:
  PointRef pointOf(const std::string &name) const {
    NameError error;
    return points.expand(name, error)->front(); // resolvePlan got this name from the same table
  }

  void number(const std::string &name, double value) {
    if (name.empty())
      return;
    Tensor &tensor = buffers[name] = Tensor::make(DType::f32, {});
    tensor.as<float>()[0] = float(value);
  }

  void fillEdit(const EditSpec &spec) {
    const PlanEdit &edit = plan.edits[spec.entry];
    std::optional<Region> region = readRegion(pointerTo(edit.select), pointOf(spec.point), plan, batch, diags);
    if (!region)
      return;
    if (!region->live()) {
      diags.error("NNT0703", edit.select ? edit.select->loc : edit.loc,
                  "this edit of " + spec.point + " selects nothing in any row of this run");
      return;
    }
    for (size_t axis = 0; axis < spec.ordinals.size(); ++axis)
      if (const AxisTable &table = spec.ordinals[axis]; !table.buffer.empty())
        buffers[table.buffer] = ordinalTable(*region, axis, table.perRow);
    for (size_t i = 0; i < spec.numbers.size(); ++i)
      number(spec.numbers[i], edit.numbers[i]);
    if (!spec.experts.empty())
      buffers[spec.experts] = experts(edit);
    if (!spec.sources.empty())
      fillSource(edit, spec, *region);
    regions.emplace(spec.entry, std::move(*region));
  }

  Tensor experts(const PlanEdit &edit) const {
    if (edit.op == Op::force) {
      Tensor listed = filledWith({config.expertsPerToken}, -1);
      std::copy(edit.experts.begin(), edit.experts.end(), listed.as<int64_t>());
      return listed;
    }
    Tensor member = Tensor::make(DType::i64, {config.numExperts});
    for (int64_t expert : edit.experts)
      member.as<int64_t>()[expert] = 1;
    return member;
  }

  void fillSource(const PlanEdit &edit, const EditSpec &spec, const Region &region) {
    const SourceSpec &source = spec.sources[0];
    number(source.scale, edit.source->scale);
    if (source.kind == SourceSpec::Kind::number)
      return number(source.buffer, edit.source->number);
    if (source.kind == SourceSpec::Kind::value) {
      buffers[source.buffer] = scaledValue(plan, *edit.source);
      return SourceFiller(edit, spec, region, nullptr, diags).fill(buffers);
    }
    Select select = placeSelect(edit, source.place.layout);
    std::optional<Region> from = readRegion(&select, pointOf(source.place.point), plan, batch, diags);
    if (!from)
      return;
    for (size_t axis = 0; axis < source.place.tables.size(); ++axis)
      if (const AxisTable &table = source.place.tables[axis]; !table.buffer.empty())
        buffers[table.buffer] = gatherTable(*from, axis, table.perRow, from->axes[axis].extent);
    SourceFiller(edit, spec, region, &*from, diags).fill(buffers);
  }

  void fillTap(const TapSpec &spec) {
    const PlanTap &tap = plan.taps[spec.entry];
    const Select *select = pointerTo(tap.select);
    std::optional<Region> region = readRegion(select, pointOf(spec.gather.point), plan, batch, diags);
    if (!region)
      return;
    bool live = region->live();
    if (!live)
      diags.note(tap.loc, "this tap of " + spec.gather.point + " selects nothing in any row and is not written");
    for (size_t axis = 0; axis < spec.gather.tables.size(); ++axis) {
      const AxisTable &table = spec.gather.tables[axis];
      if (table.buffer.empty())
        continue;
      const RegionAxis &own = region->axes[axis];
      bool whole = own.token && !chosen(select, axes(spec.gather.layout)[axis]);
      int64_t extent = whole ? batch.seq : own.extent; // a whole axis of tokens is as long as the padded input
      buffers[table.buffer] = gatherTable(*region, axis, table.perRow, own.token && !live ? 0 : extent);
    }
  }

  void noteTokens(const EditSpec &spec, int64_t blocks) {
    int64_t tokens = 0;
    const Region &region = regions.at(spec.entry);
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      tokens += region.axes[1].count(rank);
    const PlanEdit &edit = plan.edits[spec.entry];
    diags.note(edit.loc, "\"" + std::string(name(edit.op)) + "\" touches " + count(tokens, "token") +
                             (blocks == 1 ? " at " + spec.point : " in each of " + count(blocks, "block")));
  }

  const ResolvedPlan &resolved;
  const Plan &plan;
  const PointTable &points;
  const ModelConfig &config;
  const BatchInfo &batch;
  Diagnostics &diags;
  std::map<std::string, Tensor> buffers;
  std::map<size_t, Region> regions; ///< by entry, of edits
};

} // namespace

std::optional<std::map<std::string, Tensor>> fillBuffers(const ResolvedPlan &plan, const PointTable &points,
                                                         const ModelConfig &config, const BatchInfo &batch,
                                                         Diagnostics &diags) {
  return BufferFiller(plan, points, config, batch, diags).fill();
}

} // namespace nnterp
