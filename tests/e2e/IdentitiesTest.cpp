// The identities of spec/qwen3_5_moe.md 7.3 to 7.8 and 10, bitwise wherever the spec says exactly.
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// One model in one dtype, with every value of it tapped, on two rows of unequal length.
struct Everything {
  std::string checkpoint;
  DType dtype;
  RunResult result;
  Outputs values;
  const ModelConfig &config;

  static Setup setup(const std::string &checkpoint, DType dtype) {
    Setup s;
    s.checkpoint = checkpoint;
    s.dtype = dtype;
    s.plan = tapPlan(everyName(checkpoint));
    s.rows = someRows({5, 7}, 320);
    return s;
  }
  Everything(const std::string &checkpoint, DType dtype)
      : checkpoint(checkpoint), dtype(dtype), result(run(setup(checkpoint, dtype))), values(outputsOf(result)),
        config(result.prepared.config) {}

  const Tensor &operator()(const std::string &name) const {
    INFO(name);
    REQUIRE(values.count(name) == 1);
    return values.at(name);
  }
  const Tensor &operator()(int64_t block, const std::string &name) const {
    return (*this)("layers[" + std::to_string(block) + "]." + name);
  }
  float rounded(float x) const { return dtype == DType::bf16 ? toFloat(fromFloat(x, dtype), dtype) : x; }
  /// A tolerance for what is compared with another way to compute it: some units in the last place of numbers near 1.
  double tolerance() const { return dtype == DType::bf16 ? 1.0 / 128 : 1e-6; }
};

/// Runs `check` on every model and dtype; each is its own section. Every run is made once.
void onEveryModel(const std::function<void(const Everything &)> &check) {
  static std::map<std::pair<std::string, DType>, std::unique_ptr<const Everything>> known;
  for (const char *checkpoint : {"tiny-text", "tiny-heads", "toy"})
    for (DType dtype : {DType::f32, DType::bf16})
      DYNAMIC_SECTION(checkpoint << " in " << name(dtype)) {
        std::unique_ptr<const Everything> &everything = known[{checkpoint, dtype}];
        if (!everything)
          everything = std::make_unique<const Everything>(checkpoint, dtype);
        check(*everything);
      }
}

/// The same bytes in the same order, whatever the shapes.
bool sameElements(const Tensor &a, const Tensor &b) {
  return a.dtype == b.dtype && a.bytes() == b.bytes() && std::memcmp(a.data, b.data, a.bytes()) == 0;
}

/// How many elements of `t` differ from `expected(i)` as numbers.
template <class Expected> int64_t differing(const Tensor &t, Expected expected) {
  int64_t count = 0;
  for (int64_t i = 0; i < elementCount(t.shape); ++i)
    count += float(t.at(i)) != expected(i);
  return count;
}

float f(const Tensor &t, int64_t i) { return float(t.at(i)); }

/// Softmax over the last axis in double.
std::vector<double> softmax(const Tensor &t) {
  const int64_t width = t.shape.back();
  std::vector<double> p(size_t(elementCount(t.shape)));
  for (int64_t row = 0; row < int64_t(p.size()) / width; ++row) {
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < width; ++j)
      top = std::max(top, t.at(row * width + j));
    for (int64_t j = 0; j < width; ++j)
      sum += p[size_t(row * width + j)] = std::exp(t.at(row * width + j) - top);
    for (int64_t j = 0; j < width; ++j)
      p[size_t(row * width + j)] /= sum;
  }
  return p;
}

/// True where token `s` of row `b` is real: rows of five and seven tokens in a batch of seven.
bool real(int64_t b, int64_t s) { return b == 1 || s >= 2; }

} // namespace

TEST_CASE("a block is (layer_input + attention_output) + mlp_output, and layer_mid the first sum", "[identities]") {
  onEveryModel([](const Everything &v) {
    for (int64_t i = 0; i < v.config.numLayers; ++i) {
      INFO("block " << i);
      const Tensor &x = v(i, "layer_input"),
                   &m = v(i, v.config.isFull(i) ? "self_attn.attention_output" : "linear_attn.attention_output");
      const Tensor &mid = v(i, "layer_mid"), &mlp = v(i, "mlp.mlp_output");
      CHECK(differing(mid, [&](int64_t k) { return v.rounded(f(x, k) + f(m, k)); }) == 0);
      CHECK(differing(v(i, "layer_output"),
                      [&](int64_t k) { return v.rounded(v.rounded(f(x, k) + f(m, k)) + f(mlp, k)); }) == 0);
    }
  });
}

TEST_CASE("points with nothing between them hold the same bytes", "[identities]") {
  onEveryModel([](const Everything &v) {
    const int64_t last = v.config.numLayers - 1;
    CHECK(sameElements(v(0, "layer_input"), v("token_embeddings")));
    CHECK(sameElements(v(last, "layer_output"), v("norm.input")));
    CHECK(sameElements(v("final_norm_output"), v("lm_head.input")));
    CHECK(sameElements(v("lm_head_output"), v("logits")));
    for (int64_t i = 0; i <= last; ++i) {
      INFO("block " << i);
      auto same = [&](const char *a, const char *b) {
        INFO(a << " and " << b);
        CHECK(sameElements(v(i, a), v(i, b)));
      };
      if (i < last)
        CHECK(sameElements(v(i, "layer_output"), v(i + 1, "layer_input")));
      same("layer_input", "input_layernorm.input");
      same("layer_mid", "post_attention_layernorm.input");
      same("mlp_norm_output", "mlp_input");
      for (const char *reader : {"router", "experts", "shared_experts", "shared_expert_gate"})
        same("mlp_input", (std::string("mlp.") + reader + ".input").c_str());
      same("mlp_input", "mlp.shared_experts.gate_proj.input");
      same("mlp_input", "mlp.shared_experts.up_proj.input");
      if (v.config.isFull(i)) {
        same("attention_norm_output", "self_attn.q_proj.input");
        same("attention_norm_output", "self_attn.k_proj.input");
        same("attention_norm_output", "self_attn.v_proj.input");
        same("self_attn.k_proj.output", "self_attn.k_norm.input");
        same("self_attn.attention_premix",
             "self_attn.o_proj.input"); // heads side by side are the projection's channels
        same("self_attn.attention_keys", "self_attn.past_keys");
        same("self_attn.attention_values", "self_attn.past_values");
      } else {
        for (const char *reader : {"qkv", "z", "a", "b"})
          same("attention_norm_output", (std::string("linear_attn.in_proj_") + reader + ".input").c_str());
        same("linear_attn.in_proj_qkv.output", "linear_attn.conv1d.input");
        same("linear_attn.attention_head_outputs", "linear_attn.norm.input");
        same("linear_attn.norm.output", "linear_attn.out_proj.input");
      }
    }
  });
}

TEST_CASE("rotary embeddings leave what stands behind the rotated dims untouched", "[identities]") {
  onEveryModel([](const Everything &v) {
    const int64_t D = v.config.headDim, R = v.config.rotaryDims, S = 7, B = 2;
    REQUIRE(R < D);
    for (int64_t i = 0; i < v.config.numLayers; ++i) {
      if (!v.config.isFull(i))
        continue;
      for (const auto &[heads, rotated, normed] :
           {std::tuple{v.config.numHeads, "self_attn.attention_queries", "self_attn.q_norm.output"},
            std::tuple{v.config.numKvHeads, "self_attn.attention_keys", "self_attn.k_norm.output"}}) {
        const Tensor &q = v(i, rotated), &n = v(i, normed);
        REQUIRE(q.shape == Shape{B, heads, S, D});
        REQUIRE(n.shape == Shape{B, S, heads, D});
        int64_t different = 0, changed = 0;
        for (int64_t b = 0; b < B; ++b)
          for (int64_t h = 0; h < heads; ++h)
            for (int64_t s = 0; s < S; ++s)
              for (int64_t d = 0; d < D; ++d)
                (d < R ? changed : different) +=
                    q.at(((b * heads + h) * S + s) * D + d) != n.at(((b * S + s) * heads + h) * D + d);
        CHECK(different == 0);
        CHECK(changed > 0);
      }
    }
  });
}

TEST_CASE("routed and shared output add up to the mixture's, and slots to the routed output", "[identities]") {
  onEveryModel([](const Everything &v) {
    const int64_t K = v.config.expertsPerToken, C = v.config.hiddenSize;
    for (int64_t i = 0; i < v.config.numLayers; ++i) {
      INFO("block " << i);
      const Tensor &routed = v(i, "mlp.routed_output"), &shared = v(i, "mlp.shared_expert_output"),
                   &slots = v(i, "mlp.expert_outputs");
      CHECK(differing(v(i, "mlp.mlp_output"), [&](int64_t k) { return v.rounded(f(routed, k) + f(shared, k)); }) == 0);
      CHECK(differing(routed, [&](int64_t k) {
              float sum = 0;
              for (int64_t slot = 0; slot < K; ++slot)
                sum += f(slots, (k / C * K + slot) * C + k % C);
              return v.rounded(sum);
            }) == 0);
      const Tensor &activation = v(i, "mlp.shared_experts.mlp_activation"),
                   &up = v(i, "mlp.shared_experts.up_proj.output");
      CHECK(differing(v(i, "mlp.shared_experts.mlp_neurons"),
                      [&](int64_t k) { return v.rounded(f(activation, k) * f(up, k)); }) == 0);
    }
  });
}

TEST_CASE("expert weights are the chosen probabilities, renormalised", "[identities]") {
  onEveryModel([](const Everything &v) {
    const int64_t K = v.config.expertsPerToken, E = v.config.numExperts;
    for (int64_t i = 0; i < v.config.numLayers; ++i) {
      INFO("block " << i);
      const Tensor &weights = v(i, "mlp.expert_weights"), &indices = v(i, "mlp.expert_indices");
      const std::vector<double> p = softmax(v(i, "mlp.router_logits"));
      int64_t wrongOrder = 0;
      double worstSum = 0, worstWeight = 0;
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t s = 0; s < 7; ++s) {
          if (!real(b, s))
            continue;
          const int64_t t = b * 7 + s;
          std::vector<int64_t> order(static_cast<size_t>(E));
          std::iota(order.begin(), order.end(), 0);
          std::stable_sort(order.begin(), order.end(),
                           [&](int64_t x, int64_t y) { return p[size_t(t * E + x)] > p[size_t(t * E + y)]; });
          double chosen = 0, sum = 0;
          for (int64_t k = 0; k < K; ++k)
            chosen += p[size_t(t * E + order[size_t(k)])];
          for (int64_t k = 0; k < K; ++k) {
            wrongOrder += int64_t(indices.at(t * K + k)) != order[size_t(k)];
            sum += weights.at(t * K + k);
            worstWeight =
                std::max(worstWeight, std::abs(weights.at(t * K + k) - p[size_t(t * E + order[size_t(k)])] / chosen));
          }
          worstSum = std::max(worstSum, std::abs(sum - 1));
        }
      CHECK(wrongOrder == 0);
      CHECK(worstSum <= v.tolerance());
      CHECK(worstWeight <= v.tolerance());
    }
  });
}

TEST_CASE("attention probabilities are the softmax of the scores, and later keys have none", "[identities]") {
  onEveryModel([](const Everything &v) {
    for (int64_t i = 0; i < v.config.numLayers; ++i) {
      if (!v.config.isFull(i))
        continue;
      INFO("block " << i);
      const Tensor &scores = v(i, "self_attn.attention_scores"),
                   &probabilities = v(i, "self_attn.attention_probabilities");
      // A pad's score is 0 in the output, so the short row's softmax is taken over its own keys.
      const int64_t N = v.config.numHeads, S = 7;
      double worst = 0;
      int64_t later = 0;
      for (int64_t b = 0; b < 2; ++b) {
        const int64_t length = b == 0 ? 5 : 7;
        const Tensor own = rowAlone(scores, Layout::Pattern, b, length),
                     p = rowAlone(probabilities, Layout::Pattern, b, length);
        REQUIRE(own.shape == Shape{1, N, length, length});
        const std::vector<double> expected = softmax(own);
        for (int64_t k = 0; k < elementCount(own.shape); ++k) {
          worst = std::max(worst, std::abs(p.at(k) - expected[size_t(k)]));
          later += k % length > k / length % length && (p.at(k) != 0 || own.at(k) > -1e38);
        }
      }
      CHECK(worst <= v.tolerance());
      CHECK(later == 0);
      CHECK(scores.shape == Shape{2, N, S, S});
    }
  });
}

TEST_CASE("the heads of a DeltaNet block: copies of key heads, the last state, the convolution's memory",
          "[identities]") {
  onEveryModel([](const Everything &v) {
    const ModelConfig &c = v.config;
    const int64_t H = c.linearValueHeads, repeat = H / c.linearKeyHeads, DK = c.linearKeyDim, S = 7;
    REQUIRE(repeat > 1);
    for (int64_t i = 0; i < c.numLayers; ++i) {
      if (c.isFull(i))
        continue;
      INFO("block " << i);
      for (const char *name : {"linear_attn.attention_queries", "linear_attn.attention_keys"}) {
        const Tensor &t = v(i, name);
        REQUIRE(t.shape == Shape{2, S, H, DK});
        CHECK(differing(t, [&](int64_t k) { return f(t, k - k / DK % H % repeat * DK); }) == 0);
      }
      const Tensor &states = v(i, "linear_attn.states"), &last = v(i, "linear_attn.state_output");
      REQUIRE(states.dtype == DType::f32);
      const int64_t size = elementCount(last.shape) / 2;
      for (int64_t b = 0; b < 2; ++b)
        CHECK(std::memcmp(states.as<float>() + ((b * S) + S - 1) * size, last.as<float>() + b * size,
                          size_t(size) * 4) == 0);
      const Tensor &qkv = v(i, "linear_attn.in_proj_qkv.output"), &memory = v(i, "linear_attn.conv_state");
      const int64_t CD = c.convChannels(), KW = c.convKernel;
      REQUIRE(memory.shape == Shape{2, CD, KW});
      CHECK(differing(memory, [&](int64_t k) {
              return f(qkv, (k / (CD * KW) * S + S - KW + k % KW) * CD + k / KW % CD);
            }) == 0);
      CHECK(differing(v(i, "linear_attn.state_input"), [](int64_t) { return 0.0f; }) == 0);
    }
  });
}

TEST_CASE("next_token_probs is the softmax of each row's last logits", "[identities]") {
  onEveryModel([](const Everything &v) {
    const Tensor &logits = v("logits"), &probabilities = v("next_token_probs");
    const int64_t V = v.config.vocabSize;
    const std::vector<double> p = softmax(logits);
    REQUIRE(probabilities.shape == Shape{2, V});
    double worst = 0;
    for (int64_t k = 0; k < 2 * V; ++k)
      worst = std::max(worst, std::abs(probabilities.at(k) - p[size_t((k / V * 7 + 6) * V + k % V)]));
    CHECK(worst <= v.tolerance());
  });
}

namespace {

/// The sigmoid of a gate as the model itself has it: what comes out when 1 goes in. It must be the sigmoid, and the
/// product with it must be exact.
void checkGate(const Everything &v, const Tensor &gate, const Tensor &sigmoid, const Tensor &in, const Tensor &out,
               int64_t group) {
  double worst = 0;
  for (int64_t k = 0; k < elementCount(sigmoid.shape); ++k)
    if (sigmoid.at(k) != 0) // pads
      worst = std::max(worst, std::abs(sigmoid.at(k) - 1 / (1 + std::exp(-gate.at(k / group)))));
  CHECK(worst <= (v.dtype == DType::bf16 ? 1.0 / 512 : 1.2e-7));
  CHECK(differing(out, [&](int64_t k) { return v.rounded(f(in, k) * f(sigmoid, k)); }) == 0);
}

Outputs edited(const Everything &v, const std::string &at, const std::string &tap) {
  Setup s = Everything::setup(v.checkpoint, v.dtype);
  s.plan = R"({"nnterp_plan": 1, "edits": [{"at": ")" + at + R"(", "do": {"fill": 1}}], "taps": [")" + tap + R"("]})";
  return outputs(s);
}

} // namespace

TEST_CASE("attention_premix is attention_head_outputs times the sigmoid of the gate", "[identities]") {
  onEveryModel([](const Everything &v) {
    const int64_t N = v.config.numHeads, D = v.config.headDim, block = 3;
    const std::string prefix = "layers[3].self_attn.", tap = prefix + "attention_premix";
    const Tensor sigmoid = edited(v, prefix + "attention_head_outputs", tap).at(tap);
    const Tensor &projected = v(block, "self_attn.q_proj.output"); // per head: D of the query, D of the gate
    Tensor gate = Tensor::make(DType::f32, sigmoid.shape);
    for (int64_t k = 0; k < elementCount(gate.shape); ++k)
      gate.as<float>()[k] = f(projected, k / (N * D) * 2 * N * D + k / D % N * 2 * D + D + k % D);
    checkGate(v, gate, sigmoid, v(block, "self_attn.attention_head_outputs"), v(tap), 1);
  });
}

TEST_CASE("shared_expert_output is the shared expert times the sigmoid of its gate", "[identities]") {
  onEveryModel([](const Everything &v) {
    const std::string prefix = "layers[1].mlp.", tap = prefix + "shared_expert_output";
    const Tensor sigmoid = edited(v, prefix + "shared_experts.mlp_output", tap).at(tap);
    checkGate(v, v(1, "mlp.shared_expert_gate.output"), sigmoid, v(1, "mlp.shared_experts.mlp_output"), v(tap),
              v.config.hiddenSize);
  });
}
