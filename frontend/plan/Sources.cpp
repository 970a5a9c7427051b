// What sources of edits select and hold.
#include "frontend/plan/Sources.h"

#include <algorithm>
#include <cassert>

namespace nnterp {

Select placeSelect(const PlanEdit &edit, Layout sourceLayout) {
  const std::vector<std::string> &known = axes(sourceLayout);
  Select result;
  result.loc = edit.source->loc;
  if (edit.select)
    for (const auto &[axis, selection] : edit.select->axes)
      if (std::find(known.begin(), known.end(), axis) != known.end())
        result.axes[axis] = selection;
  if (edit.source->select)
    for (const auto &[axis, selection] : edit.source->select->axes)
      result.axes[axis] = selection;
  return result;
}

Tensor scaledValue(const Plan &plan, const Source &source) {
  auto found = plan.values.find(source.value);
  assert(found != plan.values.end() && "readPlan checks the names of values");
  Tensor scaled = Tensor::make(DType::f32, found->second.tensor.shape);
  Tensor plain = found->second.tensor.to(DType::f32);
  float scale = float(source.scale);
  for (int64_t i = 0, n = elementCount(scaled.shape); i < n; ++i)
    scaled.as<float>()[i] = plain.as<float>()[i] * scale;
  return scaled;
}

std::string shapeText(const std::vector<std::string> &axes, const std::vector<std::optional<int64_t>> &extents) {
  std::string text;
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "") + (extents[i] ? std::to_string(*extents[i]) : axes[i]);
  return "[" + text + "]";
}

std::string label(const PlanEdit &edit) {
  return edit.id.empty() ? "edits[" + std::to_string(edit.position) + "]" : "\"" + edit.id + "\"";
}

} // namespace nnterp
