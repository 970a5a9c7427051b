// Calls of a run as tables see them: which of a row's tokens are in one, and where.
#pragma once

#include "frontend/plan/Region.h"
#include "frontend/plan/RunBuffers.h"

namespace nnterp {

/// One world's rows in one call.
struct RowsInCall {
  const InputRows *input = nullptr;
  Call call;
  std::vector<RowWindow> windows;  ///< by row
  std::vector<int64_t> endedAt;    ///< by row: the first generated token that was not fed, or `never`
  int64_t tokens = 1;              ///< extent of the call's token axes
  int64_t keys = 1;                ///< extent of its key axes: the longest row with all that came before

  static constexpr int64_t never = INT64_MAX;

  void start(const InputRows &input);
  /// Moves on to a call; `columns`: of the padded prompt. `ended`: rows that have ended, null for none.
  void enter(const Call &next, int64_t columns, const std::vector<bool> *ended);

  bool ended(int64_t row) const { return endedAt[size_t(row)] != never; }
  /// Where a token stands in the call's values, or -1. Positions as in RegionAxis.
  int64_t token(int64_t row, int64_t position) const {
    const RowWindow &window = windows[size_t(row)];
    int64_t index = position - window.past;
    return index >= 0 && index < window.length ? index : -1;
  }
  /// Where a key stands: behind what was loaded; -1 where it is not there yet.
  int64_t key(int64_t row, int64_t position) const {
    const RowWindow &window = windows[size_t(row)];
    return position < window.past + window.length ? position + input->loaded[size_t(row)] : -1;
  }
  /// Whether a place of the prompt is in this call.
  bool holds(Place place) const { return place == Place::promptStart ? call.first : call.last; }
};

/// Columns of the padded prompt: those of the widest input.
int64_t promptColumns(const RunInfo &run);
/// The part of a row of `length` tokens that is in columns [begin, end).
RowWindow windowOf(int64_t length, int64_t columns, int64_t begin, int64_t end);

} // namespace nnterp
