// How a run is cut into calls.
#include "frontend/plan/RunBuffersCalls.h"

#include <algorithm>

namespace nnterp {

int64_t promptColumns(const RunInfo &run) {
  int64_t widest = 0;
  for (const auto &[name, input] : run.inputs)
    widest = std::max(widest, input.seq);
  return widest;
}

RowWindow windowOf(int64_t length, int64_t columns, int64_t begin, int64_t end) {
  int64_t pads = columns - length;
  int64_t past = std::clamp(begin - pads, int64_t(0), length);
  return {past, std::clamp(end - pads, int64_t(0), length) - past};
}

std::vector<Call> promptCalls(const RunInfo &run) {
  int64_t columns = promptColumns(run), chunk = run.chunk > 0 ? run.chunk : columns;
  std::vector<Call> calls;
  for (int64_t begin = 0; begin < columns; begin += chunk) {
    Call call;
    call.begin = begin;
    call.end = std::min(columns, begin + chunk);
    call.first = begin == 0;
    call.last = call.end == columns;
    calls.push_back(call);
  }
  return calls;
}

RowWindow rowWindow(const RunInfo &run, const std::string &input, int64_t row, const Call &call) {
  int64_t length = run.inputs.at(input).lengths.at(size_t(row));
  if (call.phase == Phase::gen)
    return {length + call.step, 1};
  return windowOf(length, promptColumns(run), call.begin, call.end);
}

void RowsInCall::start(const InputRows &rows) {
  input = &rows;
  windows.assign(rows.lengths.size(), {});
  endedAt.assign(rows.lengths.size(), never);
}

void RowsInCall::enter(const Call &next, int64_t columns, const std::vector<bool> *gone) {
  call = next;
  tokens = keys = 1; // no axis is empty: compiled programs need not know such
  for (size_t row = 0; row < windows.size(); ++row) {
    RowWindow &window = windows[row];
    int64_t length = input->lengths[row];
    if (call.phase == Phase::prompt) {
      window = windowOf(length, columns, call.begin, call.end);
      endedAt[row] = never;
    } else {
      bool over = gone && row < gone->size() && (*gone)[row];
      endedAt[row] = over ? std::min(endedAt[row], call.step) : never;
      window = {length + (over ? endedAt[row] : call.step), over ? 0 : 1};
    }
    tokens = std::max(tokens, window.length);
    keys = std::max(keys, input->loaded[row] + window.past + window.length);
  }
}

} // namespace nnterp
