// The text of a plan's structure, on which the cache of compiled programs rests.
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

std::string_view text(Phase phase) {
  return phase == Phase::images ? "@images " : phase == Phase::prompt ? "" : "@gen ";
}

std::string text(const GatherSpec &gather) {
  std::string result = gather.world + "/" + gather.point + " " + std::string(name(gather.layout)) +
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
  case SourceSpec::Kind::kept:
    result = "kept " + source.buffer + " scale " + source.scale + (source.squeezeSeq ? " squeeze" : "");
    break;
  }
  result += " axes [";
  for (size_t i = 0; i < source.axes.size(); ++i)
    result += (i ? " " : "") + (source.axes[i].broadcast ? "0" : text(source.axes[i].table));
  return result + "]";
}

std::string text(const EditSpec &edit) {
  std::string result = "edit " + std::string(text(edit.phase)) + edit.world + "/" + edit.point + " " +
                       std::string(name(edit.layout)) + " " + std::string(name(edit.op)) + " " + text(edit.ordinals);
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
  std::string result = std::string(buffer.kept ? "kept " : "buffer ") + std::string(text(buffer.phase)) + buffer.name +
                       " " + std::string(name(buffer.dtype)) + " [";
  for (size_t i = 0; i < buffer.dims.size(); ++i)
    result += (i ? ", " : "") + (buffer.dims[i] == BufferSpec::dynamic ? "?" : std::to_string(buffer.dims[i]));
  return result + "]";
}

} // namespace

std::string ResolvedPlan::structure() const {
  std::string result = "run";
  for (auto [flag, word] :
       {std::pair(shape.next, " next"), std::pair(shape.steps, " steps"), std::pair(shape.memory, " memory"),
        std::pair(shape.resume, " resume"), std::pair(shape.save, " save"), std::pair(shape.images, " images")})
    result += flag ? word : "";
  result += "\n";
  for (const WorldSpec &world : worlds)
    result += "world " + prefix(world.name) + " on " + world.input + "\n";
  for (const EditSpec &edit : edits)
    result += text(edit) + "\n";
  for (const TapSpec &tap : taps)
    result += "tap " + std::string(text(tap.phase)) + "\"" + tap.key + "\" " + text(tap.gather) + "\n";
  for (const KeepSpec &keep : keeps)
    result += "keep " + std::string(text(keep.phase)) + keep.name + " " + text(keep.gather) + "\n";
  for (const BufferSpec &buffer : buffers)
    result += text(buffer) + "\n";
  return result;
}

} // namespace nnterp
