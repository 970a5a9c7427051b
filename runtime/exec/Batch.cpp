// Batches from rows of ids, and what holds for every batch.
#include "runtime/exec/Batch.h"

#include <algorithm>

namespace nnterp {

std::vector<int64_t> Batch::rowLengths() const {
  const int64_t *first = lengths.as<int64_t>();
  return {first, first + rows()};
}

Position Batch::position(int64_t row, int64_t token) const {
  const int64_t plane = rows() * seq(), *first = positions.as<int64_t>() + row * seq() + token;
  return {first[0], first[plane], first[2 * plane]};
}

/// Ids in the vocabulary, and none that stands for a picture. One error per row and kind: the first id of it.
static bool checkIds(const std::vector<int64_t> &row, size_t index, const InputRules &rules, const SourceLoc &loc,
                     Diagnostics &diags) {
  auto report = [&](const char *code, auto wrong, const std::string &what) {
    auto id = std::find_if(row.begin(), row.end(), wrong);
    if (id == row.end())
      return true;
    diags.error(code, loc,
                "row " + std::to_string(index) + ", token " + std::to_string(id - row.begin()) + ": id " +
                    std::to_string(*id) + what);
    return false;
  };
  const bool known = report(
      "NNT1005", [&](int64_t id) { return id < 0 || id >= rules.vocabSize; },
      " is outside the vocabulary (0 to " + std::to_string(rules.vocabSize - 1) + ")");
  auto isImage = [&](int64_t id) {
    return std::find(rules.imageTokens.begin(), rules.imageTokens.end(), id) != rules.imageTokens.end();
  };
  return report("NNT1013", isImage, " stands for a part of a picture, and the input has no picture") && known;
}

std::optional<Batch> batchFromIds(const std::vector<std::vector<int64_t>> &rows, const InputRules &rules,
                                  const SourceLoc &loc, Diagnostics &diags, int64_t width) {
  bool good = !rows.empty();
  if (!good)
    diags.error("NNT1004", loc, "the batch has no rows");
  size_t longest = 0;
  for (size_t b = 0; b < rows.size(); ++b) {
    longest = std::max(longest, rows[b].size());
    if (rows[b].empty()) {
      diags.error("NNT1004", loc, "row " + std::to_string(b) + " has no tokens");
      good = false;
    }
    good &= checkIds(rows[b], b, rules, loc, diags);
  }
  if (longest > size_t(maxPosition)) {
    diags.error("NNT1012", loc,
                "a row of " + std::to_string(longest) + " tokens is longer than the " + std::to_string(maxPosition) +
                    " positions that rotary embeddings are computed for");
    good = false;
  }
  if (!good)
    return std::nullopt;

  const auto B = int64_t(rows.size()), S = std::max(width, int64_t(longest));
  Batch batch;
  batch.ids = Tensor::make(DType::i64, {B, S});
  batch.lengths = Tensor::make(DType::i64, {B});
  batch.positions = Tensor::make(DType::i64, {3, B, S});
  for (int64_t b = 0; b < B; ++b) {
    const std::vector<int64_t> &row = rows[size_t(b)];
    batch.lengths.as<int64_t>()[b] = int64_t(row.size());
    std::copy(row.begin(), row.end(), batch.ids.as<int64_t>() + b * S);
    for (int64_t axis = 0; axis < 3; ++axis)
      for (int64_t p = 0; p < int64_t(row.size()); ++p)
        batch.positions.as<int64_t>()[(axis * B + b) * S + p] = p;
  }
  return batch;
}

} // namespace nnterp
