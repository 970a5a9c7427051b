// What concerns a run's entries together: into which calls the prompt may be cut, and what the user is told.
#include "frontend/plan/RunBuffersMaker.h"

#include <algorithm>

namespace nnterp {

// -- calls --

void RunBuffers::Maker::makeCalls() {
  RunInfo whole = run;
  whole.chunk = 0;
  result.calls = nnterp::promptCalls(resolved.shape.resume ? run : whole);
  int64_t calls = int64_t(result.calls.size());
  auto callOf = [&](const InputRows &input, int64_t row, int64_t position) {
    int64_t pads = state.columns - input.lengths[size_t(row)];
    return position < 0 ? -1 : (pads + position) / run.chunk;
  };
  const char *once = ": the prompt runs as one call";
  auto join = [&](const SourceLoc &loc, const std::string &why) {
    if (result.calls.size() > 1)
      diags.note(loc, why + once);
    result.calls = nnterp::promptCalls(whole);
  };
  for (const SourcePair &pair : state.pairs) {
    if (calls < 2)
      break;
    const SourceLoc &loc = readers.at(&pair)->loc;
    if (pair.readsAcross(callOf, calls))
      join(loc, "this source is read across chunks");
    else if (pair.keepsEarly(callOf, calls))
      join(loc, "this source is read by generated tokens and lies before the last chunk");
  }
  for (const TapSpec &tap : resolved.taps)
    if (tap.gather.layout == Layout::Sizes && calls > 1)
      join(plan.taps[tap.entry].loc, tap.gather.point + " is of the whole prompt");
}

// -- notes --

void RunBuffers::Maker::noteTokens() {
  std::map<std::pair<size_t, std::string>, std::vector<std::string>> touched; // points by entry and world
  for (const EditSpec &edit : resolved.edits) {
    if (!isRouting(edit.op))
      continue;
    std::vector<std::string> &points = touched[{edit.entry, edit.world}];
    if (std::find(points.begin(), points.end(), edit.point) == points.end())
      points.push_back(edit.point);
  }
  for (const auto &[key, points] : touched) {
    const auto &[entry, worldName] = key;
    const Region &region = state.edits.at({entry, world(worldName).input});
    int64_t tokens = 0;
    for (size_t rank = 0; rank < region.rows.size(); ++rank)
      tokens += region.wholeCount(1, rank);
    std::string most = region.steps.empty() ? "" : "up to "; // rows may end before
    std::string where = points.size() == 1 ? " at " + resolved.prefix(worldName) + points[0]
                                           : " in each of " + count(int64_t(points.size()), "block") +
                                                 (resolved.declaresWorlds ? " of world \"" + worldName + "\"" : "");
    diags.note(plan.edits[entry].loc,
               "\"" + std::string(name(plan.edits[entry].op)) + "\" touches " + most + count(tokens, "token") + where);
  }
}

void RunBuffers::Maker::noteEmptyTaps() {
  std::set<std::pair<size_t, std::string>> said;
  for (const TapSpec &tap : resolved.taps) {
    const Region &region = state.taps.at({tap.entry, world(tap.gather.world).input});
    if (region.live(Phase::prompt) || region.live(Phase::gen) || !said.emplace(tap.entry, tap.gather.world).second)
      continue;
    diags.note(plan.taps[tap.entry].loc, "this tap of " + resolved.prefix(tap.gather.world) + tap.gather.point +
                                             " selects nothing in any row and is not written");
  }
}

} // namespace nnterp
