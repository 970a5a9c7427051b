// The residual stream, values with two names, and what comes out of the head (spec/qwen3_5_moe.md 7.2, 7.3, 7.8).
#include "tools/nnterp/verify/Check.h"

#include <algorithm>

namespace nnterp::verify {

namespace {

std::string mixer(const Evidence &e, int64_t block) {
  return atBlock(block, e.config().isFull(block) ? "self_attn.attention_output" : "linear_attn.attention_output");
}

void blockSum(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues input(run, atBlock(i, "layer_input")), mixed(run, mixer(e, i)), mid(run, atBlock(i, "layer_mid")),
        mixture(run, atBlock(i, "mlp.mlp_output")), output(run, atBlock(i, "layer_output"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice x = input(row, token), m = mixed(row, token), moe = mixture(row, token);
      auto sum = [&](int64_t k) { return e.rounded(x.f(k) + m.f(k)); };
      f.exact(mid, row, token, mid(row, token), sum);
      f.exact(output, row, token, output(row, token), [&](int64_t k) { return e.rounded(sum(k) + moe.f(k)); });
    });
  }
}

void sameValue(const RunView &run, const std::string &a, const std::string &b, Findings &f) {
  const TokenValues first(run, a), second(run, b);
  int64_t seen = 0;
  run.eachToken([&](int64_t row, int64_t token) {
    const TokenSlice value = second(row, token);
    if (value.count() == 0) // past keys and values are there behind the prompt alone
      return;
    ++seen;
    f.same(second, row, token, value, first(row, token));
  });
  f.require(seen > 0, b + ": expected " + a + ", found no value");
}

void samePoints(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  const std::vector<int64_t> blocks = e.blocks(BlockSet::every);
  const int64_t last = e.config().numLayers - 1;
  for (int64_t i : blocks) {
    auto same = [&](const char *a, const std::string &b) { sameValue(run, atBlock(i, a), atBlock(i, b), f); };
    if (i == 0)
      sameValue(run, "token_embeddings", atBlock(0, "layer_input"), f);
    if (i == last)
      sameValue(run, atBlock(last, "layer_output"), "norm.input", f);
    if (std::find(blocks.begin(), blocks.end(), i + 1) != blocks.end())
      sameValue(run, atBlock(i, "layer_output"), atBlock(i + 1, "layer_input"), f);
    same("layer_input", "input_layernorm.input");
    same("layer_mid", "post_attention_layernorm.input");
    same("mlp_norm_output", "mlp_input");
    for (const char *reader : {"router", "experts", "shared_experts", "shared_expert_gate", "shared_experts.gate_proj",
                               "shared_experts.up_proj"})
      same("mlp_input", std::string("mlp.") + reader + ".input");
    if (e.config().isFull(i)) {
      for (const char *reader : {"q", "k", "v"})
        same("attention_norm_output", std::string("self_attn.") + reader + "_proj.input");
      same("self_attn.k_proj.output", "self_attn.k_norm.input");
      same("self_attn.attention_premix", "self_attn.o_proj.input"); // heads side by side are the projection's channels
      same("self_attn.attention_keys", "self_attn.past_keys");
      same("self_attn.attention_values", "self_attn.past_values");
    } else {
      for (const char *reader : {"qkv", "z", "a", "b"})
        same("attention_norm_output", std::string("linear_attn.in_proj_") + reader + ".input");
      same("linear_attn.in_proj_qkv.output", "linear_attn.conv1d.input");
      same("linear_attn.attention_head_outputs", "linear_attn.norm.input");
      same("linear_attn.norm.output", "linear_attn.out_proj.input");
    }
  }
  sameValue(run, "final_norm_output", "lm_head.input", f);
  sameValue(run, "lm_head_output", "logits", f);
}

void finite(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  for (const std::string &name : run.names()) {
    const TokenValues values(run, name);
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice slice = values(row, token);
      int64_t bad = 0;
      for (int64_t k = 0; k < slice.count(); ++k)
        bad += !std::isfinite(slice.at(k));
      f.require(bad == 0, name + ", row " + std::to_string(row) + ", token " + std::to_string(token) +
                              ": expected finite numbers, " + std::to_string(bad) + " of " +
                              std::to_string(slice.count()) + " are not");
    });
  }
}

void nextTokens(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  const TokenValues logits(run, "logits"), next(run, "next_token_probs");
  const Tensor &tokens = *run.tensor("tokens");
  for (int64_t row = 0; row < run.rows(); ++row)
    for (int64_t token = run.promptEnd(row) - 1; token < run.end(row); ++token) {
      const TokenSlice l = logits(row, token);
      double top = -std::numeric_limits<double>::infinity(), sum = 0;
      int64_t likeliest = 0;
      for (int64_t k = 0; k < l.count(); ++k)
        if (l.at(k) > top) {
          top = l.at(k);
          likeliest = k;
        }
      for (int64_t k = 0; k < l.count(); ++k)
        sum += std::exp(l.at(k) - top);
      f.within(next, row, token, next(row, token), e.tolerance(),
               [&](int64_t k) { return std::exp(l.at(k) - top) / sum; });
      const int64_t step = token - run.promptEnd(row) + 1;
      f.number("tokens", row, token, step, tokens.at(row * tokens.shape[1] + step), double(likeliest), 0);
    }
}

} // namespace

std::vector<Check> streamChecks() {
  return {
      {"finite", "every value is a finite number", BlockSet::every, {RunKind::values}, finite},
      {"block-sum",
       "(layer_input + attention_output) + mlp_output == layer_output, and layer_mid is the first sum",
       BlockSet::every,
       {RunKind::values},
       blockSum},
      {"same-points",
       "points with nothing between them hold the same bytes",
       BlockSet::every,
       {RunKind::values},
       samePoints},
      {"next-token",
       "next_token_probs is the softmax of logits, and the greedy token its largest",
       BlockSet::none,
       {RunKind::values},
       nextTokens},
  };
}

} // namespace nnterp::verify
