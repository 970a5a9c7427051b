// Structure against buffers (design.md 4): no number, index, vector, expert list, length or batch compiles again, and
// every one of them changes the result; another structure does compile.
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// One thing of a plan written differently.
struct Change {
  const char *what, *was, *becomes;
};

const Change changes[] = {
    {"the number of fill", "\"fill\": 0.5", "\"fill\": 0.75"},
    {"the number of scale", "\"scale\": 1.5", "\"scale\": 1.25"},
    {"the scale of affine", "\"scale\": 0.9", "\"scale\": 0.8"},
    {"the shift of affine", "\"shift\": 0.1", "\"shift\": -0.3"},
    {"the lower bound of clamp", "\"min\": -0.01", "\"min\": -0.02"},
    {"the upper bound of clamp", "\"max\": 0.01", "\"max\": 0.03"},
    {"the t of lerp", "\"t\": 0.25", "\"t\": 0.5"},
    {"the scale of add", "\"scale\": -0.25", "\"scale\": -3"},
    {"the scale of a source", "\"scale\": 0.125", "\"scale\": 0.5"},
    {"a number as source", "\"add\": 0.0625", "\"add\": 0.125"},
    {"a vector", "1, 2, 3, 4, 5, 6", "6, 5, 4, 3, 2, -1"},
    {"a direction", "0.5, 0, 1, 0, 0, -1", "1, 1, 0, 0, 0, 1"},
    {"an index", "\"seq\": 1", "\"seq\": 2"},
    {"an index of heads", "\"heads\": [1, 2]", "\"heads\": [0, 2]"},
    {"the number of indices", "\"heads\": [3]", "\"heads\": [3, 4, 5]"},
    {"a range", "\"seq\": \"0:2\"", "\"seq\": \"1:\""},
    {"a place from the end", "prompt[-1]", "prompt[-2]"},
    {"a range of channels", "\"hidden\": \"4:20\"", "\"hidden\": \"8:40\""},
    {"the query of a mask", "\"query\": 3", "\"query\": 2"},
    {"the key of a mask", "\"key\": 1", "\"key\": 0"},
    {"indices per row", "[[0, 2]]", "[[3, 1]]"},
    {"where a source is read", "\"seq\": 0}}}", "\"seq\": 3}}}"},
    {"the heads a source is read from", "\"heads\": [4]", "\"heads\": [5]"},
    {"the experts of drop", "\"drop\": {\"experts\": [0, 1, 2, 3]",
     "\"drop\": {\"experts\": [4, 5, 6, 7, 8, 9, 10, 11]"},
    {"the experts of drop_renorm", "\"drop_renorm\": {\"experts\": [0, 1, 2, 3]",
     "\"drop_renorm\": {\"experts\": [4, 5, 6, 7, 8, 9]"},
    {"the experts of reroute", "\"reroute\": {\"experts\": [0, 1, 2, 3]",
     "\"reroute\": {\"experts\": [4, 5, 6, 7, 8, 9]"},
    {"the experts of force", "\"force\": {\"experts\": [9, 2]", "\"force\": {\"experts\": [7]"},
    {"the expert at a slot", "\"fill\": 3}", "\"fill\": 5}"},
    {"the tokens of a tap", "\"seq\": [0, 2]}, \"as\"", "\"seq\": [3, 1, 2]}, \"as\""},
};

/// A plan with everything that a run fills in: each entry of `changes` occurs in it once, first.
const char *const everyBuffer = R"({"nnterp_plan": 1,
  "values": {"v": {"data": [1, 2, 3, 4, 5, 6]}, "d": {"data": [0.5, 0, 1, 0, 0, -1]}, "rows": {"data": [[0, 2]]}},
  "edits": [
    {"at": "token_embeddings", "select": {"seq": 1, "hidden": "4:20"}, "do": {"scale": 1.5}},
    {"at": "layers[0].layer_input", "select": {"seq": "0:2"}, "do": {"affine": {"scale": 0.9, "shift": 0.1}}},
    {"at": "layers[0].linear_attn.betas", "do": {"lerp": {"to": {"value": "v"}, "t": 0.25}}},
    {"at": "layers[0].linear_attn.decays", "do": {"add": {"value": "v"}, "scale": -0.25}},
    {"at": "layers[0].linear_attn.attention_keys", "select": {"heads": [1, 2]}, "do": {"fill": 0.5}},
    {"at": "layers[0].mlp.mlp_output", "do": {"clamp": {"min": -0.01, "max": 0.01}}},
    {"at": "layers[0].mlp.expert_weights", "do": {"drop": {"experts": [0, 1, 2, 3]}}},
    {"at": "layers[1].mlp.expert_weights", "do": {"drop_renorm": {"experts": [0, 1, 2, 3]}}},
    {"at": "layers[1].linear_attn.attention_values", "select": {"heads": [3]}, "do": {"zero": {}}},
    {"at": "layers[1].linear_attn.in_proj_a.output", "do": {"project_out": {"value": "d"}}},
    {"at": "layers[1].layer_output", "select": {"seq": "prompt[-1]"}, "do": {"add": 0.0625}},
    {"at": "layers[1].layer_mid", "do": {"add": {"at": "layers[0].layer_mid", "mean": ["seq"], "scale": 0.125}}},
    {"at": "layers[2].layer_input", "select": {"seq": {"value": "rows"}}, "do": {"zero": {}}},
    {"at": "layers[2].linear_attn.attention_head_outputs", "select": {"heads": [0]}, "do": {"replace": {"at": "layers[1].linear_attn.attention_head_outputs", "select": {"heads": [4]}}}},
    {"at": "layers[2].layer_output", "do": {"add": {"at": "layers[0].layer_output", "select": {"seq": 0}}}},
    {"at": "layers[2].mlp.router_logits", "do": {"reroute": {"experts": [0, 1, 2, 3]}}},
    {"at": "layers[3].mlp.router_logits", "do": {"force": {"experts": [9, 2]}}},
    {"at": "layers[3].mlp.expert_indices", "select": {"slots": 2}, "do": {"fill": 3}},
    {"at": "layers[3].self_attn.attention_scores", "select": {"query": 3, "key": 1}, "do": {"mask": {}}}],
  "taps": ["layers[3].layer_output", {"at": "layers[3].layer_mid", "select": {"seq": [0, 2]}, "as": "mid"}]})";

std::string with(std::string plan, const Change &change) {
  const size_t at = plan.find(change.was);
  INFO(change.what);
  REQUIRE(at != std::string::npos);
  return plan.replace(at, std::string(change.was).size(), change.becomes);
}

bool equal(const Outputs &a, const Outputs &b) {
  for (const auto &[key, tensor] : a)
    if (!b.count(key) || !sameBits(tensor, b.at(key)))
      return false;
  return a.size() == b.size();
}

Setup inFolder(const TemporaryFolder &folder, const std::string &plan) {
  Setup setup;
  setup.plan = plan;
  setup.rows = someRows({5}, 320);
  setup.cache = folder.path("cache");
  return setup;
}

} // namespace

TEST_CASE("every number, index, vector and list of a plan is a buffer: nothing compiles again", "[recompile]") {
  TemporaryFolder folder;
  Setup setup = inFolder(folder, everyBuffer);
  const RunResult first = run(setup);
  REQUIRE(first.compiled);
  const Outputs before = outputsOf(first);

  std::string all = everyBuffer;
  for (const Change &change : changes) {
    INFO(change.what << ": " << change.was << " becomes " << change.becomes);
    setup.plan = with(everyBuffer, change);
    const RunResult second = run(setup);
    CHECK_FALSE(second.compiled);
    CHECK_FALSE(equal(before, outputsOf(second)));
    all = with(all, change);
  }
  setup.plan = all;
  const RunResult together = run(setup);
  CHECK_FALSE(together.compiled);
  CHECK_FALSE(equal(before, outputsOf(together)));
  setup.plan = everyBuffer;
  CHECK(equal(before, outputs(setup)));
}

TEST_CASE("another prompt, another length and another batch do not compile again", "[recompile]") {
  TemporaryFolder folder;
  Setup setup = inFolder(folder, everyBuffer);
  const RunResult first = run(setup);
  REQUIRE(first.compiled);
  for (const Rows &rows : {Rows{{9, 8, 7, 6, 5}}, someRows({12}, 320), someRows({70}, 320)}) {
    setup.rows = rows;
    const RunResult other = run(setup);
    CHECK_FALSE(other.compiled);
    CHECK_FALSE(equal(outputsOf(first), outputsOf(other)));
  }
  setup.rows = someRows({5, 9, 4}, 320);
  setup.plan = with(everyBuffer, {"indices per row", "[[0, 2]]", "[[0, 2], [1, 8], [3, 0]]"});
  const RunResult batch = run(setup);
  CHECK_FALSE(batch.compiled);
  CHECK(outputsOf(batch).at("layers[3].layer_output").shape == Shape{3, 9, 48});
}

TEST_CASE("another structure compiles", "[recompile]") {
  TemporaryFolder folder;
  const std::string plan = R"({"nnterp_plan": 1, "values": {"v": {"data": [1, 2, 3, 4, 5, 6]}},
    "edits": [{"at": "layers[0].linear_attn.betas", "select": {"seq": 1}, "do": {"add": {"value": "v"}, "scale": 2}}],
    "taps": ["layers[0].layer_mid"]})";
  REQUIRE(run(inFolder(folder, plan)).compiled);
  CHECK_FALSE(run(inFolder(folder, plan)).compiled);
  const Change structures[] = {
      {"another axis named", "\"seq\": 1", "\"seq\": 1, \"heads\": \"0:6\""},
      {"another operation", "\"add\": {\"value\": \"v\"}, \"scale\": 2", "\"scale\": {\"value\": \"v\"}"},
      {"another kind of source", "{\"value\": \"v\"}", "3"},
      {"another shape of a value", "[1, 2, 3, 4, 5, 6]", "[2]"},
      {"another point edited", ".betas", ".decays"},
      {"another tap", "layers[0].layer_mid", "layers[0].linear_attn.attention_output"},
      {"a tap before the edits", "\"layers[0].layer_mid\"",
       "\"layers[0].layer_mid\", {\"at\": \"layers[0].linear_attn.betas\", \"when\": \"before\"}"},
  };
  for (const Change &change : structures) {
    INFO(change.what);
    CHECK(run(inFolder(folder, with(plan, change))).compiled);
    CHECK_FALSE(run(inFolder(folder, with(plan, change))).compiled);
  }
  Setup half = inFolder(folder, plan);
  half.dtype = DType::bf16;
  CHECK(run(half).compiled);
}
