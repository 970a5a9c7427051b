// Saved states continue bit for bit; their parts can be swapped; worlds have their own.
#include "tests/e2e/Runs.h"

#include "runtime/weights/Safetensors.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

std::map<std::string, Tensor> readAll(const std::string &path) {
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(path, diags);
  INFO(text(diags));
  REQUIRE(file);
  std::map<std::string, Tensor> tensors;
  for (const SafetensorsEntry &entry : file->entries())
    tensors[entry.key] = file->tensor(entry);
  return tensors;
}

std::string differences(const std::map<std::string, Tensor> &a, const std::map<std::string, Tensor> &b) {
  std::string list = a.size() == b.size() ? "" : "number of tensors; ";
  for (const auto &[key, tensor] : a)
    if (!b.count(key) || !agreeAcrossCuts(tensor, b.at(key)))
      list += key + "; ";
  return list;
}

Setup base(const std::string &checkpoint, DType dtype) {
  Setup setup;
  setup.checkpoint = checkpoint;
  setup.dtype = dtype;
  setup.rows = someRows({7, 3}, 320);
  setup.plan = tapPlan({"logits", "layers[2].layer_output", "layers[3].self_attn.attention_scores"});
  return setup;
}

} // namespace

TEST_CASE("a loaded state continues bit for bit, wherever the run was cut", "[states]") {
  for (const char *checkpoint : {"tiny-text", "toy"})
    for (DType dtype : {DType::f32, DType::bf16})
      DYNAMIC_SECTION(checkpoint << " in " << name(dtype)) {
        TemporaryFolder folder;
        Setup whole = base(checkpoint, dtype);
        whole.generation = greedily(12);
        whole.saveState = folder.path("whole");
        const RunResult all = run(whole);
        const Outputs allOutputs = outputsOf(all);
        for (int64_t cut : {1, 2, 7}) {
          Setup first = base(checkpoint, dtype), second = first;
          first.generation = greedily(cut);
          first.saveState = second.loadState = folder.path("part");
          run(first);
          second.rows.clear();
          second.generation = greedily(12 - cut);
          second.saveState = folder.path("joined");
          const Outputs rest = outputs(second);
          const std::string different = differences(readAll(folder.path("whole")), readAll(folder.path("joined")));
          INFO("cut after " << cut << ": " << different);
          CHECK(different.empty());
          CHECK(sameBits(rest.at("tokens"), part(allOutputs.at("tokens"), 1, cut, 12 - cut)));
          // The pending token is the second run's prompt, so that what was step cut - 1 is its prompt's only token.
          CHECK(agreeAcrossCuts(rest.at("logits"), part(allOutputs.at("logits@gen"), 1, cut - 1, 1)));
          CHECK(agreeAcrossCuts(rest.at("logits@gen"), part(allOutputs.at("logits@gen"), 1, cut, 11 - cut)));
        }
      }
}

TEST_CASE("a prompt behind a state reads as one prompt", "[states]") {
  TemporaryFolder folder;
  Setup whole = base("tiny-text", DType::f32);
  const Rows rows = whole.rows;
  whole.generation = greedily(5);
  whole.saveState = folder.path("whole");
  const Outputs all = outputs(whole);
  Setup first = base("tiny-text", DType::f32), second = first;
  first.rows = {{rows[0].begin(), rows[0].begin() + 2}, {rows[1].begin(), rows[1].begin() + 1}};
  second.rows = {{rows[0].begin() + 2, rows[0].end()}, {rows[1].begin() + 1, rows[1].end()}};
  first.saveState = second.loadState = folder.path("part");
  run(first);
  second.generation = greedily(5);
  second.saveState = folder.path("joined");
  for (int64_t chunk : {0, 2}) {
    second.chunk = chunk;
    const Outputs rest = outputs(second);
    const std::string different = differences(readAll(folder.path("whole")), readAll(folder.path("joined")));
    INFO(different);
    CHECK(different.empty());
    CHECK(sameBits(rest.at("tokens"), all.at("tokens")));
    CHECK(agreeAcrossCuts(rest.at("logits@gen"), all.at("logits@gen")));
  }
}

TEST_CASE("saving changes nothing, and a saved prompt needs no generation", "[states]") {
  TemporaryFolder folder;
  Setup setup = base("tiny-text", DType::f32);
  const Outputs without = outputs(setup);
  setup.saveState = folder.path("state");
  const std::string different = differences(without, outputs(setup));
  INFO(different);
  CHECK(different.empty());
  const std::map<std::string, Tensor> state = readAll(folder.path("state"));
  CHECK(state.size() == 8 * 2 + 3);
  CHECK(state.at("tokens").shape == Shape{2, 7}); // nothing is pending
  CHECK(state.at("layers[3].self_attn.keys").shape[2] == 7);
}

TEST_CASE("parts of a state can be swapped between files", "[states]") {
  TemporaryFolder folder;
  auto write = [&](const std::string &name, const Rows &rows) {
    Setup setup = base("tiny-text", DType::f32);
    setup.rows = rows;
    setup.saveState = folder.path(name);
    run(setup);
    return readAll(folder.path(name));
  };
  const Rows a = someRows({6}, 320), b = {{9, 8, 7, 6, 5, 4}};
  std::map<std::string, Tensor> one = write("a", a), other = write("b", b);
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(folder.path("a"), diags);
  std::vector<std::pair<std::string, Tensor>> mixed;
  for (const auto &[key, tensor] : one)
    mixed.emplace_back(key, key.find("linear_attn.state") == std::string::npos ? tensor : other.at(key));
  REQUIRE(writeSafetensors(folder.path("mixed"), mixed, file->metadata(), diags));
  auto next = [&](const std::string &name) {
    Setup setup = base("tiny-text", DType::f32);
    setup.rows = {{3}};
    setup.loadState = folder.path(name);
    return outputs(setup).at("logits");
  };
  CHECK_FALSE(sameBits(next("mixed"), next("a")));
  CHECK_FALSE(sameBits(next("mixed"), next("b")));
  // All of it swapped is the other state.
  mixed.clear();
  for (const auto &[key, tensor] : other)
    mixed.emplace_back(key, tensor);
  REQUIRE(writeSafetensors(folder.path("mixed"), mixed, file->metadata(), diags));
  CHECK(sameBits(next("mixed"), next("b")));
}

TEST_CASE("worlds save and load their own states, or share one", "[states]") {
  TemporaryFolder folder;
  const std::string plan = R"({"nnterp_plan": 1, "worlds": {"clean": {"input": "x"}, "off": {"input": "y"}},
    "edits": [{"world": "off", "at": "layers[1].layer_output", "do": {"scale": 0.5}}], "taps": ["logits"]})";
  Setup setup;
  setup.plan = plan;
  setup.inputs = {{"x", {{5, 17, 3}}}, {"y", {{5, 17, 3}}}};
  Setup whole = setup, first = setup, second = setup;
  whole.generation = greedily(9);
  whole.saveState = folder.path("whole");
  const Outputs all = outputs(whole);
  CHECK_FALSE(sameBits(all.at("clean/tokens"), all.at("off/tokens")));
  first.generation = greedily(4);
  first.saveState = second.loadState = folder.path("part");
  run(first);
  second.inputs.clear();
  second.rows.clear();
  second.generation = greedily(5);
  second.saveState = folder.path("joined");
  const Outputs rest = outputs(second);
  const std::string different = differences(readAll(folder.path("whole")), readAll(folder.path("joined")));
  INFO(different);
  CHECK(different.empty());
  CHECK(sameBits(rest.at("off/tokens"), part(all.at("off/tokens"), 1, 4, 5)));

  // A state without worlds serves both.
  Setup plain;
  plain.plan = tapPlan({"logits"});
  plain.rows = {{5, 17, 3}};
  plain.saveState = folder.path("plain");
  run(plain);
  Setup both = setup;
  both.inputs = {{"x", {{41}}}, {"y", {{41}}}};
  both.loadState = folder.path("plain");
  const Outputs served = outputs(both);
  plain.rows = {{5, 17, 3, 41}};
  plain.saveState.clear();
  CHECK(agreeAcrossCuts(served.at("clean/logits"), part(outputs(plain).at("logits"), 1, 3, 1)));
  CHECK_FALSE(sameBits(served.at("clean/logits"), served.at("off/logits")));
}

TEST_CASE("worlds that share an input must continue alike", "[states]") {
  TemporaryFolder folder;
  Setup setup;
  setup.plan = R"({"nnterp_plan": 1, "worlds": {"clean": {"input": "x"}, "off": {"input": "x"}},
    "edits": [{"world": "off", "at": "layers[1].layer_output", "do": {"scale": 0.25}}], "taps": ["logits"]})";
  setup.inputs = {{"x", {{5, 17, 3}}}};
  setup.generation = greedily(6);
  setup.saveState = folder.path("state");
  const Outputs first = outputs(setup);
  REQUIRE_FALSE(sameBits(first.at("clean/tokens"), first.at("off/tokens")));
  setup.inputs.clear();
  setup.rows.clear();
  setup.saveState.clear();
  setup.loadState = folder.path("state");
  Diagnostics diags;
  CHECK_FALSE(tryRun(setup, diags));
  CHECK(diags.all().at(0).code == "NNT1211");
}
