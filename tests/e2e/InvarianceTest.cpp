// What must not change a bit: taps, neighbours in the batch, padding, running again.
#include "tests/e2e/Runs.h"

#include "tools/nnterp/OutputFile.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

using namespace nnterp;
using namespace nnterp::test;

namespace {

template <class Check> void onModels(const std::vector<const char *> &checkpoints, Check check) {
  for (const char *checkpoint : checkpoints)
    for (DType dtype : {DType::f32, DType::bf16})
      DYNAMIC_SECTION(checkpoint << " in " << name(dtype)) {
        Setup setup;
        setup.checkpoint = checkpoint;
        setup.dtype = dtype;
        setup.rows = someRows({6, 2, 1, 9}, 320);
        check(std::move(setup));
      }
}

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

TEST_CASE("a plan of taps alone leaves the logits bitwise unchanged", "[invariance]") {
  onModels({"tiny-text", "tiny-heads", "toy"}, [](Setup setup) {
    setup.plan = tapPlan({"logits"});
    const Tensor logits = outputs(setup).at("logits");
    setup.plan = tapPlan(everyName(setup.checkpoint));
    CHECK(sameBits(logits, outputs(setup).at("logits")));
    if (setup.checkpoint == "tiny-text") {
      setup.plan = tapPlan({"logits", "layers[*].linear_attn.states"});
      CHECK(sameBits(logits, outputs(setup).at("logits")));
    }
  });
}

TEST_CASE("every value of a row is bitwise the same alone, in a batch and under any padding", "[invariance]") {
  onModels({"tiny-text", "toy"}, [](Setup setup) {
    setup.plan = tapPlan(everyName(setup.checkpoint));
    checkRows(setup);
  });
}

TEST_CASE("edits too act on a row as if it were alone", "[invariance]") {
  onModels({"tiny-text"}, [](Setup setup) {
    setup.plan = editedPlan(setup.checkpoint, everyName(setup.checkpoint));
    checkRows(setup);
  });
}

TEST_CASE("the same run twice writes the same bytes", "[invariance]") {
  onModels({"tiny-text"}, [](Setup setup) {
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
  });
}
