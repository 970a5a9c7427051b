// Sources in other blocks, which cross from one compiled function to another (spec/plan.md 5).
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

Outputs outputsOf(const std::string &edits, const std::string &taps) {
  Setup setup;
  setup.plan = R"({"nnterp_plan": 1, "edits": [)" + edits + R"(], "taps": [)" + taps + "]}";
  return outputs(setup);
}

} // namespace

TEST_CASE("a value may come from a later block that does not depend on the edit", "[sources]") {
  const Outputs out = outputsOf(
      R"({"at": "layers[0].linear_attn.conv_state", "do": {"replace": {"at": "layers[5].linear_attn.conv_state"}}})",
      R"("layers[0].linear_attn.conv_state", "layers[5].linear_attn.conv_state", "logits")");
  CHECK(sameBits(out.at("layers[0].linear_attn.conv_state"), out.at("layers[5].linear_attn.conv_state")));
  CHECK(sameBits(out.at("logits"), outputsOf("", R"("logits")").at("logits")));
}

TEST_CASE("a part of an earlier block's value replaces a part of a later one's", "[sources]") {
  const std::string from = "layers[1].linear_attn.attention_head_outputs",
                    to = "layers[6].linear_attn.attention_head_outputs";
  const Outputs out = outputsOf(R"({"at": ")" + to + R"(", "select": {"heads": 0}, "do": {"replace": {"at": ")" + from +
                                    R"(", "select": {"heads": 4}}}})",
                                R"({"at": ")" + to + R"(", "select": {"heads": 0}, "as": "to"}, {"at": ")" + from +
                                    R"(", "select": {"heads": 4}, "as": "from"})");
  CHECK(sameBits(out.at("to"), out.at("from")));
}

TEST_CASE("a mean is taken of what an earlier block computes only for itself", "[sources]") {
  const Outputs out = outputsOf(
      R"({"at": "layers[4].layer_mid", "do": {"replace": {"at": "layers[1].layer_mid", "mean": ["batch", "seq"], "scale": 2}}})",
      R"("layers[4].layer_mid", "layers[1].layer_mid")");
  const Tensor &mid = out.at("layers[1].layer_mid"), &edited = out.at("layers[4].layer_mid");
  const int64_t tokens = mid.shape[1], width = mid.shape[2];
  double worst = 0;
  for (int64_t d = 0; d < width; ++d) {
    double sum = 0;
    for (int64_t t = 0; t < tokens; ++t)
      sum += mid.at(t * width + d);
    for (int64_t t = 0; t < tokens; ++t)
      worst = std::max(worst, std::abs(edited.at(t * width + d) - 2 * sum / double(tokens)));
  }
  CHECK(worst < 1e-6);
}
