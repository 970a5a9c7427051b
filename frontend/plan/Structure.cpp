// The text of a plan's structure, on which the cache of compiled programs rests, and shapes of results.
#include "frontend/plan/Resolved.h"

#include <algorithm>

namespace nnterp {

namespace {

std::string text(const AxisTable &table) {
  if (table.buffer.empty())
    return "-";
  return table.buffer + (table.perRow ? "/row" : "");
}

std::string text(const std::vector<AxisTable> &tables) {
  std::string result = "[";
  for (const AxisTable &table : tables)
    result += (result.size() > 1 ? " " : "") + text(table);
  return result + "]";
}

std::string text(const GatherSpec &gather) {
  std::string result = gather.point + " " + std::string(name(gather.layout)) +
                       (gather.when == When::before ? " before " : " after ") + text(gather.tables);
  for (int64_t axis : gather.meanAxes)
    result += " mean " + std::to_string(axis);
  return result;
}

std::string text(const SourceSpec &source) {
  std::string result;
  switch (source.kind) {
  case SourceSpec::Kind::number:
    return "number " + source.buffer;
  case SourceSpec::Kind::value:
    result = "value " + source.buffer + " " + toString(source.shape);
    break;
  case SourceSpec::Kind::place:
    result = "place {" + text(source.place) + "} scale " + source.scale + (source.squeezeSeq ? " squeeze" : "");
    break;
  }
  result += " axes [";
  for (size_t i = 0; i < source.axes.size(); ++i)
    result += (i ? " " : "") + (source.axes[i].broadcast ? "0" : text(source.axes[i].table));
  return result + "]";
}

std::string text(const EditSpec &edit) {
  std::string result = "edit " + edit.point + " " + std::string(name(edit.layout)) + " " + std::string(name(edit.op)) +
                       " " + text(edit.ordinals);
  for (const SourceSpec &source : edit.sources)
    result += " from " + text(source);
  for (const std::string &number : edit.numbers)
    result += " " + number;
  if (edit.op == Op::clamp)
    result += std::string(edit.hasMin ? " min" : "") + (edit.hasMax ? " max" : "");
  if (!edit.experts.empty())
    result += " " + edit.experts + (edit.forceMax ? " max" : "");
  return result;
}

std::string text(const BufferSpec &buffer) {
  std::string result = "buffer " + buffer.name + " " + std::string(name(buffer.dtype)) + " [";
  for (size_t i = 0; i < buffer.dims.size(); ++i)
    result += (i ? ", " : "") + (buffer.dims[i] == BufferSpec::dynamic ? "?" : std::to_string(buffer.dims[i]));
  return result + "]";
}

} // namespace

std::string ResolvedPlan::structure() const {
  std::string result;
  for (const EditSpec &edit : edits)
    result += text(edit) + "\n";
  for (const TapSpec &tap : taps)
    result += "tap \"" + tap.key + "\" " + text(tap.gather) + "\n";
  for (const BufferSpec &buffer : buffers)
    result += text(buffer) + "\n";
  return result;
}

Shape tapShape(const TapSpec &tap, const PointTable &points, const std::map<std::string, Tensor> &buffers,
               const BatchInfo &batch) {
  NameError error;
  std::optional<std::vector<PointRef>> point = points.expand(tap.gather.point, error);
  Shape shape;
  for (size_t i = 0; point && i < tap.gather.tables.size(); ++i) {
    const AxisTable &table = tap.gather.tables[i];
    const Dim &dim = point->front().info->shape[i];
    if (auto found = buffers.find(table.buffer); found != buffers.end())
      shape.push_back(found->second.shape[table.perRow ? 1 : 0]);
    else
      shape.push_back(dim.kind == Dim::batch ? int64_t(batch.lengths.size())
                      : dim.kind == Dim::seq ? batch.seq
                                             : dim.size);
  }
  return shape;
}

} // namespace nnterp
