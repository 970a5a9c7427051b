// What must not change a bit: other taps, neighbours, pads, a state on disk, on the CPU also caches and pieces
// (spec/plan.md 1, design.md 7).
#include "tools/nnterp/verify/Check.h"
#include "tools/nnterp/verify/CompareRuns.h"

#include <algorithm>
#include <cstring>

namespace nnterp::verify {

namespace {

void judgeTaps(const Evidence &e, Findings &f) {
  sameRows(e.run(RunKind::logits), e.run(RunKind::values), f);
  sameTokens(e.run(RunKind::logits), e.run(RunKind::values), 0, f);
}

void judgeOrder(const Evidence &e, Findings &f) { sameRows(e.run(RunKind::order), e.run(RunKind::whole), f); }

void judgeAgain(const Evidence &e, Findings &f) {
  const auto &first = e.result(RunKind::values).outputs, &second = e.result(RunKind::again).outputs;
  f.require(first.size() == second.size(),
            "expected " + std::to_string(first.size()) + " tensors, found " + std::to_string(second.size()));
  for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
    const Tensor &a = second[i].second, &b = first[i].second;
    f.require(second[i].first == first[i].first && a.dtype == b.dtype && a.shape == b.shape &&
                  std::memcmp(a.data, b.data, a.bytes()) == 0,
              first[i].first + ": expected the same bytes in the second run, found others");
  }
}

void judgePadding(const Evidence &e, Findings &f) { sameRows(e.run(RunKind::padded), e.run(RunKind::whole), f); }

void judgeBatch(const Evidence &e, Findings &f) {
  const RunView together = e.run(RunKind::whole);
  for (int64_t row = 0; row < together.rows(); ++row)
    sameRow(e.run(RunKind::alone, size_t(row)), 0, together, row, f);
}

/// A state behind a token is also what `states` has there.
void judgeCache(const Evidence &e, Findings &f) {
  const RunView steps = e.run(RunKind::values), whole = e.run(RunKind::whole);
  sameRows(whole, steps, f, e.cutTolerance());
  for (int64_t i : e.blocks(BlockSet::linear)) {
    const TokenValues states(whole, atBlock(i, "linear_attn.states")),
        output(steps, atBlock(i, "linear_attn.state_output")), input(steps, atBlock(i, "linear_attn.state_input"));
    for (int64_t row = 0; row < steps.rows(); ++row)
      for (int64_t token = steps.promptEnd(row); token < whole.end(row); ++token) {
        f.same(output, row, token, output(row, token), states(row, token), e.cutTolerance());
        f.same(input, row, token, input(row, token), states(row, token - 1), e.cutTolerance());
      }
  }
}

void judgeChunks(const Evidence &e, Findings &f) {
  sameRows(e.run(RunKind::chunked), e.run(RunKind::values), f, e.cutTolerance());
  sameTokens(e.run(RunKind::chunked), e.run(RunKind::values), 0, f);
}

void judgeState(const Evidence &e, Findings &f) {
  sameRows(e.run(RunKind::continued), e.run(RunKind::values), f);
  sameTokens(e.run(RunKind::continued), e.run(RunKind::values), 1, f);
}

} // namespace

std::vector<Check> runChecks() {
  return {
      {"taps",
       "tapping everything leaves logits and tokens as they are when nothing else is tapped",
       BlockSet::none,
       {RunKind::values, RunKind::logits},
       judgeTaps},
      {"repeat",
       "the same run twice writes the same bytes",
       BlockSet::every,
       {RunKind::values, RunKind::again},
       judgeAgain},
      {"cache",
       "a prompt of n tokens and m cached steps equal a prompt of n + m tokens, at every name",
       BlockSet::every,
       {RunKind::values, RunKind::whole},
       judgeCache},
      {"chunks",
       "a prompt in pieces equals the prompt in one, at every name",
       BlockSet::every,
       {RunKind::values, RunKind::chunked},
       judgeChunks},
      {"state",
       "a saved and loaded state continues bit for bit, at every name",
       BlockSet::every,
       {RunKind::values, RunKind::continued},
       judgeState},
      {"order", "values may be asked for in any order", BlockSet::every, {RunKind::whole, RunKind::order}, judgeOrder},
      {"padding",
       "pads change nothing, at every name",
       BlockSet::every,
       {RunKind::whole, RunKind::padded},
       judgePadding},
      {"batch",
       "a row alone equals itself in the batch, at every name",
       BlockSet::every,
       {RunKind::whole, RunKind::alone},
       judgeBatch},
  };
}

} // namespace nnterp::verify
