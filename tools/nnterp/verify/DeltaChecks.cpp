// Gated DeltaNet: heads, states and the memory of the convolution (spec/qwen3_5_moe.md 3.5, 4.2, 7.4).
#include "tools/nnterp/verify/Check.h"
#include "tools/nnterp/verify/EditPlans.h"

namespace nnterp::verify {

namespace {

void headCopies(const Evidence &e, Findings &f) {
  const int64_t H = e.config().linearValueHeads, copies = H / e.config().linearKeyHeads;
  if (copies == 1)
    return f.skip("each key head serves one value head");
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::linear))
    for (const char *name : {"linear_attn.attention_queries", "linear_attn.attention_keys"}) {
      const TokenValues heads(run, atBlock(i, name));
      run.eachToken([&](int64_t row, int64_t token) {
        for (int64_t head = 0; head < H; ++head)
          f.same(heads, row, token, heads(row, token).part(head, H), heads(row, token).part(head - head % copies, H));
      });
    }
}

/// Keys of zero leave a head's state, which starts from zero, at zero.
void copiedHead(const Evidence &e, Findings &f) {
  const int64_t H = e.config().linearValueHeads, reached = editTargets(e.config(), {}).copiedHead;
  const RunView base = e.run(RunKind::edited, 0, "base"), edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::linear))
    for (const char *name : {"linear_attn.attention_head_outputs", "linear_attn.state_output"}) {
      const TokenValues was(base, atBlock(i, name)), is(edited, was.name);
      bool spoke = false;
      base.eachToken([&](int64_t row, int64_t token) {
        for (int64_t head = 0; head < H && was.has(row, token); ++head) {
          const TokenSlice before = was(row, token).part(head, H), after = is(row, token).part(head, H);
          if (head != reached) {
            f.same(is, row, token, after, before);
            continue;
          }
          f.exact(is, row, token, after, [](int64_t) { return 0; });
          for (int64_t k = 0; k < before.count(); ++k)
            spoke = spoke || before.at(k) != 0;
        }
      });
      f.require(spoke, was.name + ": expected numbers other than 0 without the edit, found none");
    }
}

void lastState(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::linear)) {
    const TokenValues states(run, atBlock(i, "linear_attn.states")),
        output(run, atBlock(i, "linear_attn.state_output")), input(run, atBlock(i, "linear_attn.state_input"));
    for (int64_t row = 0; row < run.rows(); ++row) {
      f.exact(input, row, 0, input(row, 0), [](int64_t) { return 0; });
      for (int64_t token = run.promptEnd(row) - 1; token < run.end(row); ++token) {
        f.same(output, row, token, output(row, token), states(row, token), e.cutTolerance());
        if (token >= run.promptEnd(row))
          f.same(input, row, token, input(row, token), states(row, token - 1), e.cutTolerance());
      }
    }
  }
}

void convMemory(const Evidence &e, Findings &f) {
  const int64_t KW = e.config().convKernel;
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::linear)) {
    const TokenValues memory(run, atBlock(i, "linear_attn.conv_state")),
        projected(run, atBlock(i, "linear_attn.in_proj_qkv.output"));
    for (int64_t row = 0; row < run.rows(); ++row)
      for (int64_t token = run.promptEnd(row) - 1; token < run.end(row); ++token) {
        std::vector<TokenSlice> window;
        for (int64_t w = 0; w < KW; ++w)
          window.push_back(projected(row, token - KW + 1 + w));
        f.exact(memory, row, token, memory(row, token),
                [&](int64_t k) { return token - KW + 1 + k % KW < 0 ? 0 : window[size_t(k % KW)].at(k / KW); });
      }
  }
}

} // namespace

std::vector<Check> deltaChecks() {
  return {
      {"head-copies",
       "queries and keys of the value heads that share a key head are copies",
       BlockSet::linear,
       {RunKind::values},
       headCopies},
      {"copied-head",
       "an edit of one copy of a key head moves its value head alone",
       BlockSet::linear,
       {RunKind::edited},
       copiedHead},
      {"last-state",
       "the last of states is state_output, which the next token starts from",
       BlockSet::linear,
       {RunKind::values},
       lastState},
      {"conv-memory",
       "conv_state holds the last inputs of the convolution, zeros before the first",
       BlockSet::linear,
       {RunKind::values},
       convMemory},
  };
}

} // namespace nnterp::verify
