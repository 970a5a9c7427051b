// Looks calls up before they are made.
#include "tools/nnterp/CallExtents.h"
#include "runtime/state/SequenceState.h"

#include <algorithm>
#include <functional>

namespace nnterp {

/// Each row's part of a call, behind what was loaded.
static std::vector<RowPart> partsOf(const RunOutline &run, const WorldSpec &world, const Call &call) {
  auto loaded = run.info.loaded.find(world.name);
  std::vector<RowPart> parts;
  for (int64_t b = 0; b < run.inputs.at(world.input).rows(); ++b) {
    const RowWindow window = rowWindow(run.info, world.input, b, call);
    const int64_t before = loaded == run.info.loaded.end() ? 0 : loaded->second[size_t(b)];
    parts.push_back({before + window.past, window.past, window.length});
  }
  return parts;
}

int64_t tokensBehind(const RunOutline &run, const WorldSpec &world, const Call &call) {
  int64_t most = 1;
  for (const RowPart &part : partsOf(run, world, call))
    most = std::max(most, part.past + part.length);
  return most;
}

CallExtents::CallExtents(const RunOutline &run, const Manifest &manifest, RunBuffers &buffers, const Call &call) {
  auto add = [&](const std::string &name, const Shape &shape) {
    for (size_t axis = 0; axis < shape.size(); ++axis)
      extents[name + "." + std::to_string(axis)] = shape[axis];
  };
  TensorMap tensors = buffers.common();
  buffers.fill(call, {}, tensors);
  for (const WorldSpec &world : run.plan.worlds) {
    const Batch &batch = run.inputs.at(world.input);
    const std::string prefix = run.plan.prefix(world.name);
    const int64_t behind = tokensBehind(run, world, call);
    std::string total = prefix + "total@gen";
    if (call.phase == Phase::gen) {
      StepInputs(batch.rows(), prefix, tensors);
    } else {
      const std::string input = run.plan.declaresWorlds ? world.input + "/" : "";
      setPromptInputs(batch, partsOf(run, world, call), call.first, input, tensors);
      extents[input + "pixels.0"] = batch.images ? batch.images->pixels.shape[0] : 0;
      total = input + "total";
    }
    extents[total] = behind;
    for (const SlotSpec &slot : manifest.slots)
      if (slot.kind == SlotKind::state && slot.name.compare(0, prefix.size(), prefix) == 0) {
        Shape shape = slot.dims;
        shape[0] = batch.rows();
        if (isCache(slot.name))
          shape[2] = grownCapacity(0, behind);
        add(slot.name, shape);
      }
    for (const char *name : {"next", "next@gen"})
      extents[prefix + name + ".0"] = batch.rows();
  }
  for (const auto &[name, tensor] : tensors)
    add(name, tensor.shape);
  for (const TapLayout &tap : buffers.taps())
    add(tap.key, tap.callShape());
  for (const auto &[name, shape] : buffers.keeps())
    add(name, shape);
}

int64_t CallExtents::operator()(const std::string &name) const {
  auto found = extents.find(name);
  return found == extents.end() ? 1 : found->second;
}

double largestOf(const std::vector<Polynomial> &amounts, const CallExtents &extents) {
  double most = 0;
  for (const Polynomial &amount : amounts)
    most = std::max(most, amount.value(std::cref(extents)));
  return most;
}

} // namespace nnterp
