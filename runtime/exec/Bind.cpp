// Fills descriptor tables.
#include "runtime/exec/Bind.h"

namespace nnterp {

namespace {

const char *kindName(SlotKind kind) {
  switch (kind) {
  case SlotKind::input:
    return "input";
  case SlotKind::weight:
    return "weight";
  case SlotKind::buffer:
    return "buffer";
  default:
    return "output";
  }
}

class Binder {
public:
  Binder(const Bindings &from, Diagnostics &diags) : from(from), diags(diags) {}

  bool add(const SlotSpec &spec);
  BoundTable table;

private:
  std::optional<Tensor> find(const SlotSpec &spec);
  bool fits(const SlotSpec &spec, const Tensor &tensor);
  std::optional<Tensor> mismatch(const SlotSpec &spec, const std::string &what) {
    diags.error("NNT1020", {}, "the program's " + std::string(kindName(spec.kind)) + " \"" + spec.name + "\" " + what);
    return std::nullopt;
  }

  const Bindings &from;
  Diagnostics &diags;
};

std::optional<Tensor> Binder::find(const SlotSpec &spec) {
  switch (spec.kind) {
  case SlotKind::input:
    if (spec.name == "ids")
      return from.batch.ids;
    if (spec.name == "lengths")
      return from.batch.lengths;
    if (spec.name == "positions")
      return from.batch.positions;
    break;
  case SlotKind::weight:
    if (from.weights.find(spec.name))
      return from.weights.load(spec.name, diags);
    break;
  case SlotKind::buffer:
    if (auto found = from.buffers.find(spec.name); found != from.buffers.end())
      return found->second;
    break;
  case SlotKind::output:
    if (auto found = from.outputs.find(spec.name); found != from.outputs.end())
      return Tensor::make(spec.dtype, found->second);
    break;
  }
  return mismatch(spec, "is not in this run");
}

bool Binder::fits(const SlotSpec &spec, const Tensor &tensor) {
  bool same = tensor.dtype == spec.dtype && tensor.shape.size() == spec.dims.size() &&
              tensor.shape.size() <= size_t(abi::maxRank);
  for (size_t i = 0; same && i < spec.dims.size(); ++i)
    same = spec.dims[i] < 0 || spec.dims[i] == tensor.shape[i];
  if (!same)
    mismatch(spec, "is " + std::string(name(spec.dtype)) + " " + toString(spec.dims) + ", but the run has " +
                       std::string(name(tensor.dtype)) + " " + toString(tensor.shape));
  return same;
}

bool Binder::add(const SlotSpec &spec) {
  std::optional<Tensor> tensor = find(spec);
  if (!tensor || !fits(spec, *tensor))
    return false;
  abi::Slot &slot = table.slots.emplace_back();
  slot.data = tensor->data;
  for (size_t i = 0; i < tensor->shape.size(); ++i)
    slot.sizes[i] = tensor->shape[i];
  if (spec.kind == SlotKind::output)
    table.outputs.emplace_back(spec.name, std::move(*tensor));
  else
    table.held.push_back(std::move(*tensor));
  return true;
}

} // namespace

std::optional<BoundTable> bind(const Manifest &manifest, const Bindings &from, Diagnostics &diags) {
  Binder binder(from, diags);
  bool good = true;
  for (const SlotSpec &spec : manifest.slots)
    good &= binder.add(spec);
  return good ? std::optional(std::move(binder.table)) : std::nullopt;
}

} // namespace nnterp
