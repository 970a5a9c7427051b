// Fills descriptor tables.
#include "runtime/exec/Bind.h"

#include <algorithm>

namespace nnterp {

bool isStepName(const std::string &name) {
  constexpr std::string_view suffix = "@gen";
  return name.size() >= suffix.size() && name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
}

static void mismatch(const SlotSpec &spec, const std::string &what, Diagnostics &diags) {
  diags.error("NNT1020", {}, "the program's " + std::string(name(spec.kind)) + " \"" + spec.name + "\" " + what);
}

static bool fits(const SlotSpec &spec, const Tensor &tensor, Diagnostics &diags) {
  bool same = tensor.dtype == spec.dtype && tensor.shape.size() == spec.dims.size() &&
              tensor.shape.size() <= size_t(abi::maxRank);
  for (size_t i = 0; same && i < spec.dims.size(); ++i)
    same = spec.dims[i] < 0 || spec.dims[i] == tensor.shape[i];
  if (!same)
    mismatch(spec,
             "is " + std::string(name(spec.dtype)) + " " + toString(spec.dims) + ", but the run has " +
                 std::string(name(tensor.dtype)) + " " + toString(tensor.shape),
             diags);
  return same;
}

static void describe(const Tensor &tensor, abi::Slot &slot) {
  slot.data = tensor.data;
  std::copy(tensor.shape.begin(), tensor.shape.end(), slot.sizes);
}

std::optional<BoundTable> BoundTable::make(const Manifest &manifest, CheckpointIndex &weights, Diagnostics &diags,
                                           MemorySpace &space, const BindProgress &progress) {
  BoundTable bound(space);
  bool good = true;
  uint64_t done = 0, total = 0;
  for (const SlotSpec &spec : manifest.slots)
    if (spec.kind == SlotKind::weight)
      total += uint64_t(elementCount(spec.dims)) * byteSize(spec.dtype);
  for (const SlotSpec &spec : manifest.slots) {
    const bool phased = spec.kind == SlotKind::input || spec.kind == SlotKind::buffer || spec.kind == SlotKind::output;
    Entry &entry = bound.entries.emplace_back(Entry{&spec, phased && isStepName(spec.name)});
    abi::Slot &slot = bound.table.emplace_back();
    if (spec.kind != SlotKind::weight)
      continue;
    std::optional<Tensor> tensor;
    if (weights.find(spec.name))
      tensor = weights.load(spec.name, diags);
    else
      mismatch(spec, "is not in this run", diags);
    good = tensor && fits(spec, *tensor, diags) && good;
    if (!good) // what else does not fit is said as well
      continue;
    if (!space.update(*tensor, entry.here, diags))
      return std::nullopt;
    describe(entry.here, slot);
    done += tensor->bytes();
    if (progress)
      progress(done, total);
  }
  return good ? std::optional(std::move(bound)) : std::nullopt;
}

static const TensorMap *mapOf(const RunTensors &run, SlotKind kind) {
  switch (kind) {
  case SlotKind::input:
    return &run.inputs;
  case SlotKind::buffer:
    return &run.buffers;
  case SlotKind::output:
    return &run.outputs;
  case SlotKind::state:
    return &run.states;
  case SlotKind::kept:
    return &run.kept;
  case SlotKind::weight:
    break;
  }
  return nullptr;
}

bool BoundTable::point(const RunTensors &run, bool step, Diagnostics &diags) {
  bool good = true;
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    const SlotSpec &spec = *entry.spec;
    if (spec.kind == SlotKind::weight)
      continue;
    if (!entry.source) {
      const TensorMap &map = *mapOf(run, spec.kind);
      if (auto found = map.find(spec.name); found != map.end())
        entry.source = &found->second;
    }
    const bool needed = entry.step == step || (spec.kind == SlotKind::state || spec.kind == SlotKind::kept);
    if (!needed)
      continue;
    if (!entry.source) {
      mismatch(spec, "is not in this run", diags);
      good = false;
    } else if (!fits(spec, *entry.source, diags)) {
      good = false;
    } else if (spec.kind == SlotKind::state || spec.kind == SlotKind::kept) {
      describe(*entry.source, table[i]);
    } else if (spec.kind == SlotKind::output ? space->mirror(*entry.source, entry.here, diags)
                                             : space->update(*entry.source, entry.here, diags)) {
      describe(entry.here, table[i]);
    } else {
      return false;
    }
  }
  return good;
}

bool BoundTable::collect(bool step, Diagnostics &diags) {
  for (const Entry &entry : entries)
    if (entry.spec->kind == SlotKind::output && entry.step == step && entry.source &&
        !space->fetch(entry.here, *entry.source, diags))
      return false;
  return true;
}

} // namespace nnterp
