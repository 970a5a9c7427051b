// The mixture of experts with its gated shared expert (spec/qwen3_5_moe.md 3.6, 7.6).
#include "tools/nnterp/verify/Check.h"

#include <algorithm>
#include <numeric>

namespace nnterp::verify {

namespace {

void mixtureSum(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues routed(run, atBlock(i, "mlp.routed_output")), shared(run, atBlock(i, "mlp.shared_expert_output")),
        output(run, atBlock(i, "mlp.mlp_output"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice r = routed(row, token), s = shared(row, token);
      f.exact(output, row, token, output(row, token), [&](int64_t k) { return e.rounded(r.f(k) + s.f(k)); });
    });
  }
}

/// Slots are added left to right.
void slotSums(const Evidence &e, const RunView &run, Findings &f) {
  const int64_t K = e.config().expertsPerToken, C = e.config().hiddenSize;
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues slots(run, atBlock(i, "mlp.expert_outputs")), routed(run, atBlock(i, "mlp.routed_output"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice o = slots(row, token);
      f.exact(routed, row, token, routed(row, token), [&](int64_t k) {
        float sum = 0;
        for (int64_t slot = 0; slot < K; ++slot)
          sum += o.f(slot * C + k);
        return e.rounded(sum);
      });
    });
  }
}

void slotSum(const Evidence &e, Findings &f) { slotSums(e, e.run(RunKind::values), f); }

std::vector<double> softmax(const TokenSlice &logits) {
  std::vector<double> p(size_t(logits.count()));
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (size_t k = 0; k < p.size(); ++k)
    top = std::max(top, logits.at(int64_t(k)));
  for (size_t k = 0; k < p.size(); ++k)
    sum += p[k] = std::exp(logits.at(int64_t(k)) - top);
  for (double &x : p)
    x /= sum;
  return p;
}

/// Indices are those of the K largest probabilities, largest first (up to rounding: near ties may stand either way),
/// weights are these, renormalised, and add up to 1.
void topWeights(const Evidence &e, const RunView &run, Findings &f) {
  const int64_t K = e.config().expertsPerToken, E = e.config().numExperts;
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues logits(run, atBlock(i, "mlp.router_logits")), indices(run, atBlock(i, "mlp.expert_indices")),
        weights(run, atBlock(i, "mlp.expert_weights"));
    run.eachToken([&](int64_t row, int64_t token) {
      const std::vector<double> p = softmax(logits(row, token));
      std::vector<double> sorted = p;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      const TokenSlice index = indices(row, token), weight = weights(row, token);
      double chosen = 0, sum = 0;
      std::vector<bool> seen(static_cast<size_t>(E));
      for (int64_t k = 0; k < K; ++k) {
        const auto expert = int64_t(index.at(k));
        const bool fits = expert >= 0 && expert < E && !seen[size_t(expert)];
        f.require(fits, indices.name + ", row " + std::to_string(row) + ", token " + std::to_string(token) +
                            ": expected " + std::to_string(K) + " different experts, found " + std::to_string(expert) +
                            " in slot " + std::to_string(k));
        if (!fits)
          return;
        seen[size_t(expert)] = true;
        f.number(logits.name, row, token, expert, p[size_t(expert)], sorted[size_t(k)], 1e-6);
        chosen += p[size_t(expert)];
      }
      for (int64_t k = 0; k < K; ++k)
        sum += weight.at(k);
      f.within(weights, row, token, weight, e.tolerance(), [&](int64_t k) { return p[size_t(index.at(k))] / chosen; });
      f.number("sum of " + weights.name, row, token, 0, sum, 1, e.tolerance());
    });
  }
}

void expertWeights(const Evidence &e, Findings &f) { topWeights(e, e.run(RunKind::values), f); }

/// The sigmoid as the model has it is what comes out when 1 goes in.
void sharedGate(const Evidence &e, Findings &f) {
  const RunView base = e.run(RunKind::edited, 0, "base"), edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues gate(base, atBlock(i, "mlp.shared_expert_gate.output")),
        in(base, atBlock(i, "mlp.shared_experts.mlp_output")), out(base, atBlock(i, "mlp.shared_expert_output")),
        ones(edited, atBlock(i, "mlp.shared_expert_output@before"));
    base.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice x = in(row, token), sigmoid = ones(row, token);
      const double expected = 1 / (1 + std::exp(-gate(row, token).at(0)));
      f.within(ones, row, token, sigmoid, e.sigmoidTolerance(), [&](int64_t) { return expected; });
      f.exact(out, row, token, out(row, token), [&](int64_t k) { return e.rounded(x.f(k) * sigmoid.f(k)); });
    });
  }
}

void sharedNeurons(const Evidence &e, Findings &f) {
  const RunView run = e.run(RunKind::values);
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues activation(run, atBlock(i, "mlp.shared_experts.mlp_activation")),
        up(run, atBlock(i, "mlp.shared_experts.up_proj.output")),
        neurons(run, atBlock(i, "mlp.shared_experts.mlp_neurons"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice a = activation(row, token), u = up(row, token);
      f.exact(neurons, row, token, neurons(row, token), [&](int64_t k) { return e.rounded(a.f(k) * u.f(k)); });
    });
  }
}

/// Whether a slice has a number other than 0.
bool speaks(const TokenSlice &slice) {
  for (int64_t k = 0; k < slice.count(); ++k)
    if (slice.at(k) != 0)
      return true;
  return false;
}

void sharedOff(const Evidence &e, Findings &f) {
  const RunView base = e.run(RunKind::edited, 0, "base"), edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::every)) {
    const TokenValues before(base, atBlock(i, "mlp.shared_expert_output")),
        shared(edited, atBlock(i, "mlp.shared_expert_output")), routed(edited, atBlock(i, "mlp.routed_output")),
        output(edited, atBlock(i, "mlp.mlp_output"));
    bool spoke = false;
    edited.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice r = routed(row, token);
      spoke = spoke || speaks(before(row, token));
      f.exact(shared, row, token, shared(row, token), [](int64_t) { return 0; });
      f.exact(output, row, token, output(row, token), [&](int64_t k) { return r.at(k); });
    });
    f.require(spoke, before.name + ": expected numbers other than 0 without the edit, found none");
  }
}

void expertOff(const Evidence &e, Findings &f) {
  const int64_t K = e.config().expertsPerToken;
  const RunView base = e.run(RunKind::edited, 0, "base"), edited = e.run(RunKind::edited, 0, "edited");
  for (int64_t i : e.blocks(BlockSet::every)) {
    const int64_t dropped = e.expert(i);
    const TokenValues indices(base, atBlock(i, "mlp.expert_indices")),
        editedIndices(edited, atBlock(i, "mlp.expert_indices")), weights(base, atBlock(i, "mlp.expert_weights")),
        editedWeights(edited, atBlock(i, "mlp.expert_weights")), outputs(base, atBlock(i, "mlp.expert_outputs")),
        editedOutputs(edited, atBlock(i, "mlp.expert_outputs"));
    int64_t slots = 0;
    base.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice index = indices(row, token), weight = weights(row, token), output = outputs(row, token);
      f.same(editedIndices, row, token, editedIndices(row, token), index);
      for (int64_t k = 0; k < K; ++k) {
        const TokenSlice w = editedWeights(row, token).part(k, K), o = editedOutputs(row, token).part(k, K);
        if (int64_t(index.at(k)) != dropped) {
          f.same(editedWeights, row, token, w, weight.part(k, K));
          f.same(editedOutputs, row, token, o, output.part(k, K));
          continue;
        }
        ++slots;
        f.exact(editedWeights, row, token, w, [](int64_t) { return 0; });
        f.exact(editedOutputs, row, token, o, [](int64_t) { return 0; });
      }
    });
    f.require(slots > 0,
              indices.name + ": expected that some token has expert " + std::to_string(dropped) + ", found none");
  }
  slotSums(e, edited, f);
}

void reroute(const Evidence &e, Findings &f) {
  if (e.config().numExperts <= e.config().expertsPerToken)
    return f.skip("every token has every expert");
  const RunView run = e.run(RunKind::rerouted, 0, "main");
  const double lowest = e.dtype() == DType::bf16 ? toFloat(0xff7f, DType::bf16) : std::numeric_limits<float>::lowest();
  const auto K = size_t(e.config().expertsPerToken);
  int64_t touched = 0;
  for (int64_t i : e.blocks(BlockSet::every)) {
    const int64_t expert = e.expert(i);
    const TokenValues before(run, atBlock(i, "mlp.router_logits@before")), after(run, atBlock(i, "mlp.router_logits")),
        indices(run, atBlock(i, "mlp.expert_indices"));
    run.eachToken([&](int64_t row, int64_t token) {
      const TokenSlice b = before(row, token), index = indices(row, token);
      f.exact(after, row, token, after(row, token), [&](int64_t k) { return k == expert ? lowest : b.at(k); });
      int64_t above = 0;
      for (int64_t k = 0; k < b.count(); ++k)
        above += b.at(k) > b.at(expert);
      touched += size_t(above) < K;
      for (int64_t k = 0; k < index.count(); ++k)
        f.require(int64_t(index.at(k)) != expert, indices.name + ", row " + std::to_string(row) + ", token " +
                                                      std::to_string(token) + ": expected any expert but " +
                                                      std::to_string(expert) + ", found it in slot " +
                                                      std::to_string(k));
    });
  }
  f.require(touched > 0, "expected that some token would have had the rerouted expert, found none");
  topWeights(e, run, f);
  slotSums(e, run, f);
}

} // namespace

std::vector<Check> mixtureChecks() {
  return {
      {"mixture-sum",
       "routed_output + shared_expert_output == mlp_output",
       BlockSet::every,
       {RunKind::values},
       mixtureSum},
      {"slot-sum",
       "expert_outputs, added in the order of slots, are routed_output",
       BlockSet::every,
       {RunKind::values},
       slotSum},
      {"expert-weights",
       "expert_weights are the top-k of softmax(router_logits), renormalised, and sum to 1",
       BlockSet::every,
       {RunKind::values},
       expertWeights},
      {"shared-gate",
       "sigmoid(shared_expert_gate.output) * shared_experts.mlp_output == shared_expert_output",
       BlockSet::every,
       {RunKind::edited},
       sharedGate},
      {"shared-neurons",
       "mlp_activation * up_proj.output == mlp_neurons in the shared expert",
       BlockSet::every,
       {RunKind::values},
       sharedNeurons},
      {"shared-off",
       "zeroing shared_expert_output removes it whole: mlp_output is routed_output",
       BlockSet::every,
       {RunKind::edited},
       sharedOff},
      {"expert-off",
       "one expert's weight zeroed leaves all other slots as they are",
       BlockSet::every,
       {RunKind::edited},
       expertOff},
      {"reroute",
       "an expert forbidden through router_logits gives its slot to the next best",
       BlockSet::every,
       {RunKind::rerouted},
       reroute},
  };
}

} // namespace nnterp::verify
