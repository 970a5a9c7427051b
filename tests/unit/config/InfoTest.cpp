// `nnterp info`: sizes, values with their source, tensors.
#include "ConfigHelp.h"

#include "frontend/families/Qwen35MoeTensors.h"
#include "runtime/weights/Checkpoint.h"
#include "tools/nnterp/report/Info.h"

using namespace nnterp;
using namespace nnterp::test;

namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

CheckpointIndex indexOf(const std::string &name, const ModelConfig &config) {
  Diagnostics diags;
  CheckpointIndex::Options options;
  options.fp8 = config.fp8.has_value();
  if (config.fp8) {
    options.blockRows = config.fp8->blockRows;
    options.blockCols = config.fp8->blockCols;
  }
  auto index = CheckpointIndex::open(NNTERP_TEST_DATA "/checkpoints/" + name, wantedTensors(config), options, diags);
  for (const Diagnostic &d : diags.all())
    UNSCOPED_INFO(format(d));
  REQUIRE(index);
  return *index;
}

Json infoOf(const ModelConfig &config, const CheckpointIndex *index) {
  Diagnostics diags;
  auto json = parseJson(infoJson(config, index), "info", diags);
  REQUIRE(json);
  return *json;
}

} // namespace

TEST_CASE("patterns of blocks") {
  auto pattern = [](const std::string &letters) {
    std::vector<BlockKind> kinds;
    for (char c : letters)
      kinds.push_back(c == 'F' ? BlockKind::full : BlockKind::linear);
    return blockPattern(kinds);
  };
  CHECK(pattern("LLLFLLLF") == "2 x (3 linear, 1 full)");
  CHECK(pattern("LLLF") == "3 linear, 1 full");
  CHECK(pattern("LLLL") == "4 linear");
  CHECK(pattern("F") == "1 full");
  CHECK(pattern("LFL") == "1 linear, 1 full, 1 linear");
  CHECK(pattern("LFFLFF") == "2 x (1 linear, 2 full)");
}

TEST_CASE("the page of a configuration alone") {
  std::string text = infoText(checkpointConfig("configs/qwen3.5-35b-a3b"), nullptr);
  CHECK(contains(text, "family        qwen3_5_moe\n"));
  CHECK(contains(text, "architecture  Qwen3_5MoeForConditionalGeneration\n"));
  CHECK(contains(text, "blocks        40: 10 x (3 linear, 1 full)\n"));
  // 35B in all, 3B per token: what the model is called after.
  CHECK(contains(text, "text weights  34,660,610,688, of which a token passes 2,946,431,616\n"));
  CHECK(contains(text, "  qk_head_dim                256\n"));
  CHECK(contains(text, "  vision.head_dim            72\n"));
  CHECK(contains(text, "  vision.image_size          unavailable"));
  CHECK(contains(text, "text_config.attn_output_gate"));
  CHECK(contains(text, "No weights were read.\n"));
}

TEST_CASE("values come with their source") {
  ModelConfig config = checkpointConfig("checkpoints/tiny-text");
  Json json = infoOf(config, nullptr);
  std::map<std::string, std::string> sources, values;
  for (const Json &row : json.find("config")->array) {
    sources[row.find("path")->string] = row.find("source")->string;
    values[row.find("path")->string] = row.find("value")->dump();
  }
  CHECK(sources["hidden_size"] == "file");
  CHECK(values["hidden_size"] == "48");
  CHECK(sources["rope_parameters.rope_theta"] == "file");
  CHECK(sources["full_attention_interval"] == "default");
  CHECK(sources["transformers_version"] == "file, without effect");
  CHECK(json.find("sizes")->find("mlp.num_experts")->integer == 12);
  CHECK(json.find("sizes")->find("num_layers")->integer == 8);
  CHECK_FALSE(json.find("sizes")->find("vision.num_layers"));
  CHECK_FALSE(json.find("tensors"));
}

TEST_CASE("tensors, dtypes and bytes of a checkpoint") {
  ModelConfig config = checkpointConfig("checkpoints/toy");
  CheckpointIndex index = indexOf("toy", config);
  Json json = infoOf(config, &index);
  CHECK(json.find("tensors")->array.size() == wantedTensors(config).size());
  CHECK(json.find("used_tensors")->integer == int64_t(wantedTensors(config).size()));
  int64_t elements = 0;
  for (const WantedTensor &tensor : wantedTensors(config))
    elements += elementCount(tensor.shape);
  CHECK(json.find("text_weights")->integer == elements);
  CHECK(json.find("stored_bytes")->integer == 2 * elements); // all bfloat16
  CHECK(json.find("dtypes")->find("bfloat16")->find("bytes")->integer == 2 * elements);
  CHECK(json.find("copied_tensors")->integer == 0);

  std::string text = infoText(config, &index);
  CHECK(contains(text, "model.layers.*.mlp.experts.gate_up_proj"));
  CHECK(contains(text, ", all mapped from the files\n"));
}

TEST_CASE("tensors that loading copies are counted") {
  ModelConfig config = checkpointConfig("checkpoints/tiny-text-per-expert");
  CheckpointIndex index = indexOf("tiny-text-per-expert", config);
  CHECK(infoOf(config, &index).find("copied_tensors")->integer == 2 * config.numLayers);
  CHECK(contains(infoText(config, &index), "16 are copied once on loading"));
}
