// Full attention with gated heads (spec/qwen3_5_moe.md 3.3, 3.4, 7.5).
#include "tools/nnterp/verify/Check.h"

namespace nnterp::verify {

namespace {

void rotaryTail(const Evidence &e, Findings &f) {
  const int64_t D = e.config().headDim, R = e.config().rotaryDims;
  if (R == D)
    return f.skip("every dim of a head is rotated");
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::full))
    for (const auto &[heads, rotated, normed] :
         {std::tuple{e.config().numHeads, "self_attn.attention_queries", "self_attn.q_norm.output"},
          std::tuple{e.config().numKvHeads, "self_attn.attention_keys", "self_attn.k_norm.output"}}) {
      const TokenValues turned(run, atBlock(i, rotated)), straight(run, atBlock(i, normed));
      int64_t turnedDims = 0;
      run.eachToken([&](int64_t row, int64_t token) {
        const TokenSlice q = turned(row, token), n = straight(row, token);
        f.require(q.count() == heads * D,
                  turned.name + ": expected " + std::to_string(heads) + " heads of " + std::to_string(D) + " numbers");
        for (int64_t k = 0; k < q.count(); ++k)
          if (k % D >= R)
            f.number(turned.name, row, token, k, q.at(k), n.at(k), 0);
          else
            turnedDims += q.at(k) != n.at(k);
      });
      f.require(turnedDims > 0, turned.name + ": expected the first dims of each head rotated, found none that is");
    }
}

/// Element of q_proj.output that is the query (`half` 0) or gate (1) of element k of all heads side by side.
int64_t projected(int64_t k, int64_t D, int64_t half) { return k / D * 2 * D + half * D + k % D; }

/// The sigmoid as the model has it is what comes out when 1 goes in.
void queryAndGate(const Evidence &e, Findings &f) {
  const int64_t D = e.config().headDim;
  const RunView run = e.run(RunKind::values), base = e.run(RunKind::edited, 0, "base"),
                edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::full)) {
    const TokenValues both(run, atBlock(i, "self_attn.q_proj.output")),
        query(run, atBlock(i, "self_attn.q_norm.input"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice p = both(row, token);
      f.exact(query, row, token, query(row, token), [&](int64_t k) { return p.at(projected(k, D, 0)); });
    });
    const TokenValues gates(base, both.name), ones(edited, atBlock(i, "self_attn.attention_premix"));
    base.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice p = gates(row, token);
      f.within(ones, row, token, ones(row, token), e.sigmoidTolerance(),
               [&](int64_t k) { return 1 / (1 + std::exp(-p.at(projected(k, D, 1)))); });
    });
  }
}

void gatedHeads(const Evidence &e, Findings &f) {
  const RunView base = e.run(RunKind::edited, 0, "base"), edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::full)) {
    const TokenValues heads(base, atBlock(i, "self_attn.attention_head_outputs")),
        premix(base, atBlock(i, "self_attn.attention_premix")), ones(edited, premix.name);
    base.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice h = heads(row, token), sigmoid = ones(row, token);
      f.exact(premix, row, token, premix(row, token), [&](int64_t k) { return e.rounded(h.f(k) * sigmoid.f(k)); });
    });
  }
}

void attentionSoftmax(const Evidence &e, Findings &f) {
  const int64_t N = e.config().numHeads;
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::full)) {
    const TokenValues scores(run, atBlock(i, "self_attn.attention_scores")),
        probabilities(run, atBlock(i, "self_attn.attention_probabilities"));
    run.eachToken([&](int64_t row, int64_t token) {
      for (int64_t head = 0; head < N; ++head) {
        const TokenSlice s = scores(row, token).part(head, N);
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t k = 0; k < s.count(); ++k)
          top = std::max(top, s.at(k));
        for (int64_t k = 0; k < s.count(); ++k)
          sum += std::exp(s.at(k) - top);
        f.within(probabilities, row, token, probabilities(row, token).part(head, N), e.tolerance(),
                 [&](int64_t k) { return std::exp(s.at(k) - top) / sum; });
      }
    });
  }
}

void laterKeys(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  const double lowest = e.dtype() == DType::bf16 ? toFloat(0xff7f, DType::bf16) : std::numeric_limits<float>::lowest();
  for (int64_t i : e.blocks(BlockSet::full)) {
    const TokenValues scores(run, atBlock(i, "self_attn.attention_scores")),
        probabilities(run, atBlock(i, "self_attn.attention_probabilities"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice s = scores.laterKeys(row, token), p = probabilities.laterKeys(row, token);
      for (int64_t k = 0; k < s.count(); ++k) {
        f.number(scores.name + " (later keys)", row, token, k, s.at(k), lowest, 0);
        f.number(probabilities.name + " (later keys)", row, token, k, p.at(k), 0, 0);
      }
    });
  }
}

/// Keys of zero make scores of zero, values of zero mix to zero.
void keyValueHeads(const Evidence &e, Findings &f) {
  const int64_t N = e.config().numHeads, group = N / e.config().numKvHeads, reached = e.config().numKvHeads - 1;
  const RunView base = e.run(RunKind::edited, 0, "base"), edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::full)) {
    const TokenValues scores(base, atBlock(i, "self_attn.attention_scores")), editedScores(edited, scores.name),
        heads(base, atBlock(i, "self_attn.attention_head_outputs")), editedHeads(edited, heads.name + "@before");
    bool spoke = false;
    base.eachToken([&](int64_t row, int64_t token) {
      for (int64_t head = 0; head < N; ++head) {
        const TokenSlice s = editedScores(row, token).part(head, N), h = editedHeads(row, token).part(head, N),
                         was = heads(row, token).part(head, N);
        if (head / group != reached) {
          f.same(editedScores, row, token, s, scores(row, token).part(head, N));
          f.same(editedHeads, row, token, h, was);
          continue;
        }
        f.exact(editedScores, row, token, s, [](int64_t) { return 0; });
        f.exact(editedHeads, row, token, h, [](int64_t) { return 0; });
        for (int64_t k = 0; k < was.count(); ++k)
          spoke = spoke || was.at(k) != 0;
      }
    });
    f.require(spoke, heads.name + ": expected numbers other than 0 without the edit, found none");
  }
}

} // namespace

std::vector<Check> attentionChecks() {
  return {
      {"rotary-tail",
       "attention_queries[..., R:] == q_norm.output[..., R:], and keys likewise",
       BlockSet::full,
       {RunKind::values},
       rotaryTail},
      {"query-and-gate",
       "q_proj.output holds, per head, the query and then the gate",
       BlockSet::full,
       {RunKind::values, RunKind::edited},
       queryAndGate},
      {"gated-heads",
       "attention_head_outputs * sigmoid(gate) == attention_premix",
       BlockSet::full,
       {RunKind::edited},
       gatedHeads},
      {"attention-softmax",
       "attention_probabilities are the softmax of attention_scores",
       BlockSet::full,
       {RunKind::values},
       attentionSoftmax},
      {"later-keys",
       "no query has a score or probability at a later key",
       BlockSet::full,
       {RunKind::values},
       laterKeys},
      {"key-value-heads",
       "key/value head j reaches its N/NK query heads and no other",
       BlockSet::full,
       {RunKind::edited},
       keyValueHeads},
  };
}

} // namespace nnterp::verify
