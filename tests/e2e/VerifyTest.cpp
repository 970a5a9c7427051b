// `nnterp verify`: every check notices when its promise is broken, and says what was expected and found.
#include "tests/e2e/Runs.h"
#include "tools/nnterp/verify/Prompts.h"
#include "tools/nnterp/verify/Verify.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <set>

using namespace nnterp;
using namespace nnterp::test;
using verify::RunKind;

namespace {

/// One element of one tensor of one run, changed: its lowest bit, or by adding `by`.
struct Alteration {
  const char *check;
  RunKind kind;
  const char *key;
  double by = 0;        ///< 0: the lowest bit
  int64_t element = -1; ///< -1: the last
};

const Alteration alterations[] = {
    {"finite", RunKind::values, "layers[0].layer_output", std::numeric_limits<double>::infinity()},
    {"block-sum", RunKind::values, "layers[0].layer_output"},
    {"block-sum", RunKind::values, "layers[7].layer_mid@gen"},
    {"same-points", RunKind::values, "layers[3].mlp.router.input"},
    {"same-points", RunKind::values, "layers[3].self_attn.past_values"},
    {"next-token", RunKind::values, "next_token_probs", 0.01},
    {"next-token", RunKind::values, "tokens", 1},
    {"mixture-sum", RunKind::values, "layers[7].mlp.mlp_output"},
    {"slot-sum", RunKind::values, "layers[0].mlp.routed_output@gen"},
    {"expert-weights", RunKind::values, "layers[0].mlp.expert_weights", 0.01},
    {"expert-weights", RunKind::values, "layers[0].mlp.expert_indices", 100},
    {"shared-gate", RunKind::edited, "base/layers[0].mlp.shared_expert_output"},
    {"shared-gate", RunKind::edited, "base/layers[0].mlp.shared_expert_gate.output", 0.01},
    {"shared-neurons", RunKind::values, "layers[0].mlp.shared_experts.mlp_neurons"},
    {"shared-off", RunKind::edited, "edited/layers[0].mlp.mlp_output"},
    {"expert-off", RunKind::edited, "edited/layers[3].mlp.expert_outputs"},
    {"expert-off", RunKind::edited, "edited/layers[3].mlp.expert_weights@gen"},
    {"reroute", RunKind::rerouted, "main/layers[0].mlp.router_logits"},
    {"reroute", RunKind::rerouted, "main/layers[0].mlp.expert_weights", 0.01},
    {"rotary-tail", RunKind::values, "layers[3].self_attn.attention_queries"},
    {"query-and-gate", RunKind::values, "layers[3].self_attn.q_norm.input"},
    {"query-and-gate", RunKind::edited, "base/layers[3].self_attn.q_proj.output", 0.01},
    {"gated-heads", RunKind::edited, "base/layers[3].self_attn.attention_premix"},
    {"attention-softmax", RunKind::values, "layers[3].self_attn.attention_probabilities", 0.01},
    {"later-keys", RunKind::values, "layers[3].self_attn.attention_scores", 0, 1},
    {"key-value-heads", RunKind::edited, "edited/layers[3].self_attn.attention_scores", 0, 0},
    {"key-value-heads", RunKind::edited, "edited/layers[3].self_attn.attention_head_outputs@before"},
    {"head-copies", RunKind::values, "layers[0].linear_attn.attention_keys"},
    {"copied-head", RunKind::edited, "edited/layers[0].linear_attn.state_output"},
    {"last-state", RunKind::values, "layers[0].linear_attn.states"},
    {"conv-memory", RunKind::values, "layers[0].linear_attn.conv_state"},
    {"taps", RunKind::logits, "logits"},
    {"repeat", RunKind::again, "layers[7].self_attn.attention_keys@gen"},
    {"cache", RunKind::whole, "layers[7].layer_output"},
    {"cache", RunKind::values, "layers[0].linear_attn.state_output@gen"},
    {"chunks", RunKind::chunked, "layers[3].self_attn.attention_values@gen"},
    {"chunks", RunKind::chunked, "layers[0].linear_attn.state_input"},
    {"state", RunKind::continued, "layers[0].linear_attn.state_output@gen"},
    {"state", RunKind::continued, "tokens", 1},
    {"order", RunKind::order, "logits"},
    {"padding", RunKind::padded, "layers[0].linear_attn.states"},
    {"batch", RunKind::alone, "layers[3].self_attn.attention_probabilities"},
};

void alter(Tensor &tensor, const Alteration &alteration) {
  const int64_t element = alteration.element < 0 ? elementCount(tensor.shape) - 1 : alteration.element;
  const double value = tensor.at(element) + alteration.by;
  switch (tensor.dtype) {
  case DType::f32:
    if (alteration.by == 0)
      tensor.as<uint32_t>()[element] ^= 1;
    else
      tensor.as<float>()[element] = float(value);
    return;
  case DType::i64:
    tensor.as<int64_t>()[element] += int64_t(alteration.by);
    return;
  default:
    FAIL("no tensor of a float32 run");
  }
}

verify::VerifyOptions onTinyText() {
  verify::VerifyOptions options;
  options.checkpoint = checkpointPath("tiny-text");
  options.cacheDir = testCache();
  return options;
}

} // namespace

TEST_CASE("every check notices one altered number, and names it", "[verify]") {
  const Alteration *current = nullptr;
  bool found = false;
  verify::VerifyOptions options = onTinyText();
  options.allBlocks = true; // the programs of IdentitiesTest
  options.run = [&](RunKind kind, const RunOptions &run, Diagnostics &diags) {
    std::optional<RunResult> result = runModel(run, diags);
    if (result && current && kind == current->kind)
      for (auto &[key, tensor] : result->outputs)
        if (key == current->key) {
          found = true;
          alter(tensor, *current);
        }
    return result;
  };
  Diagnostics diags;
  std::optional<verify::Verifier> verifier = verify::Verifier::open(options, diags);
  REQUIRE(verifier);
  std::set<std::string> seen;
  for (const verify::Check &check : verify::checks())
    for (const Alteration &alteration : alterations) {
      if (std::string(alteration.check) != check.name)
        continue;
      seen.insert(check.name);
      INFO(check.name << " with an altered " << alteration.key);
      for (bool altered : {false, true}) {
        current = altered ? &alteration : nullptr;
        found = false;
        if (altered)
          verifier->releaseAllBut({});
        std::optional<verify::Outcome> outcome = verifier->judge(check, diags);
        INFO(text(diags));
        REQUIRE(outcome);
        INFO(outcome->findings.first);
        CHECK(found == altered);
        CHECK(outcome->findings.passed() == !altered);
        if (altered)
          verifier->releaseAllBut({});
      }
    }
  CHECK(seen.size() == verify::checks().size());
}

TEST_CASE("a check that fails is an error with what was expected and what was found", "[verify]") {
  verify::VerifyOptions options = onTinyText();
  options.only = {"mixture-sum", "later-keys"};
  std::vector<std::pair<std::string, double>> progress;
  options.progress = [&](std::string_view check, double done) { progress.emplace_back(check, done); };
  options.run = [](RunKind, const RunOptions &run, Diagnostics &diags) {
    std::optional<RunResult> result = runModel(run, diags);
    for (auto &[key, tensor] : result->outputs)
      if (key == "layers[3].mlp.mlp_output")
        tensor.as<float>()[48 * 2 + 5] = 7; // row 0, token 2 of six tokens of 48 numbers
    return result;
  };
  Diagnostics diags;
  std::optional<verify::VerifyReport> report = verify::verifyModel(options, diags);
  REQUIRE(report);
  REQUIRE(report->outcomes.size() == 2);
  CHECK(report->failures() == 1);
  const verify::Findings &broken = report->outcomes[0].findings;
  CHECK_FALSE(broken.passed());
  CHECK(report->outcomes[1].findings.passed());
  CHECK(report->outcomes[0].blocks == std::vector<int64_t>{0, 3, 7});
  CHECK(report->outcomes[1].blocks == std::vector<int64_t>{3, 7});
  CHECK(broken.different == 1);
  CHECK(broken.compared == 3 * (10 + 3 * 2) * 48);
  CHECK(broken.first.find("layers[3].mlp.mlp_output, row 0, token 2, element 5: expected ") == 0);
  CHECK(broken.first.find(", found 7") != std::string::npos);
  CHECK(text(diags) == options.checkpoint +
                           ": error NNT1501: check mixture-sum fails: routed_output + shared_expert_output == "
                           "mlp_output. " +
                           broken.first + "; 1 of 2304 comparisons differ\n");

  const std::string table = verify::reportText(*report);
  CHECK(table.find("check        blocks   result  largest difference  what holds\n") == 0);
  CHECK(table.find("\nmixture-sum  0, 3, 7  FAILS ") != std::string::npos);
  CHECK(table.find("\nlater-keys   3, 7     exact   0                   no query") != std::string::npos);
  CHECK(table.find("\n\n1 of 2 checks hold: float32, 3 rows of 6, 3, 1 tokens, 3 generated\n") != std::string::npos);
  std::optional<Json> json = parseJson(verify::reportJson(*report), "report", diags);
  REQUIRE(json);
  CHECK_FALSE(json->find("holds")->boolean);
  CHECK(json->find("checks")->array[0].find("result")->string == "fails");
  CHECK(json->find("checks")->array[0].find("first")->string == broken.first);
  CHECK(json->find("checks")->array[1].find("result")->string == "holds");

  REQUIRE_FALSE(progress.empty());
  CHECK(progress.front().first == "mixture-sum");
  CHECK(progress.back().second == Approx(1));
  CHECK(std::is_sorted(progress.begin(), progress.end(), [](auto &a, auto &b) { return a.second < b.second; }));
}

TEST_CASE("a check that does not exist is an error with the nearest ones", "[verify]") {
  verify::VerifyOptions options = onTinyText();
  options.only = {"mixture-sums", "finite"};
  Diagnostics diags;
  CHECK_FALSE(verify::verifyModel(options, diags));
  CHECK(text(diags).find(
            "--only: error NNT1502: there is no check called \"mixture-sums\"; nearest: \"mixture-sum\", ") == 0);
  CHECK(text(diags).find("; --list shows all\n") != std::string::npos);
}

TEST_CASE("what cannot be run is reported as the run reports it", "[verify]") {
  verify::VerifyOptions options = onTinyText();
  options.inputs = {{InputKind::ids, "1,2,999"}};
  Diagnostics diags;
  CHECK_FALSE(verify::verifyModel(options, diags));
  REQUIRE(diags.hasErrors());
  CHECK(diags.all()[0].code == "NNT1005");

  Diagnostics failing;
  options.inputs.clear();
  options.run = [](RunKind, const RunOptions &, Diagnostics &found) -> std::optional<RunResult> {
    found.note({}, "a remark");
    found.error("NNT1017", {}, "no memory");
    return std::nullopt;
  };
  CHECK_FALSE(verify::verifyModel(options, failing));
  CHECK(text(failing) == "error NNT1017: no memory\n");
}

TEST_CASE("the user's rows are what is looked at", "[verify]") {
  verify::VerifyOptions options = onTinyText();
  options.inputs = {{InputKind::ids, "1,2,3,4"}, {InputKind::ids, "5"}};
  options.only = {"cache", "state"};
  options.generate = 5;
  Diagnostics diags;
  std::optional<verify::VerifyReport> report = verify::verifyModel(options, diags);
  INFO(text(diags));
  REQUIRE(report);
  CHECK(report->rows == Rows{{1, 2, 3, 4}, {5}});
  CHECK(report->failures() == 0);
}

// design.md 7: kernels of a GPU compute the tokens of a call in chunks, so another cut is another order of sums.
TEST_CASE("on a GPU another cut of a sequence is close, and no more than close", "[verify]") {
  verify::VerifyOptions options = onTinyText();
  options.target = Target::emulator;
  options.inputs = {{InputKind::ids, "1,2,3,4"}, {InputKind::ids, "5"}};
  options.only = {"last-state", "cache"};
  const Alteration alteration{"cache", RunKind::whole, "layers[7].layer_output", 0.01};
  bool altered = false;
  options.run = [&](RunKind kind, const RunOptions &run, Diagnostics &diags) {
    std::optional<RunResult> result = runModel(run, diags);
    if (result && altered && kind == alteration.kind)
      for (auto &[key, tensor] : result->outputs)
        if (key == alteration.key)
          alter(tensor, alteration);
    return result;
  };
  for (bool now : {false, true}) {
    altered = now;
    Diagnostics diags;
    std::optional<verify::VerifyReport> report = verify::verifyModel(options, diags);
    INFO(text(diags));
    REQUIRE(report);
    REQUIRE(report->outcomes.size() == 2);
    for (const verify::Outcome &outcome : report->outcomes) {
      INFO(outcome.check->name << ": " << outcome.findings.first);
      CHECK(outcome.findings.limit > 0);
      CHECK(outcome.findings.passed() == !(altered && outcome.check->name == std::string("cache")));
    }
  }
}

TEST_CASE("rows of the vocabulary hold no pictures and are always the same", "[verify]") {
  ModelConfig config;
  config.multimodal = true;
  config.vocabSize = 10;
  config.imageTokenId = 3;
  config.videoTokenId = 4;
  const Rows rows = verify::defaultRows(config);
  REQUIRE(rows.size() == 3);
  CHECK(rows == verify::defaultRows(config));
  CHECK(rows[0].size() == 6);
  CHECK(rows[1].size() == 3);
  CHECK(rows[2].size() == 1);
  for (const auto &row : rows)
    for (int64_t id : row)
      CHECK((id >= 0 && id < 10 && id != 3 && id != 4));
}

TEST_CASE("a full-attention block that is not there is skipped, not held", "[verify]") {
  verify::Findings findings;
  findings.skip("the model has no such blocks");
  CHECK(findings.passed());
  const verify::Check &check = verify::checks().front();
  verify::VerifyReport report{"model", DType::f32, {{1}}, 3, {{&check, {}, findings}}, 0};
  CHECK(verify::reportText(report).find("skipped") != std::string::npos);
  CHECK(verify::reportText(report).find("0 of 0 checks hold, 1 skipped") != std::string::npos);
  CHECK(verify::reportJson(report).find("\"why\": \"the model has no such blocks\"") != std::string::npos);
}
