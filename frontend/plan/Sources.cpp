// What sources of edits select and hold.
#include "frontend/plan/Sources.h"

#include <algorithm>
#include <cassert>

namespace nnterp {

/// patches or image_tokens, or "" for a layout that has neither.
static std::string pictureAxisOf(Layout layout) {
  const std::vector<std::string> &known = axes(layout);
  auto found = std::find_if(known.begin(), known.end(), isPictureAxis);
  return found == known.end() ? "" : *found;
}

Select placeSelect(const PlanEdit &edit, Layout layout, Layout sourceLayout) {
  const std::vector<std::string> &known = axes(sourceLayout);
  const std::string picture = pictureAxisOf(sourceLayout);
  bool sameGrid = !picture.empty() && picture == pictureAxisOf(layout);
  Select result;
  result.loc = edit.source->loc;
  if (edit.select)
    for (const auto &[axis, selection] : edit.select->axes)
      if (std::find(known.begin(), known.end(), axis) != known.end() || (sameGrid && isPictureKey(axis)))
        result.axes[axis] = selection;
  if (!edit.source->select)
    return result;
  const std::map<std::string, AxisSelection> &own = edit.source->select->axes;
  for (const auto &[axis, selection] : own) { // of an axis and a rectangle on it the source's own counts
    if (isPictureKey(axis))
      result.axes.erase(picture);
    if (axis == picture || (axis == "image" && selection.all))
      for (const char *key : {"image", "rows", "cols"})
        result.axes.erase(key);
  }
  for (const auto &[axis, selection] : own)
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
