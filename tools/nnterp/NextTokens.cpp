// Reads the most likely next tokens off a run's outputs.
#include "tools/nnterp/NextTokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nnterp {

namespace {

/// One axis table of a tap: the index in the value of each entry, or identity.
class AxisOf {
public:
  AxisOf(const TapSpec &tap, size_t axis, const RunResult &result) {
    const AxisTable &spec = axis < tap.gather.tables.size() ? tap.gather.tables[axis] : AxisTable();
    if (auto found = result.buffers.find(spec.buffer); !spec.buffer.empty() && found != result.buffers.end())
      table = &found->second;
  }
  bool identity() const { return !table; }
  int64_t at(int64_t row, int64_t entry) const {
    if (!table)
      return entry;
    const bool perRow = table->shape.size() == 2;
    return table->as<int64_t>()[perRow ? row * table->shape[1] + entry : entry];
  }

private:
  const Tensor *table = nullptr;
};

const std::string &inputOf(const RunResult &result, const std::string &world) {
  const std::vector<WorldSpec> &worlds = result.prepared.resolved.worlds;
  return std::find_if(worlds.begin(), worlds.end(), [&](const WorldSpec &w) { return w.name == world; })->input;
}

std::vector<double> softmax(std::vector<double> x) {
  const double top = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double &v : x)
    sum += v = std::exp(v - top);
  for (double &v : x)
    v /= sum;
  return x;
}

std::vector<NextToken> mostLikely(const std::vector<double> &probabilities, size_t count) {
  std::vector<int64_t> ids(probabilities.size());
  std::iota(ids.begin(), ids.end(), 0);
  count = std::min(count, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + long(count), ids.end(), [&](int64_t a, int64_t b) {
    const double pa = probabilities[size_t(a)], pb = probabilities[size_t(b)];
    return pa != pb ? pa > pb : a < b;
  });
  std::vector<NextToken> tokens;
  for (size_t i = 0; i < count; ++i)
    tokens.push_back({ids[i], probabilities[size_t(ids[i])]});
  return tokens;
}

/// Reads one output; rows whose last position it does not hold are left out.
std::vector<NextTokens> read(const RunResult &result, const TapSpec &tap, const Tensor &tensor, size_t count) {
  const bool isLogits = tap.gather.layout == Layout::Logits;
  const size_t rank = tensor.shape.size();
  if (rank != (isLogits ? 3u : 2u) || !AxisOf(tap, rank - 1, result).identity() || elementCount(tensor.shape) == 0)
    return {};
  const AxisOf rows(tap, 0, result), tokens(tap, 1, result);
  const std::vector<int64_t> &lengths = result.lastLengths.at(inputOf(result, tap.gather.world));
  const int64_t vocabulary = tensor.shape.back(), seq = isLogits ? tensor.shape[1] : 1;
  std::vector<NextTokens> found;
  for (int64_t r = 0; r < tensor.shape[0]; ++r) {
    const int64_t row = rows.at(0, r);
    if (row < 0 || row >= int64_t(lengths.size()))
      continue;
    // Rows are right-aligned: a row's last token, if tapped, is its last entry.
    if (isLogits && !tokens.identity() && tokens.at(r, seq - 1) != lengths[size_t(row)] - 1)
      continue;
    std::vector<double> values(static_cast<size_t>(vocabulary));
    for (int64_t v = 0; v < vocabulary; ++v)
      values[size_t(v)] = tensor.at((r * seq + seq - 1) * vocabulary + v);
    found.push_back({tap.gather.world, row, mostLikely(isLogits ? softmax(std::move(values)) : values, count)});
  }
  return found;
}

} // namespace

std::vector<NextTokens> nextTokens(const RunResult &result, size_t count) {
  std::vector<NextTokens> all;
  for (const WorldSpec &world : result.prepared.resolved.worlds) {
    std::vector<NextTokens> found;
    for (const char *point : {"next_token_probs", "logits"})
      for (const auto &[key, tensor] : result.outputs)
        if (const TapSpec *tap = result.tapOf(key); found.empty() && tap && tap->phase == Phase::prompt &&
                                                    tap->gather.world == world.name && tap->gather.point == point &&
                                                    tap->gather.when == When::after)
          found = read(result, *tap, tensor, count);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

} // namespace nnterp
