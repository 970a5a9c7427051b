// Names that stand for nothing: each code with its exact text.
#include "ConfigHelp.h"

using namespace nnterp;
using namespace nnterp::test;

namespace {

std::string errorOf(const std::string &pattern, const char *checkpoint = "toy") {
  static std::map<std::string, PointTable> tables;
  auto found = tables.find(checkpoint);
  if (found == tables.end())
    found =
        tables.emplace(checkpoint, qwen35MoePoints(checkpointConfig(std::string("checkpoints/") + checkpoint))).first;
  NameError error;
  REQUIRE_FALSE(found->second.expand(pattern, error));
  auto lines = expandNames(found->second, pattern);
  return lines[0];
}

} // namespace

TEST_CASE("NNT0601: unknown names give the three nearest") {
  CHECK(errorOf("layers[0].layer_outptu") ==
        "NNT0601 no value is named \"layers[0].layer_outptu\" | nearest: \"layers[0].layer_output\", "
        "\"layers[0].layer_input\" or \"layers[0].layer_mid\"");
  CHECK(errorOf("logit") ==
        "NNT0601 no value is named \"logit\" | nearest: \"logits\", \"norm.input\" or \"input_ids\"");
  // A value of blocks without its block, and the other way round.
  CHECK(errorOf("layer_output") ==
        "NNT0601 no value is named \"layer_output\" | nearest: \"layers[*].layer_output\", \"lm_head_output\" or "
        "\"norm.output\"");
  CHECK(errorOf("layers[0].logits") ==
        "NNT0601 no value is named \"layers[0].logits\" | nearest: \"logits\", \"layers[0].input\" or "
        "\"layers[0].output\"");
  // The host is missing: what this block has comes first.
  CHECK(errorOf("layers[3].attention_queries").find("nearest: \"layers[3].self_attn.attention_queries\"") !=
        std::string::npos);
  CHECK(errorOf("layers[2].attention_queries").find("nearest: \"layers[2].linear_attn.attention_queries\"") !=
        std::string::npos);
  CHECK(errorOf("layers[*].mlp.rooter_logits").find("nearest: \"layers[*].mlp.router_logits\"") != std::string::npos);
  CHECK(errorOf("layers[0]").substr(0, 47) == "NNT0601 no value is named \"layers[0]\" | nearest");
  CHECK(errorOf("").substr(0, 38) == "NNT0601 no value is named \"\" | nearest");
  CHECK(errorOf("vision.foo", "tiny-vl").find("nearest: \"vision.") != std::string::npos);
  // Several images, one pattern each.
  CHECK(errorOf("vision.layers[0].self_attn.attention_scores", "tiny-vl")
            .find("nearest: \"vision.layers[0].self_attn.attention_scores#0\"") != std::string::npos);
}

TEST_CASE("NNT0602: absent on this kind of block") {
  CHECK(errorOf("layers[3].linear_attn.decays") ==
        "NNT0602 \"layers[3].linear_attn.decays\": block 3 is a full-attention block and has no "
        "\"linear_attn.decays\" | blocks that have it: 0-2, 4-6");
  CHECK(errorOf("layers[0].self_attn.attention_keys") ==
        "NNT0602 \"layers[0].self_attn.attention_keys\": block 0 is a linear block and has no "
        "\"self_attn.attention_keys\" | blocks that have it: 3, 7 | block 0 has "
        "\"layers[0].linear_attn.attention_keys\"");
  CHECK(errorOf("layers[3,4].self_attn.input").substr(0, 7) == "NNT0602");
  CHECK(errorOf("layers[-1].linear_attn.conv_state").substr(0, 7) == "NNT0602");
}

TEST_CASE("NNT0603: no such block") {
  CHECK(errorOf("layers[8].layer_input") ==
        "NNT0603 \"layers[8].layer_input\": there is no block 8; the model has 8, from 0 to 7 (or -8 to -1)");
  CHECK(errorOf("layers[0,-9].layer_input") ==
        "NNT0603 \"layers[0,-9].layer_input\": there is no block -9; the model has 8, from 0 to 7 (or -8 to -1)");
  CHECK(errorOf("vision.layers[2].layer_input", "tiny-vl") ==
        "NNT0603 \"vision.layers[2].layer_input\": there is no block 2; the encoder has 2, from 0 to 1 (or -2 to -1)");
}

TEST_CASE("NNT0604: malformed indices") {
  const std::string expected =
      ": expected an index behind \"layers\" and a name behind a dot: [3], [-1], [3,7], [0:8], "
      "[*], [linear] or [full], as in \"layers[0].layer_output\"";
  for (const char *bad :
       {"layers.0.layer_input", "layers", "layers[", "layers[]", "layers[].layer_input", "layers[a].layer_input",
        "layers[0", "layers[0]layer_input", "layers[1.5].layer_input", "layers[1,].layer_input",
        "layers[0:4:2].layer_input", "layers[0:2,5].layer_input", "layers[99999999999999999999].layer_input"}) {
    INFO(bad);
    std::string error = errorOf(bad);
    // An index is only looked at when the name behind it exists.
    if (std::string(bad) != "layers[]")
      CHECK(error == "NNT0604 \"" + std::string(bad) + "\"" + expected);
  }
  CHECK(errorOf("layers[=].layer_input") ==
        "NNT0604 \"layers[=].layer_input\": [=] stands for the block that an edit matched; here none has");
  CHECK(errorOf("vision.layers[full].layer_input", "tiny-vl") ==
        "NNT0604 \"vision.layers[full].layer_input\": expected an index behind \"vision.layers\" and a name behind a "
        "dot: [0], [-1], [0,2], [0:8] or [*], as in \"vision.layers[0].layer_output\"");
}

TEST_CASE("NNT0605: no block of the selection has it") {
  CHECK(errorOf("layers[0:3].self_attn.attention_scores") ==
        "NNT0605 \"layers[0:3].self_attn.attention_scores\": none of the blocks 0-2 has the value | blocks that have "
        "it: 3, 7");
  CHECK(errorOf("layers[linear].self_attn.q_norm.output").substr(0, 7) == "NNT0605");
  CHECK(errorOf("layers[5:3].layer_input") ==
        "NNT0605 \"layers[5:3].layer_input\": the index [5:3] selects no block of 8");

  PointTable linearOnly = qwen35MoePoints(goodConfig(textConfig("\"num_hidden_layers\": 2")));
  CHECK(
      expandNames(linearOnly, "layers[*].self_attn.attention_scores")[0] ==
      "NNT0605 \"layers[*].self_attn.attention_scores\": none of the blocks 0-1 has the value | no block of this model "
      "has it");
  CHECK(expandNames(linearOnly, "layers[full].layer_input")[0] ==
        "NNT0605 \"layers[full].layer_input\": the index [full] selects no block of 2");
}

TEST_CASE("NNT0606: the mixture has no neurons of its own") {
  CHECK(errorOf("layers[2].mlp.mlp_neurons") ==
        "NNT0606 \"layers[2].mlp.mlp_neurons\": the mixture has no neurons of its own, its experts are fused; the "
        "shared expert's are \"layers[2].mlp.shared_experts.mlp_neurons\"");
  CHECK(errorOf("layers[*].mlp.mlp_activation") ==
        "NNT0606 \"layers[*].mlp.mlp_activation\": the mixture has no neurons of its own, its experts are fused; the "
        "shared expert's are \"layers[*].mlp.shared_experts.mlp_activation\"");
}

TEST_CASE("NNT0607: no image encoder") {
  for (const char *pattern : {"vision.layers[0].layer_input", "visual.blocks[0].norm1.input", "vision.image_features",
                              "projector.output", "merger.output", "image_token_mask", "vision.nonsense"}) {
    INFO(pattern);
    CHECK(errorOf(pattern) ==
          "NNT0607 \"" + std::string(pattern) + "\": this checkpoint is text-only and has no image encoder");
  }
}

TEST_CASE("NNT0608: only with generation") {
  CHECK(errorOf("tokens") == "NNT0608 \"tokens\" exists only when tokens are generated (--generate N)");
}

TEST_CASE("NNT0604: an image has a number") {
  const std::string scores = "vision.layers[0].self_attn.attention_scores#";
  for (const char *bad : {"i", "99999999999999999999"})
    CHECK(errorOf(scores + bad, "tiny-vl") ==
          "NNT0604 \"" + scores + bad + "\": expected the number of an image behind \"#\", as in \"" + scores + "0\"");
  for (const char *bad : {"", "*", "-1", "0:2"})
    CHECK(errorOf(scores + bad, "tiny-vl").find("nearest: \"" + scores + "0\"") != std::string::npos);
  CHECK(errorOf("vision.layers[0].self_attn.attention_output#0", "tiny-vl").substr(0, 7) == "NNT0601");
}

TEST_CASE("every code of names is explained") {
  for (int number = 601; number <= 609; ++number) {
    INFO(number);
    CHECK_FALSE(explain("NNT0" + std::to_string(number)).empty());
  }
}
