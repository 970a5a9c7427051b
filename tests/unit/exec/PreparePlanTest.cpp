// Tests of what commands about plans begin with.
#include "tools/nnterp/PreparePlan.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static std::string checkpoint(const std::string &name) { return NNTERP_TEST_DATA "/checkpoints/" + name; }

TEST_CASE("without plan and flags the logits are tapped", "[prepare]") {
  Diagnostics diags;
  std::optional<PreparedPlan> prepared = preparePlan(checkpoint("tiny-text"), {}, {}, diags);
  INFO(text(diags));
  REQUIRE(prepared);
  REQUIRE(prepared->resolved.taps.size() == 1);
  CHECK(prepared->resolved.taps[0].key == "logits");
  CHECK(prepared->resolved.edits.empty());
}

TEST_CASE("flags join the plan of a file", "[prepare]") {
  TempDir dir;
  writeBytes(dir / "plan.json", R"({"nnterp_plan": 1, "taps": ["layers[0].layer_output"]})");
  PlanSource source;
  source.path = dir / "plan.json";
  source.flags.taps = {"layers[1].layer_output"};
  source.flags.edits = {"layers[0].mlp.mlp_output zero"};
  Diagnostics diags;
  std::optional<PreparedPlan> prepared = preparePlan(checkpoint("tiny-text"), source, {}, diags);
  INFO(text(diags));
  REQUIRE(prepared);
  CHECK(prepared->resolved.taps.size() == 2);
  CHECK(prepared->resolved.edits.size() == 1);
}

TEST_CASE("paths in a plan start from its file", "[prepare]") {
  TempDir dir;
  writeBytes(dir / "plan.json", R"({"nnterp_plan": 1, "values": {"v": {"file": "v.safetensors", "key": "v"}},
    "edits": [{"at": "layers[0].layer_output", "do": {"add": {"value": "v"}}}]})");
  Diagnostics diags;
  REQUIRE(writeSafetensors(dir / "v.safetensors", {{"v", Tensor::make(DType::f32, {48})}}, {}, diags));
  PlanSource source;
  source.path = dir / "plan.json";
  CHECK(loadPlan(source, diags));
  INFO(text(diags));
  CHECK_FALSE(diags.hasErrors());
}

TEST_CASE("errors of configuration and plan come together", "[prepare]") {
  PlanSource source;
  source.flags.edits = {"layers[0].mlp.mlp_output zeroo"};
  Diagnostics diags;
  CHECK_FALSE(preparePlan("nowhere", source, {}, diags));
  CHECK(diags.all().size() == 2);
}

TEST_CASE("a run's dtype: asked for, else the configuration's, FP8 as bfloat16", "[prepare]") {
  auto dtypeOf = [](const std::string &name, std::optional<DType> requested) {
    Diagnostics diags;
    std::optional<ModelConfig> config = loadConfig(checkpoint(name), diags);
    REQUIRE(config);
    std::optional<OpenWeights> weights = openWeights(checkpoint(name), *config, requested, diags);
    INFO(text(diags));
    REQUIRE(weights);
    return weights->dtype;
  };
  CHECK(dtypeOf("tiny-text", std::nullopt) == DType::f32);
  CHECK(dtypeOf("tiny-text", DType::bf16) == DType::bf16);
  CHECK(dtypeOf("tiny-heads", std::nullopt) == DType::bf16);
  CHECK(dtypeOf("tiny-heads", DType::f32) == DType::f32);
  CHECK(dtypeOf("tiny-heads-fp8", std::nullopt) == DType::bf16);
}

TEST_CASE("without a dtype in the configuration the embedding decides; float16 runs as float32", "[prepare]") {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(checkpoint("tiny-heads"), diags);
  REQUIRE(config);
  config->dtype.reset();
  CHECK(openWeights(checkpoint("tiny-heads"), *config, std::nullopt, diags)->dtype == DType::bf16);
  config->dtype = DType::f16;
  CHECK(openWeights(checkpoint("tiny-heads"), *config, std::nullopt, diags)->dtype == DType::f32);
}

TEST_CASE("FP8 reaches the graph in the dtype of the run", "[prepare]") {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(checkpoint("tiny-heads-fp8"), diags);
  REQUIRE(config);
  for (DType dtype : {DType::f32, DType::bf16}) {
    std::optional<OpenWeights> weights = openWeights(checkpoint("tiny-heads-fp8"), *config, dtype, diags);
    REQUIRE(weights);
    std::map<std::string, DType> types = storageTypes(weights->index);
    CHECK(types.at("model.layers.0.mlp.experts.gate_up_proj") == dtype);
  }
}

TEST_CASE("what a run is for decides its programs", "[prepare]") {
  auto is = [](const RunShape &s, bool next, bool steps, bool memory, bool resume, bool save) {
    return s.next == next && s.steps == steps && s.memory == memory && s.resume == resume && s.save == save;
  };
  CHECK(is(runShape(0), false, false, false, false, false));
  CHECK(is(runShape(1), true, false, false, false, false));
  CHECK(is(runShape(2), true, true, true, false, false));
  CHECK(is(runShape(0, true), false, false, true, true, false));
  CHECK(is(runShape(1, false, true), true, false, true, false, true));
  CHECK(is(runShape(0, false, false, true), false, false, true, true, false));
}

TEST_CASE("a checkpoint is a folder or a config.json", "[prepare]") {
  CHECK(isConfigAlone("a/config.json"));
  CHECK_FALSE(isConfigAlone("a"));
  CHECK(checkpointFolder("a/config.json") == "a");
  CHECK(checkpointFolder("config.json") == ".");
  CHECK(checkpointFolder("a") == "a");
}
