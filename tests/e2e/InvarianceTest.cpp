// What must not change a bit: taps and their order, neighbours in the batch, padding, running again, and under edits
// how a sequence is cut. Without edits the same is tested on every checkpoint by IdentitiesTest, and with edits at
// single places by CutsTest.
#include "tests/e2e/Runs.h"

#include "tools/nnterp/OutputFile.h"
#include "tools/nnterp/verify/CompareRuns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// Edits of all kinds that count tokens from a row's end or start, or nowhere.
const char *const edits = R"(
  {"at": "layers[0].layer_output", "select": {"seq": "prompt[-1]"}, "do": {"add": 0.25}},
  {"at": "layers[1].linear_attn.attention_keys", "select": {"heads": [1]}, "do": {"scale": {"value": "v"}}},
  {"at": "layers[1].mlp.router_logits", "do": {"reroute": {"experts": [2]}}},
  {"at": "layers[2].linear_attn.states", "select": {"seq": 0}, "do": {"scale": 0.5}},
  {"at": "layers[2].layer_mid", "do": {"add": {"at": "layers[0].layer_output", "select": {"seq": "prompt[-1]"}}}},
  {"at": "layers[3].self_attn.attention_scores", "select": {"query": "prompt[-1]", "key": 0}, "do": {"mask": {}}},
  {"at": "layers[3].layer_output", "do": {"add": {"at": "layers[3].layer_mid", "mean": ["seq"], "scale": 0.5}}})";

std::string editedPlan(const std::string &checkpoint, const std::vector<std::string> &taps) {
  Diagnostics diags;
  const int64_t width = loadConfig(checkpointPath(checkpoint), diags)->linearKeyDim;
  std::string v;
  for (int64_t i = 0; i < width; ++i)
    v += (i ? "," : "") + std::to_string(i % 3 + 1);
  std::string names;
  for (const std::string &tap : taps)
    names += (names.empty() ? "\"" : ", \"") + tap + "\"";
  return R"({"nnterp_plan": 1, "values": {"v": {"data": [)" + v + "]}}, \"edits\": [" + edits + "], \"taps\": [" +
         names + "]}";
}

/// Every row of `setup`, alone and in the batch with more pads, against its place in the batch.
void checkRows(const Setup &setup) {
  const RunResult batch = run(setup);
  Setup padded = setup;
  padded.extraPads = 5;
  const Outputs together = outputsOf(batch), withPads = outputs(padded);
  for (size_t b = 0; b < setup.rows.size(); ++b) {
    const int64_t length = int64_t(setup.rows[b].size());
    Setup single = setup;
    single.rows = {setup.rows[b]};
    const Outputs alone = outputs(single);
    single.extraPads = 3;
    const Outputs alonePadded = outputs(single);
    std::string different;
    for (const auto &[key, tensor] : alone) {
      const TapSpec *tap = batch.tapOf(key);
      REQUIRE(tap);
      const Layout layout = tap->gather.layout;
      if (layout == Layout::Sizes) // [B, S] of the call: says how much padding there is
        continue;
      auto row = [&](const Outputs &from, int64_t index) { return rowAlone(from.at(key), layout, index, length); };
      if (!sameBits(tensor, row(together, int64_t(b))))
        different += key + " in the batch; ";
      if (!sameBits(tensor, row(withPads, int64_t(b))))
        different += key + " in the padded batch; ";
      if (!sameBits(tensor, row(alonePadded, 0)))
        different += key + " alone under padding; ";
    }
    INFO("row " << b << " differs from itself alone at: " << different);
    CHECK(different.empty());
  }
}

std::string contents(const std::string &path) {
  std::stringstream s;
  s << std::ifstream(path, std::ios::binary).rdbuf();
  return s.str();
}

} // namespace

TEST_CASE("all values, asked for in any order, leave the logits as they are alone", "[invariance]") {
  Setup setup;
  setup.rows = someRows({6, 2, 1, 9}, 320);
  setup.plan = tapPlan({"logits"});
  const Tensor logits = outputs(setup).at("logits");
  std::vector<std::string> names = everyName(setup.checkpoint);
  setup.plan = tapPlan(names);
  const Outputs all = outputs(setup);
  CHECK(sameBits(logits, all.at("logits")));
  std::reverse(names.begin(), names.end());
  setup.plan = tapPlan(names);
  for (const auto &[key, tensor] : outputs(setup)) {
    INFO(key);
    CHECK(sameBits(tensor, all.at(key)));
  }
}

TEST_CASE("edits too act on a row as if it were alone", "[invariance]") {
  for (DType dtype : {DType::f32, DType::bf16})
    DYNAMIC_SECTION(name(dtype)) {
      Setup setup;
      setup.dtype = dtype;
      setup.rows = someRows({6, 2, 1, 9}, 320);
      setup.plan = editedPlan(setup.checkpoint, everyName(setup.checkpoint));
      checkRows(setup);
    }
}

TEST_CASE("the same run twice writes the same bytes", "[invariance]") {
  Setup setup;
  setup.rows = someRows({6, 2, 1, 9}, 320);
  for (const std::string &plan :
       {tapPlan(everyName(setup.checkpoint)), editedPlan(setup.checkpoint, everyName(setup.checkpoint))}) {
    setup.plan = plan;
    TemporaryFolder folder;
    Diagnostics diags;
    REQUIRE(writeOutputs(folder.path("first.safetensors"), run(setup), diags));
    REQUIRE(writeOutputs(folder.path("second.safetensors"), run(setup), diags));
    const std::string first = contents(folder.path("first.safetensors"));
    CHECK(first.size() > 10000);
    CHECK((first == contents(folder.path("second.safetensors"))));
  }
}

namespace {

using verify::RunView;

/// Edits of keys, scores, states, gates and experts at every token: what they mean cannot depend on how a sequence is
/// cut.
const char *const everywhere = R"(
  {"at": "layers[0].linear_attn.betas", "select": {"heads": [0]}, "do": {"zero": {}}},
  {"at": "layers[0].linear_attn.decays", "do": {"add": -0.125}},
  {"at": "layers[2].linear_attn.states", "select": {"heads": [1]}, "do": {"scale": 0.75}},
  {"at": "layers[2].linear_attn.attention_keys", "select": {"heads": [2]}, "do": {"scale": -1}},
  {"at": "layers[3].self_attn.attention_keys", "select": {"heads": [0]}, "do": {"scale": 0.5}},
  {"at": "layers[3].self_attn.attention_scores", "select": {"heads": [2]}, "do": {"scale": 1.5}},
  {"at": "layers[0].mlp.expert_weights", "do": {"drop": {"experts": [2]}}},
  {"at": "layers[1].mlp.expert_weights", "do": {"drop_renorm": {"experts": [1, 3]}}},
  {"at": "layers[2].mlp.router_logits", "do": {"reroute": {"experts": [5]}}},
  {"at": "layers[3].mlp.router_logits", "do": {"force": {"experts": [7]}}},
  {"at": "layers[3].mlp.expert_outputs", "select": {"slots": 0}, "do": {"scale": 2}})";

/// Edits at the first token, which is the same one wherever the prompt ends.
const char *const atFirst = R"(,
  {"at": "layers[1].linear_attn.states", "select": {"seq": "prompt[0]"}, "do": {"scale": 0.5}},
  {"at": "layers[3].self_attn.attention_values", "select": {"seq": "prompt[0]"}, "do": {"add": 0.25}},
  {"at": "layers[3].self_attn.attention_scores", "select": {"heads": [1], "key": "prompt[0]"}, "do": {"mask": {}}})";

std::string planOf(const std::string &checkpoint, const std::string &edits) {
  std::string names;
  for (const std::string &name : everyName(checkpoint))
    names += (names.empty() ? "\"" : ", \"") + name + "\"";
  return R"({"nnterp_plan": 1, "edits": [)" + edits + R"(], "taps": [)" + names + "]}";
}

void checkSame(const verify::Findings &findings) {
  INFO(findings.first);
  CHECK(findings.different == 0);
  CHECK(findings.compared > 1000);
}

/// Rows with the first `count` tokens that they generated behind them.
Rows extended(const Rows &rows, const RunResult &result, int64_t count) {
  Rows longer = rows;
  for (const GeneratedRow &row : result.generated)
    longer[size_t(row.row)].insert(longer[size_t(row.row)].end(), row.tokens.begin(), row.tokens.begin() + count);
  return longer;
}

Setup edited(const char *checkpoint = "tiny-text", DType dtype = DType::f32) {
  Setup setup;
  setup.checkpoint = checkpoint;
  setup.dtype = dtype;
  setup.plan = planOf(checkpoint, std::string(everywhere) + atFirst);
  return setup;
}

/// A prompt and `steps` steps behind it against a prompt that holds them.
void checkCut(Setup setup, const std::vector<int64_t> &lengths, int64_t steps) {
  INFO(setup.checkpoint << ", " << lengths.size() << " rows, the first of " << lengths[0] << " tokens");
  setup.rows = someRows(lengths, 320);
  setup.generation = greedily(steps + 1);
  const RunResult cut = run(setup);
  setup.rows = extended(setup.rows, cut, steps);
  setup.generation = greedily(0);
  const RunResult whole = run(setup);
  verify::Findings findings;
  verify::sameRows(RunView(whole), RunView(cut), findings, cutTolerance(setup.dtype));
  checkSame(findings);
}

} // namespace

TEST_CASE("under edits too, a prompt of n and m steps equals a prompt of n + m at every name", "[invariance]") {
  for (int64_t n : {1, 2, 3, 4, 63, 64, 65, 70})
    checkCut(edited(), {n}, 3);
  checkCut(edited(), {5, 70, 1, 64}, 3);
  for (int64_t n : {3, 65})
    checkCut(edited("tiny-heads", DType::bf16), {n}, 3);
  checkCut(edited("tiny-heads", DType::bf16), {1, 6}, 3);
}

TEST_CASE("under edits too, a prompt in two or three pieces equals the prompt in one", "[invariance]") {
  Setup setup = edited();
  setup.rows = someRows({70, 3, 36}, 320); // a piece of 35 or 24 columns holds nothing but pads of the second row
  setup.generation = greedily(3);
  const RunResult whole = run(setup);
  for (int64_t chunk : {35, 64, 24}) {
    setup.chunk = chunk;
    const RunResult pieces = run(setup);
    REQUIRE(pieces.outputs.size() == whole.outputs.size());
    for (size_t i = 0; i < whole.outputs.size(); ++i) {
      INFO("pieces of " << chunk << ": " << whole.outputs[i].first);
      CHECK(pieces.outputs[i].first == whole.outputs[i].first);
      CHECK(agreeAcrossCuts(pieces.outputs[i].second, whole.outputs[i].second));
    }
  }
}

TEST_CASE("under edits too, a prompt behind a saved state equals one prompt at every name", "[invariance]") {
  TemporaryFolder folder;
  const Rows rows = someRows({9, 4, 7}, 320);
  const std::vector<int64_t> saved{2, 3, 6};
  Setup setup;
  setup.plan = planOf(setup.checkpoint, everywhere); // the first token of a loaded run's prompt is another one
  setup.rows = rows;
  setup.generation = greedily(4);
  const RunResult whole = run(setup);
  Setup first = setup, second = setup;
  for (size_t b = 0; b < rows.size(); ++b) {
    first.rows[b].resize(size_t(saved[b]));
    second.rows[b].erase(second.rows[b].begin(), second.rows[b].begin() + saved[b]);
  }
  first.plan = R"({"nnterp_plan": 1, "edits": [)" + std::string(everywhere) + R"(], "taps": ["logits"]})";
  first.generation = greedily(0);
  first.saveState = second.loadState = folder.path("state");
  run(first);
  for (int64_t chunk : {0, 2}) {
    second.chunk = chunk;
    const RunResult rest = run(second);
    verify::Findings findings;
    verify::sameRows(RunView(rest, saved), RunView(whole), findings, cutTolerance(DType::f32));
    verify::sameTokens(RunView(rest, saved), RunView(whole), 0, findings);
    checkSame(findings);
  }
}
