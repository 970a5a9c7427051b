// Chunks are or-ed together, steps stand side by side.
#include "tools/nnterp/TapAssembly.h"

#include <algorithm>
#include <limits>

namespace nnterp {

static DType dtypeOf(const Manifest &manifest, const std::string &key) {
  for (const SlotSpec &slot : manifest.slots)
    if (slot.kind == SlotKind::output && slot.name == key)
      return slot.dtype;
  return DType::f32; // the program lacks the slot, which is an error when it is called
}

TapAssembly::TapAssembly(const std::vector<TapLayout> &layouts, const Manifest &manifest, size_t promptCalls,
                         TensorMap &outputs) {
  for (const TapLayout &layout : layouts) {
    const DType dtype = dtypeOf(manifest, layout.key);
    Tap tap{&layout, Tensor::make(dtype, layout.shape), {}};
    const bool direct = layout.phase == Phase::images || (layout.phase == Phase::prompt && promptCalls == 1);
    tap.written = direct ? tap.whole : Tensor::make(dtype, layout.callShape());
    outputs[layout.key] = tap.written;
    taps.push_back(std::move(tap));
  }
}

static void orInto(Tensor &into, const Tensor &from) {
  auto *to = into.as<unsigned char>();
  const auto *bits = from.as<unsigned char>();
  for (size_t i = 0; i < into.bytes(); ++i)
    to[i] |= bits[i];
}

void TapAssembly::takePrompt(const Call &call) {
  for (Tap &tap : taps) {
    const TapLayout &layout = *tap.layout;
    if (layout.phase != Phase::prompt || tap.whole.data == tap.written.data)
      continue;
    if (layout.onlyFirst ? call.first : layout.onlyLast ? call.last : true)
      orInto(tap.whole, tap.written);
    std::memset(tap.written.data, 0, tap.written.bytes());
  }
}

void TapAssembly::finishPrompt() {
  for (Tap &tap : taps)
    if (tap.layout->phase == Phase::prompt && tap.layout->masked && elementCount(tap.layout->shape) > 0)
      for (size_t rank = 0; rank < tap.layout->rows.size(); ++rank)
        for (size_t query = 0; query < tap.layout->queries[rank].size(); ++query)
          mask(tap, rank, query);
}

static void setLowest(Tensor &tensor, int64_t index) {
  if (tensor.dtype == DType::bf16)
    tensor.as<uint16_t>()[index] = 0xff7f;
  else
    tensor.as<float>()[index] = std::numeric_limits<float>::lowest();
}

/// Keys behind the query, in every head of [rows, heads, queries, keys].
void TapAssembly::mask(Tap &tap, size_t rank, size_t query) const {
  const TapLayout &layout = *tap.layout;
  const int64_t heads = layout.shape[1], queries = layout.shape[2], keys = layout.shape[3];
  const int64_t place = layout.queries[rank][query];
  if (place < 0)
    return;
  for (int64_t head = 0; head < heads; ++head)
    for (int64_t key = 0; key < keys; ++key)
      if (layout.keys[rank][size_t(key)] > place)
        setLowest(tap.whole, ((int64_t(rank) * heads + head) * queries + int64_t(query)) * keys + key);
}

/// What a call wrote, to its place on the axis of steps; a row that has ended keeps its zeros.
void TapAssembly::insert(Tap &tap, size_t place, const std::vector<bool> &ended) {
  const Shape &shape = tap.layout->shape;
  const auto axis = size_t(tap.layout->stepAxis);
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i)
    outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  const std::vector<int64_t> &rows = tap.layout->rows;
  const int64_t perRow = rows.empty() ? outer : outer / int64_t(rows.size());
  const size_t bytes = size_t(inner) * byteSize(tap.whole.dtype);
  for (int64_t o = 0; o < outer; ++o) {
    if (!rows.empty() && ended[size_t(rows[size_t(o / perRow)])])
      continue;
    std::memcpy(tap.whole.as<char>() + size_t(o * shape[axis] + int64_t(place)) * bytes,
                tap.written.as<char>() + size_t(o) * bytes, bytes);
  }
  if (!tap.layout->masked)
    return;
  for (size_t rank = 0; rank < rows.size(); ++rank)
    if (!ended[size_t(rows[rank])])
      mask(tap, rank, place);
}

void TapAssembly::takeStep(int64_t step, const EndedRows &ended) {
  for (Tap &tap : taps) {
    const TapLayout &layout = *tap.layout;
    if (layout.phase != Phase::gen || elementCount(layout.shape) == 0)
      continue;
    auto found = std::lower_bound(layout.steps.begin(), layout.steps.end(), step);
    if (found != layout.steps.end() && *found == step)
      insert(tap, size_t(found - layout.steps.begin()), ended.at(layout.world));
  }
}

std::vector<std::pair<std::string, Tensor>> TapAssembly::results() const {
  std::vector<std::pair<std::string, Tensor>> list;
  for (const Tap &tap : taps)
    if (elementCount(tap.layout->shape) > 0)
      list.emplace_back(tap.layout->key, tap.whole);
  return list;
}

} // namespace nnterp
