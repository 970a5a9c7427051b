// Refused configurations: each error code with its exact text, and all errors in one go.
#include "ConfigHelp.h"

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// The single error of a bare text configuration whose second line is ` FIELDS}`.
std::string errorOf(const std::string &fields) {
  auto lines = errorLines(textConfig(fields));
  REQUIRE(lines.size() == 1);
  return lines[0];
}

std::string visionErrorOf(const std::string &fields) {
  auto lines = errorLines("{\"model_type\": \"qwen3_5_moe\", \"vision_config\":\n {" + fields + "}}");
  REQUIRE(lines.size() == 1);
  return lines[0];
}

} // namespace

TEST_CASE("NNT0201: model type") {
  CHECK(errorLines("{\n  \"model_type\": \"llama\"}") ==
        std::vector<std::string>{"config.json:2:17: error NNT0201: \"model_type\": expected \"qwen3_5_moe\" or "
                                 "\"qwen3_5_moe_text\", found \"llama\"\n"});
  CHECK(errorLines("{\"hidden_size\": 3}") ==
        std::vector<std::string>{"config.json:1:1: error NNT0201: \"model_type\" is missing; expected \"qwen3_5_moe\" "
                                 "or \"qwen3_5_moe_text\"\n"});
  CHECK(errorLines("{\"model_type\": \"qwen3_5_moe\", \"text_config\": {\"model_type\": \"qwen3\"}}") ==
        std::vector<std::string>{"config.json:1:61: error NNT0201: \"text_config.model_type\": expected "
                                 "\"qwen3_5_moe_text\", found \"qwen3\"\n"});
  CHECK(visionErrorOf("\"model_type\": \"siglip\"") ==
        "config.json:2:17: error NNT0201: \"vision_config.model_type\": expected \"qwen3_5_moe_vision\", found "
        "\"siglip\"\n");
}

TEST_CASE("NNT0202: wrong JSON types") {
  CHECK(errorOf("\"hidden_size\": \"2048\"") ==
        "config.json:2:17: error NNT0202: \"hidden_size\": expected an integer, found a string (\"2048\")\n");
  CHECK(errorOf("\"hidden_size\": 2048.0") ==
        "config.json:2:17: error NNT0202: \"hidden_size\": expected an integer, found a number (2048.0)\n");
  CHECK(errorOf("\"hidden_size\": null") ==
        "config.json:2:17: error NNT0202: \"hidden_size\": expected an integer, found null\n");
  CHECK(errorOf("\"rms_norm_eps\": []") ==
        "config.json:2:18: error NNT0202: \"rms_norm_eps\": expected a number, found an array\n");
  CHECK(errorOf("\"hidden_act\": 1") ==
        "config.json:2:16: error NNT0202: \"hidden_act\": expected a string, found an integer (1)\n");
  CHECK(errorOf("\"use_cache\": 1") ==
        "config.json:2:15: error NNT0202: \"use_cache\": expected true or false, found an integer (1)\n");
  CHECK(errorOf("\"layer_types\": {}") ==
        "config.json:2:17: error NNT0202: \"layer_types\": expected a list of strings, found an object\n");
  CHECK(errorOf("\"architectures\": [1]") ==
        "config.json:2:20: error NNT0202: \"architectures\": expected a list of strings, found an integer (1)\n");
  CHECK(errorOf("\"eos_token_id\": [1, \"x\"]") ==
        "config.json:2:22: error NNT0202: \"eos_token_id\": expected a token id in the list, found a string (\"x\")\n");
  CHECK(errorOf("\"pad_token_id\": \"x\"") ==
        "config.json:2:18: error NNT0202: \"pad_token_id\": expected a token id or null, found a string (\"x\")\n");
  CHECK(errorOf("\"rope_parameters\": {\"mrope_section\": [1, 2]}") ==
        "config.json:2:39: error NNT0202: \"rope_parameters.mrope_section\": expected a list of three integers of at "
        "least 0, found [1,2]\n");
  CHECK(errorOf("\"rope_parameters\": []") ==
        "config.json:2:21: error NNT0202: \"rope_parameters\": expected an object, found an array\n");
  CHECK(errorLines("[]") ==
        std::vector<std::string>{
            "config.json:1:1: error NNT0202: a configuration: expected an object, found an array\n"});
  CHECK(errorLines("{\"model_type\": \"qwen3_5_moe\", \"text_config\": 3}") ==
        std::vector<std::string>{
            "config.json:1:46: error NNT0202: \"text_config\": expected an object, found an integer (3)\n"});
}

TEST_CASE("NNT0203: values out of range") {
  CHECK(errorOf("\"hidden_size\": 0") ==
        "config.json:2:17: error NNT0203: \"hidden_size\": expected an integer from 1 to 16777216, found 0\n");
  CHECK(errorOf("\"num_experts\": -4") ==
        "config.json:2:17: error NNT0203: \"num_experts\": expected an integer from 1 to 65536, found -4\n");
  CHECK(errorOf("\"vocab_size\": 9223372036854775807") ==
        "config.json:2:16: error NNT0203: \"vocab_size\": expected an integer from 1 to 16777216, found "
        "9223372036854775807\n");
  CHECK(errorOf("\"full_attention_interval\": 0") ==
        "config.json:2:29: error NNT0203: \"full_attention_interval\": expected an integer from 1 to 10000, found 0\n");
  CHECK(errorOf("\"rms_norm_eps\": 0") ==
        "config.json:2:18: error NNT0203: \"rms_norm_eps\": expected a number above 0.0 and at most 1.0, found 0\n");
  CHECK(
      errorOf("\"partial_rotary_factor\": 1.5") ==
      "config.json:2:27: error NNT0203: \"partial_rotary_factor\": expected a number above 0.0 and at most 1.0, found "
      "1.5\n");
  CHECK(errorOf("\"rope_theta\": -1") ==
        "config.json:2:16: error NNT0203: \"rope_theta\": expected a number above 0.0 and at most 1e+18, found -1\n");
  CHECK(errorOf("\"eos_token_id\": -1") ==
        "config.json:2:18: error NNT0203: \"eos_token_id\": expected a token id of at least 0, found -1\n");
  CHECK(errorOf("\"quantization_config\": {\"quant_method\": \"fp8\", \"weight_block_size\": [128, 0]}") ==
        "config.json:2:70: error NNT0203: \"quantization_config.weight_block_size\": expected a list of two positive "
        "integers\n");
}

TEST_CASE("NNT0204: sizes that do not fit") {
  CHECK(errorOf("\"num_key_value_heads\": 3") ==
        "config.json:2:25: error NNT0204: \"num_attention_heads\" 16 is not a multiple of \"num_key_value_heads\" 3\n");
  CHECK(errorOf("\"linear_num_value_heads\": 24") ==
        "config.json:2:28: error NNT0204: \"linear_num_value_heads\" 24 is not a multiple of \"linear_num_key_heads\" "
        "16\n");
  CHECK(errorOf("\"num_experts\": 4") ==
        "config.json:2:17: error NNT0204: \"num_experts_per_tok\" 8 is more than \"num_experts\" 4\n");
  CHECK(errorOf("\"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\"]") ==
        "config.json:2:41: error NNT0204: \"layer_types\" names 1 blocks, but \"num_hidden_layers\" is 2\n");
  CHECK(
      errorOf("\"head_dim\": 6, \"partial_rotary_factor\": 0.5") ==
      "config.json:2:42: error NNT0204: \"partial_rotary_factor\" 0.5 of \"head_dim\" 6 gives 3 rotary dims; expected "
      "an even number of at least 2\n");
  CHECK(errorOf("\"head_dim\": 32, \"rope_parameters\": {\"mrope_section\": [11, 11, 10]}") ==
        "config.json:2:55: error NNT0204: \"rope_parameters.mrope_section\" adds up to 32, but only 4 rotary "
        "frequencies exist\n");
  CHECK(visionErrorOf("\"num_heads\": 7") ==
        "config.json:2:16: error NNT0204: \"vision_config.hidden_size\" 1152 is not a multiple of \"num_heads\" 7\n");
  CHECK(
      visionErrorOf("\"num_heads\": 64") ==
      "config.json:2:16: error NNT0204: \"vision_config\": heads of 18 dims; expected a multiple of 4 (row and column "
      "angles, in pairs)\n");
  CHECK(
      visionErrorOf("\"num_position_embeddings\": 50") ==
      "config.json:2:30: error NNT0204: \"vision_config.num_position_embeddings\" 50 is not the square of a number\n");
  CHECK(visionErrorOf("\"out_hidden_size\": 3584") ==
        "config.json:2:22: error NNT0204: \"vision_config.out_hidden_size\" 3584 is not the text model's "
        "\"hidden_size\" 2048\n");
}

TEST_CASE("NNT0205: block types") {
  CHECK(errorOf("\"num_hidden_layers\": 2, \"layer_types\": [\"full_attention\", \"sliding_attention\"]") ==
        "config.json:2:60: error NNT0205: \"layer_types\": expected \"linear_attention\" or \"full_attention\", found "
        "\"sliding_attention\"\n");
}

TEST_CASE("NNT0206: rotary embeddings") {
  CHECK(errorOf("\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0}") ==
        "config.json:2:32: error NNT0206: \"rope_scaling.rope_type\": the rotary embedding \"yarn\" is not supported; "
        "expected \"default\"\n");
  CHECK(errorOf("\"rope_scaling\": {\"type\": \"linear\"}") ==
        "config.json:2:27: error NNT0206: \"rope_scaling.type\": the rotary embedding \"linear\" is not supported; "
        "expected \"default\"\n");
}

TEST_CASE("NNT0207: activations") {
  CHECK(
      errorOf("\"hidden_act\": \"gelu\"") ==
      "config.json:2:16: error NNT0207: \"hidden_act\": the activation \"gelu\" is not supported; expected \"silu\"\n");
  CHECK(visionErrorOf("\"hidden_act\": \"silu\"") ==
        "config.json:2:17: error NNT0207: \"vision_config.hidden_act\": the activation \"silu\" is not supported; "
        "expected \"gelu_pytorch_tanh\"\n");
}

TEST_CASE("NNT0208: attention bias") {
  CHECK(errorOf("\"attention_bias\": true") ==
        "config.json:2:20: error NNT0208: \"attention_bias\": biases in the attention projections are not supported; "
        "expected false\n");
}

TEST_CASE("NNT0209: dtype") {
  CHECK(errorOf("\"torch_dtype\": \"int8\"") ==
        "config.json:2:17: error NNT0209: \"torch_dtype\": expected \"float32\", \"bfloat16\" or \"float16\", found "
        "\"int8\"\n");
}

TEST_CASE("NNT0210: quantization") {
  CHECK(errorOf("\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4}") ==
        "config.json:2:42: error NNT0210: \"quantization_config.quant_method\": \"gptq\" is not supported; expected "
        "\"fp8\"\n");
  CHECK(errorOf("\"quantization_config\": {\"quant_method\": \"fp8\", \"fmt\": \"e5m2\"}") ==
        "config.json:2:56: error NNT0210: \"quantization_config.fmt\": \"e5m2\" is not supported; expected \"e4m3\"\n");
  CHECK(errorOf("\"quantization_config\": {\"quant_method\": \"fp8\", \"activation_scheme\": \"static\"}") ==
        "config.json:2:70: error NNT0210: \"quantization_config.activation_scheme\": \"static\" is not supported; "
        "expected \"dynamic\"\n");
  CHECK(errorOf("\"quantization_config\": {}") ==
        "config.json:2:25: error NNT0210: \"quantization_config.quant_method\" is missing; expected \"fp8\"\n");
}

TEST_CASE("NNT0211: models beyond any bound") {
  CHECK(errorOf("\"vocab_size\": 16777216, \"hidden_size\": 131072") ==
        "config.json:2:41: error NNT0211: the embedding would have 2199023255552.0 elements; at most 1099511627776 are "
        "allowed\n");
  // The largest of everything must neither overflow nor be accepted.
  auto lines = errorLines(textConfig(
      "\"hidden_size\": 16777216, \"vocab_size\": 16777216, \"num_attention_heads\": 65536, \"num_key_value_heads\":"
      "65536, \"head_dim\": 65536, \"linear_num_key_heads\": 65536, \"linear_num_value_heads\": 65536,"
      "\"linear_key_head_dim\": 65536, \"linear_value_head_dim\": 65536, \"linear_conv_kernel_dim\": 65536,"
      "\"num_experts\": 65536, \"moe_intermediate_size\": 16777216, \"shared_expert_intermediate_size\": 16777216"));
  CHECK(lines.size() == 2); // then no size is trusted any more
  for (const std::string &line : lines)
    CHECK(line.find("NNT0211") != std::string::npos);
}

TEST_CASE("all errors come in one go, and none follows from another") {
  CHECK(
      errorLines("{\n  \"model_type\": \"qwen3_5_moe\",\n  \"text_config\": {\n    \"hidden_size\": \"big\",\n"
                 "    \"num_experts\": 0,\n    \"hidden_act\": \"relu\"\n  },\n  \"vision_config\": {\n"
                 "    \"out_hidden_size\": 64,\n    \"depth\": true\n  },\n  \"image_token_id\": -2\n}") ==
      std::vector<std::string>{
          "config.json:4:20: error NNT0202: \"text_config.hidden_size\": expected an integer, found a string "
          "(\"big\")\n",
          "config.json:5:20: error NNT0203: \"text_config.num_experts\": expected an integer from 1 to 65536, found "
          "0\n",
          "config.json:6:19: error NNT0207: \"text_config.hidden_act\": the activation \"relu\" is not supported; "
          "expected \"silu\"\n",
          "config.json:12:21: error NNT0203: \"image_token_id\": expected a token id of at least 0, found -2\n",
          "config.json:10:14: error NNT0202: \"vision_config.depth\": expected an integer, found a boolean (true)\n"});
}

TEST_CASE("every code of the configuration is explained") {
  for (int number = 201; number <= 211; ++number) {
    INFO(number);
    CHECK_FALSE(explain("NNT0" + std::to_string(number)).empty());
  }
}
