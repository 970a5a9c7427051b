// Good configurations: defaults, derived values, legacy spellings, the wrapper, released models.
#include "ConfigHelp.h"

using namespace nnterp;
using namespace nnterp::test;

namespace {

const ConfigValue *valueAt(const ModelConfig &config, const std::string &path) {
  for (const ConfigValue &value : config.values)
    if (value.path == path)
      return &value;
  return nullptr;
}

} // namespace

TEST_CASE("a bare text configuration has every default") {
  ModelConfig c = goodConfig(textConfig(""));
  CHECK(c.modelType == "qwen3_5_moe_text");
  CHECK_FALSE(c.multimodal);
  CHECK_FALSE(c.vision);
  CHECK(c.vocabSize == 248320);
  CHECK(c.hiddenSize == 2048);
  CHECK(c.numLayers == 40);
  CHECK(c.numHeads == 16);
  CHECK(c.numKvHeads == 2);
  CHECK(c.headDim == 256);
  CHECK(c.rotaryDims == 64);
  CHECK(c.linearKeyHeads == 16);
  CHECK(c.linearValueHeads == 32);
  CHECK(c.queryDim() == 2048);
  CHECK(c.valueDim() == 4096);
  CHECK(c.convChannels() == 8192);
  CHECK(c.convKernel == 4);
  CHECK(c.numExperts == 256);
  CHECK(c.expertsPerToken == 8);
  CHECK(c.moeIntermediate == 512);
  CHECK(c.sharedIntermediate == 512);
  CHECK(c.rmsNormEps == 1e-6);
  CHECK(c.ropeTheta == 10000.0);
  CHECK(c.mropeSection == std::vector<int64_t>{11, 11, 10});
  CHECK(c.maxPositions == 32768);
  CHECK_FALSE(c.tieWordEmbeddings);
  CHECK_FALSE(c.dtype);
  CHECK_FALSE(c.fp8);
  CHECK(c.eosTokenIds.empty());
  CHECK_FALSE(c.padTokenId);
  REQUIRE(valueAt(c, "hidden_size"));
  CHECK(valueAt(c, "hidden_size")->value == "2048");
  CHECK(valueAt(c, "hidden_size")->source == ConfigSource::fallback);
  CHECK(valueAt(c, "layer_types")->source == ConfigSource::derived);
}

TEST_CASE("a file without sizes is remarked upon") {
  Diagnostics diags;
  REQUIRE(configOf(textConfig("\"hidden_size\": 2048"), diags));
  REQUIRE(diags.all().size() == 1);
  CHECK(diags.all()[0].severity == Severity::note);
  CHECK(diags.all()[0].message ==
        "sizes that the file does not give take their defaults: vocab_size, num_hidden_layers, num_attention_heads, "
        "num_key_value_heads, head_dim, linear_num_key_heads, linear_num_value_heads, linear_key_head_dim, "
        "linear_value_head_dim, linear_conv_kernel_dim, num_experts, num_experts_per_tok, moe_intermediate_size, "
        "shared_expert_intermediate_size");
}

TEST_CASE("block kinds are derived from the interval") {
  ModelConfig c = goodConfig(textConfig("\"num_hidden_layers\": 8"));
  for (int64_t i = 0; i < 8; ++i)
    CHECK(c.isFull(i) == (i == 3 || i == 7));
  c = goodConfig(textConfig("\"num_hidden_layers\": 5, \"full_attention_interval\": 2"));
  CHECK(c.countBlocks(BlockKind::full) == 2);
  CHECK(c.isFull(1));
  CHECK(c.isFull(3));
  c = goodConfig(textConfig("\"num_hidden_layers\": 2, \"full_attention_interval\": 1, \"layer_types\": null"));
  CHECK(c.countBlocks(BlockKind::full) == 2);
}

TEST_CASE("listed block kinds win, in either spelling") {
  ModelConfig c =
      goodConfig(textConfig("\"num_hidden_layers\": 4, \"full_attention_interval\": 4,"
                            "\"layer_types\": [\"attention\", \"mamba\", \"linear_attention\", \"full_attention\"]"));
  CHECK(c.layerTypes == std::vector<BlockKind>{BlockKind::full, BlockKind::linear, BlockKind::linear, BlockKind::full});
  CHECK(valueAt(c, "layer_types")->source == ConfigSource::file);
}

TEST_CASE("rotary values are looked up inside, then one level up, then defaulted") {
  ModelConfig c = goodConfig(textConfig("\"rope_theta\": 5000, \"partial_rotary_factor\": 0.5, \"rope_parameters\":"
                                        "{\"rope_theta\": 10000000, \"mrope_interleaved\": false}"));
  CHECK(c.ropeTheta == 1e7);
  CHECK(c.rotaryDims == 128);
  CHECK(valueAt(c, "partial_rotary_factor"));
  CHECK(valueAt(c, "rope_parameters.rope_theta")->value == "10000000");

  c = goodConfig(textConfig("\"rope_theta\": 5000, \"head_dim\": 32,"
                            "\"rope_scaling\": {\"type\": \"default\", \"mrope_section\": [2, 1, 1]}"));
  CHECK(c.ropeTheta == 5000);
  CHECK(c.rotaryDims == 8);
  CHECK(c.mropeSection == std::vector<int64_t>{2, 1, 1});

  c = goodConfig(textConfig("\"rope_scaling\": null, \"rope_parameters\": null"));
  CHECK(c.ropeTheta == 10000);

  // The newer spelling wins when both stand there.
  c = goodConfig(textConfig("\"rope_scaling\": {\"rope_theta\": 1}, \"rope_parameters\": {\"rope_theta\": 2}"));
  CHECK(c.ropeTheta == 2);
  // The default sections are wider than small heads: harmless.
  CHECK(goodConfig(textConfig("\"head_dim\": 32")).rotaryDims == 8);
}

TEST_CASE("dtype has two spellings") {
  CHECK(goodConfig(textConfig("\"dtype\": \"bfloat16\"")).dtype == DType::bf16);
  CHECK(goodConfig(textConfig("\"torch_dtype\": \"float16\"")).dtype == DType::f16);
  CHECK(goodConfig(textConfig("\"torch_dtype\": \"torch.float32\"")).dtype == DType::f32);
  CHECK_FALSE(goodConfig(textConfig("\"dtype\": \"auto\"")).dtype);
  CHECK_FALSE(goodConfig(textConfig("\"dtype\": null")).dtype);
}

TEST_CASE("token ids are one, several, or none") {
  ModelConfig c = goodConfig(textConfig("\"eos_token_id\": [3, 5], \"pad_token_id\": 7, \"bos_token_id\": null"));
  CHECK(c.eosTokenIds == std::vector<int64_t>{3, 5});
  CHECK(c.padTokenId == 7);
  CHECK_FALSE(c.bosTokenId);
  CHECK(goodConfig(textConfig("\"eos_token_id\": 9")).eosTokenIds == std::vector<int64_t>{9});
}

TEST_CASE("unknown keys are kept and ignored") {
  ModelConfig c =
      goodConfig(textConfig("\"attn_output_gate\": false, \"mtp_num_hidden_layers\": [1], \"norm_topk_prob\": 0"));
  REQUIRE(c.unused.size() == 3);
  CHECK(c.unused[0].path == "attn_output_gate");
  CHECK(c.unused[0].value == "false");
  CHECK(c.unused[1].value == "[1]");
  CHECK(configFingerprint(c) == configFingerprint(goodConfig(textConfig(""))));
}

TEST_CASE("the wrapper holds text and encoder") {
  ModelConfig c = goodConfig("{\"model_type\": \"qwen3_5_moe\", \"tie_word_embeddings\": true, \"image_token_id\": 5}");
  CHECK(c.multimodal);
  CHECK(c.hiddenSize == 2048);
  CHECK(c.tieWordEmbeddings);
  CHECK(c.imageTokenId == 5);
  CHECK(c.videoTokenId == 248057);
  REQUIRE(c.vision);
  CHECK(c.vision->depth == 27);
  CHECK(c.vision->hiddenSize == 1152);
  CHECK(c.vision->intermediateSize == 4304);
  CHECK(c.vision->numHeads == 16);
  CHECK(c.vision->numPositionEmbeddings == 2304);
  CHECK(c.vision->outHiddenSize == 3584);

  c = goodConfig("{\"model_type\": \"qwen3_5_moe\", \"text_config\": {\"model_type\": \"qwen3_5_moe_text\","
                 "\"hidden_size\": 64, \"tie_word_embeddings\": true, \"dtype\": \"bfloat16\", \"eos_token_id\": 1},"
                 "\"vision_config\": {\"model_type\": \"qwen3_5_moe\", \"out_hidden_size\": 64, \"depth\": 2}}");
  CHECK(c.hiddenSize == 64);
  CHECK(c.tieWordEmbeddings); // only the inner one is given
  CHECK(c.dtype == DType::bf16);
  CHECK(c.eosTokenIds == std::vector<int64_t>{1});
  CHECK(c.vision->depth == 2);
  REQUIRE(valueAt(c, "text_config.hidden_size"));
  CHECK(valueAt(c, "text_config.hidden_size")->source == ConfigSource::file);
  CHECK(valueAt(c, "text_config.hidden_size")->loc.line == 1);
  CHECK(valueAt(c, "vision_config.depth")->value == "2");
}

TEST_CASE("block-scaled FP8 is read") {
  ModelConfig c = goodConfig(textConfig("\"quantization_config\": {\"quant_method\": \"fp8\", \"fmt\": \"e4m3\","
                                        "\"activation_scheme\": \"dynamic\", \"weight_block_size\": [64, 32],"
                                        "\"modules_to_not_convert\": [\"lm_head\"]}"));
  REQUIRE(c.fp8);
  CHECK(c.fp8->blockRows == 64);
  CHECK(c.fp8->blockCols == 32);
  CHECK(c.fp8->notConverted == std::vector<std::string>{"lm_head"});
  c = goodConfig(textConfig("\"quantization_config\": {\"quant_method\": \"fp8\"}"));
  REQUIRE(c.fp8);
  CHECK(c.fp8->blockRows == 128);
  CHECK_FALSE(goodConfig(textConfig("\"quantization_config\": null")).fp8);
}

TEST_CASE("released configurations") {
  struct Row {
    const char *folder;
    int64_t hidden, layers, linear, heads, valueHeads, channels, experts, slots, inner;
  };
  for (const Row &row : {Row{"qwen3.5-35b-a3b", 2048, 40, 30, 16, 32, 8192, 256, 8, 512},
                         Row{"qwen3.5-122b-a10b", 3072, 48, 36, 32, 64, 12288, 256, 8, 1024},
                         Row{"qwen3.5-397b-a17b", 4096, 60, 45, 32, 64, 12288, 512, 10, 1024}}) {
    INFO(row.folder);
    ModelConfig c = checkpointConfig(std::string("configs/") + row.folder);
    CHECK(c.architecture == "Qwen3_5MoeForConditionalGeneration");
    CHECK(c.multimodal);
    CHECK(c.hiddenSize == row.hidden);
    CHECK(c.numLayers == row.layers);
    CHECK(c.countBlocks(BlockKind::linear) == row.linear);
    CHECK(c.numHeads == row.heads);
    CHECK(c.numKvHeads == 2);
    CHECK(c.headDim == 256);
    CHECK(c.linearKeyHeads == 16);
    CHECK(c.linearValueHeads == row.valueHeads);
    CHECK(c.convChannels() == row.channels);
    CHECK(c.numExperts == row.experts);
    CHECK(c.expertsPerToken == row.slots);
    CHECK(c.moeIntermediate == row.inner);
    CHECK(c.sharedIntermediate == row.inner);
    CHECK(c.ropeTheta == 1e7);
    CHECK(c.rotaryDims == 64);
    CHECK(c.maxPositions == 262144);
    CHECK(c.vocabSize == 248320);
    CHECK(c.dtype == DType::bf16);
    REQUIRE(c.vision);
    CHECK(c.vision->outHiddenSize == row.hidden);
  }
}

TEST_CASE("a configuration is found in a folder or named itself") {
  Diagnostics diags;
  auto folder = loadConfig(NNTERP_TEST_DATA "/checkpoints/tiny-text", diags);
  auto file = loadConfig(NNTERP_TEST_DATA "/checkpoints/tiny-text/config.json", diags);
  REQUIRE(folder);
  REQUIRE(file);
  CHECK(configFingerprint(*folder) == configFingerprint(*file));
  CHECK_FALSE(loadConfig(NNTERP_TEST_DATA "/checkpoints/absent", diags));
  REQUIRE(diags.all().size() == 1);
  CHECK(diags.all()[0].code == "NNT0101");
}

TEST_CASE("the fingerprint changes with what a program depends on, and with nothing else") {
  std::string base = configFingerprint(goodConfig(textConfig("")));
  for (const char *field : {"\"hidden_size\": 1024",
                            "\"vocab_size\": 7",
                            "\"num_hidden_layers\": 8",
                            "\"num_attention_heads\": 8",
                            "\"num_key_value_heads\": 4",
                            "\"head_dim\": 128",
                            "\"linear_num_key_heads\": 8",
                            "\"linear_num_value_heads\": 16",
                            "\"linear_key_head_dim\": 64",
                            "\"linear_value_head_dim\": 64",
                            "\"linear_conv_kernel_dim\": 3",
                            "\"num_experts\": 32",
                            "\"num_experts_per_tok\": 2",
                            "\"moe_intermediate_size\": 64",
                            "\"shared_expert_intermediate_size\": 64",
                            "\"rms_norm_eps\": 1e-5",
                            "\"rope_theta\": 1e7",
                            "\"partial_rotary_factor\": 0.5",
                            "\"full_attention_interval\": 2",
                            "\"rope_parameters\": {\"mrope_section\": [12, 10, 10]}",
                            "\"tie_word_embeddings\": true"}) {
    INFO(field);
    CHECK(configFingerprint(goodConfig(textConfig(field))) != base);
  }
  for (const char *field : {"\"dtype\": \"bfloat16\"", "\"use_cache\": false", "\"eos_token_id\": 1",
                            "\"full_attention_interval\": 4", "\"architectures\": [\"A\"]"}) {
    INFO(field);
    CHECK(configFingerprint(goodConfig(textConfig(field))) == base);
  }
}
