// Cuts batches into calls.
#include "runtime/exec/CallInputs.h"

#include <algorithm>

namespace nnterp {

/// No call has an axis of tokens without a token, and no cache without a place: generated code need not know empty
/// ones.
static constexpr int64_t smallest = 1;

static Tensor integers(Shape shape) { return Tensor::make(DType::i64, std::move(shape)); }

void setPromptInputs(const Batch &batch, const std::vector<RowPart> &parts, bool first, const std::string &prefix,
                     TensorMap &into) {
  const int64_t B = batch.rows(), S = batch.seq();
  int64_t W = smallest, total = smallest;
  for (const RowPart &part : parts) {
    W = std::max(W, part.length);
    total = std::max(total, part.past + part.length);
  }
  Tensor ids = integers({B, W}), lengths = integers({B}), positions = integers({3, B, W}), pads = integers({B}),
         past = integers({B}), used = integers({1}), imageRows = integers({B, W});
  std::fill_n(imageRows.as<int64_t>(), B * W, -1);
  for (int64_t b = 0; b < B; ++b) {
    const RowPart &part = parts[size_t(b)];
    lengths.as<int64_t>()[b] = part.length;
    past.as<int64_t>()[b] = part.past;
    pads.as<int64_t>()[b] = first ? S - batch.lengths.as<int64_t>()[b] : 0;
    const int64_t *row = batch.ids.as<int64_t>() + b * S + part.begin;
    std::copy(row, row + part.length, ids.as<int64_t>() + b * W);
    if (batch.images) {
      const int64_t *places = batch.images->rows.as<int64_t>() + b * S + part.begin;
      std::copy(places, places + part.length, imageRows.as<int64_t>() + b * W);
    }
    for (int64_t axis = 0; axis < 3; ++axis) {
      const int64_t *from = batch.positions.as<int64_t>() + (axis * B + b) * S + part.begin;
      std::copy(from, from + part.length, positions.as<int64_t>() + (axis * B + b) * W);
    }
  }
  *used.as<int64_t>() = total;
  into[prefix + "ids"] = std::move(ids);
  into[prefix + "lengths"] = std::move(lengths);
  into[prefix + "positions"] = std::move(positions);
  into[prefix + "pads"] = std::move(pads);
  into[prefix + "past"] = std::move(past);
  into[prefix + "total"] = std::move(used);
  into[prefix + "image_rows"] = std::move(imageRows);
}

StepInputs::StepInputs(int64_t rows, const std::string &prefix, TensorMap &into)
    : rows(rows), ids(integers({rows, 1})), lengths(integers({rows})), positions(integers({3, rows, 1})),
      past(integers({rows})), total(integers({1})) {
  const std::string suffix = "@gen";
  into[prefix + "ids" + suffix] = ids;
  into[prefix + "lengths" + suffix] = lengths;
  into[prefix + "positions" + suffix] = positions;
  into[prefix + "pads" + suffix] = integers({rows});
  into[prefix + "past" + suffix] = past;
  into[prefix + "total" + suffix] = total;
}

void StepInputs::set(int64_t row, int64_t token, const Position &position, int64_t before, bool ended) {
  ids.as<int64_t>()[row] = ended ? 0 : token;
  lengths.as<int64_t>()[row] = ended ? 0 : 1;
  past.as<int64_t>()[row] = before;
  for (int64_t axis = 0; axis < 3; ++axis)
    positions.as<int64_t>()[axis * rows + row] = ended ? 0 : position[size_t(axis)];
}

void StepInputs::finish() {
  int64_t most = smallest;
  for (int64_t b = 0; b < rows; ++b)
    most = std::max(most, past.as<int64_t>()[b] + lengths.as<int64_t>()[b]);
  *total.as<int64_t>() = most;
}

} // namespace nnterp
