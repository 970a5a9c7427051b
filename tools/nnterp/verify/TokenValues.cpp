// Finds a token's part of an output tensor.
#include "tools/nnterp/verify/TokenValues.h"

#include <algorithm>
#include <cstring>

namespace nnterp::verify {

TokenSlice TokenSlice::part(int64_t part, int64_t parts) const {
  TokenSlice slice = *this;
  if (outer == 1) {
    slice.inner = inner / parts;
    slice.base += part * slice.inner;
  } else {
    slice.outer = outer / parts;
    slice.base += part * slice.outer * stride;
  }
  return slice;
}

bool sameBits(const TokenSlice &a, const TokenSlice &b) {
  if (a.count() == 0 || a.count() != b.count() || a.tensor->dtype != b.tensor->dtype)
    return false;
  const size_t size = byteSize(a.tensor->dtype);
  const int64_t piece = std::min(a.inner, b.inner); // one is a multiple of the other: a head, or all heads in one piece
  for (int64_t i = 0; i < a.count(); i += piece) {
    auto bytes = [&](const TokenSlice &s) {
      return s.tensor->as<char>() + size_t(s.base + i / s.inner * s.stride + i % s.inner) * size;
    };
    if (std::memcmp(bytes(a), bytes(b), size_t(piece) * size) != 0)
      return false;
  }
  return true;
}

double scaleOf(const TokenSlice &slice) {
  constexpr double maskedFrom = 1e30;
  double largest = 1;
  for (int64_t i = 0; i < slice.count(); ++i)
    if (double size = std::abs(slice.at(i)); size < maskedFrom)
      largest = std::max(largest, size);
  return largest;
}

RunView::RunView(const RunResult &result, std::vector<int64_t> first, const std::string &world)
    : result(&result), before(std::move(first)), prefix(result.prepared.resolved.prefix(world)) {
  prompt = result.batchOf(world).rowLengths();
  before.resize(prompt.size(), 0);
  if (const Tensor *tokens = tensor("tokens"))
    fedBack = tokens->shape[1] - 1;
}

const Tensor *RunView::tensor(const std::string &name) const {
  for (const auto &[key, tensor] : result->outputs)
    if (key.size() == prefix.size() + name.size() && key.compare(0, prefix.size(), prefix) == 0 &&
        key.compare(prefix.size(), name.size(), name) == 0)
      return &tensor;
  return nullptr;
}

std::vector<std::string> RunView::names() const {
  std::vector<std::string> names;
  for (const TapSpec &tap : result->prepared.resolved.taps)
    if (tap.phase == Phase::prompt && tap.gather.layout != Layout::Sizes &&
        tap.key.compare(0, prefix.size(), prefix) == 0)
      names.push_back(tap.key.substr(prefix.size()));
  return names;
}

TokenValues::TokenValues(const RunView &run, const std::string &name)
    : name(name), run(run), onPrompt(run.tensor(name)), generated(run.tensor(name + "@gen")) {
  if (const TapSpec *tap = run.tap(name)) {
    layout = tap->gather.layout;
    NameError unused;
    if (auto points = run.points().expand(tap->gather.point, unused))
      place = points->front().info->place;
    if (layout == Layout::NextTokenProbs)
      place = Place::promptEnd;
  }
}

TokenValues::Where TokenValues::find(int64_t row, int64_t token) const {
  const int64_t begin = run.first(row), end = run.promptEnd(row);
  auto rightAligned = [](const Tensor &tensor, size_t axis, int64_t place, int64_t entries) {
    return tensor.shape[axis] - entries + place;
  };
  if (layout == Layout::Memory)
    return onPrompt && token < end ? Where{onPrompt, rightAligned(*onPrompt, 2, token, end), 0} : Where{};
  if (token < begin || token >= run.end(row))
    return {};
  if (token >= end)
    return {generated, token - end, run.end(row)};
  if (!onPrompt)
    return {};
  if (place != Place::none)
    return token == (place == Place::promptStart ? begin : end - 1) ? Where{onPrompt, -1, 0} : Where{};
  const size_t axis = axes(layout)[1] == "heads" ? 2 : 1;
  return {onPrompt, rightAligned(*onPrompt, axis, token - begin, end - begin), end};
}

TokenSlice TokenValues::slice(int64_t row, int64_t token, bool later) const {
  const auto [tensor, index, keys] = find(row, token);
  if (!tensor)
    return {};
  const Shape &shape = tensor->shape;
  const int64_t perRow = elementCount(shape) / shape[0];
  if (index < 0)
    return {tensor, row * perRow, 1, 0, perRow};
  const bool headsFirst = axes(layout)[1] == "heads" && (layout == Layout::Memory || isTokenAxis(axes(layout)[2]));
  if (!headsFirst)
    return {tensor, row * perRow + index * (perRow / shape[1]), 1, 0, perRow / shape[1]};
  const int64_t perHead = perRow / shape[1], perToken = perHead / shape[2];
  TokenSlice slice{tensor, row * perRow + index * perToken, shape[1], perHead, perToken};
  if (layout == Layout::Pattern) {
    const int64_t own = token + 1;
    slice.base += shape[3] - keys + (later ? own : 0);
    slice.inner = later ? keys - own : own;
  }
  return slice;
}

TokenSlice TokenValues::operator()(int64_t row, int64_t token) const { return slice(row, token, false); }
TokenSlice TokenValues::laterKeys(int64_t row, int64_t token) const { return slice(row, token, true); }

} // namespace nnterp::verify
