// Adds up what a run will take.
#include "tools/nnterp/MemoryEstimate.h"
#include "runtime/state/SequenceState.h"
#include "tools/nnterp/report/Units.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace nnterp {

std::string MemoryEstimate::text() const {
  std::string parts;
  auto add = [&](uint64_t bytes, const char *what) {
    if (bytes)
      parts += (parts.empty() ? "" : ", ") + bytesText(double(bytes)) + " " + what;
  };
  add(copied, "copied weights");
  add(uploaded, "weights on the device");
  add(state, "memory of the sequences");
  add(outputs, "outputs");
  add(activations, "intermediate values");
  return bytesText(double(total())) + (parts.empty() ? "" : " (" + parts + ")");
}

/// The memory of every world at the end of a run that no row ends before.
static uint64_t stateBytes(const RunOutline &run, const Manifest &manifest, const Call &last) {
  uint64_t bytes = 0, largestOld = 0;
  for (const WorldSpec &world : run.plan.worlds) {
    const std::string prefix = run.plan.prefix(world.name);
    const int64_t rows = run.inputs.at(world.input).rows(), tokens = tokensBehind(run, world, last);
    for (const SlotSpec &slot : manifest.slots) {
      if (slot.kind != SlotKind::state || slot.name.compare(0, prefix.size(), prefix) != 0)
        continue;
      Shape shape = slot.dims;
      shape[0] = rows;
      if (isCache(slot.name))
        shape[2] = grownCapacity(0, tokens);
      const uint64_t part = uint64_t(elementCount(shape)) * byteSize(slot.dtype);
      bytes += part;
      if (isCache(slot.name) && shape[2] > grownCapacity(0, 1))
        largestOld = std::max(largestOld, part / 2);
    }
  }
  // While a cache is copied into one of twice the size, the old one is still there.
  return (run.plan.shape.save ? 2 : 1) * bytes + largestOld;
}

/// A tensor of the file, and beside it what a call writes where that is not the tensor itself.
static uint64_t outputBytes(const RunOutline &run, const Manifest &manifest, const RunBuffers &buffers) {
  const bool pieces = buffers.promptCalls().size() > 1;
  uint64_t bytes = 0;
  for (const SlotSpec &slot : manifest.slots) {
    if (slot.kind != SlotKind::output)
      continue;
    for (const TapLayout &tap : buffers.taps())
      if (tap.key == slot.name) {
        const bool direct = tap.phase == Phase::prompt && !pieces;
        bytes +=
            uint64_t(elementCount(tap.shape) + (direct ? 0 : elementCount(tap.callShape()))) * byteSize(slot.dtype);
      }
  }
  for (const WorldSpec &world : run.plan.worlds)
    bytes += uint64_t(run.inputs.at(world.input).rows() * run.info.generate) * sizeof(int64_t);
  return bytes;
}

MemoryEstimate estimateMemory(const RunOutline &run, const Manifest &manifest, const CheckpointIndex *weights,
                              RunBuffers &buffers) {
  MemoryEstimate estimate;
  for (const SlotSpec &slot : manifest.slots)
    if (slot.kind == SlotKind::weight) {
      const FoundTensor *found = weights ? weights->find(slot.name) : nullptr;
      const uint64_t bytes = uint64_t(elementCount(slot.dims)) * byteSize(slot.dtype);
      (manifest.target == "gpu"               ? estimate.uploaded
       : !weights || (found && found->mapped) ? estimate.mapped
                                              : estimate.copied) += bytes;
    }
  const std::vector<Call> &calls = buffers.promptCalls();
  Call last = calls.back();
  for (const Call *call : {&calls.front(), &calls.back()})
    estimate.activations = std::max(
        estimate.activations, uint64_t(largestOf(manifest.promptPeaks, CallExtents(run, manifest, buffers, *call))));
  estimate.activations =
      std::max(estimate.activations,
               uint64_t(largestOf(manifest.imagePeaks, CallExtents(run, manifest, buffers, calls.front()))));
  if (run.info.steps() > 0) {
    last = Call();
    last.phase = Phase::gen;
    last.step = run.info.steps() - 1;
    estimate.activations = std::max(estimate.activations,
                                    uint64_t(largestOf(manifest.stepPeaks, CallExtents(run, manifest, buffers, last))));
  }
  estimate.state = stateBytes(run, manifest, last);
  estimate.outputs = outputBytes(run, manifest, buffers);
  return estimate;
}

std::optional<uint64_t> parseSize(const std::string &text) {
  double number = 0;
  auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || !(number >= 0))
    return std::nullopt;
  std::string unit(stop, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size() : unit.find_first_not_of(' '));
  static const std::string letters = "KMGT";
  double factor = 1;
  if (!unit.empty() && unit != "B") {
    const size_t power = letters.find(char(std::toupper(static_cast<unsigned char>(unit[0]))));
    const std::string rest = unit.substr(1);
    if (power == std::string::npos || !(rest.empty() || rest == "B" || rest == "iB"))
      return std::nullopt;
    factor = std::pow(rest == "B" ? 1000.0 : 1024.0, double(power + 1));
  }
  const double bytes = number * factor;
  return bytes < 1.8e19 ? std::optional(uint64_t(bytes)) : std::nullopt;
}

} // namespace nnterp
