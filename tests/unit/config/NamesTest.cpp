// Names and index forms that stand for points: spec/plan.md section 3.
#include "ConfigHelp.h"

using namespace nnterp;
using namespace nnterp::test;
using Names = std::vector<std::string>;

namespace {

const PointTable &toy() { // linear but for blocks 3 and 7
  static const PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/toy"));
  return table;
}
const PointTable &tinyVl() { // linear, linear, linear, full; an encoder of two blocks
  static const PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/tiny-vl"));
  return table;
}

} // namespace

TEST_CASE("index forms select blocks in forward order") {
  auto blocks = [](const std::string &index) {
    Names list;
    for (const std::string &name : expandNames(toy(), "layers[" + index + "].layer_output"))
      list.push_back(name.substr(7, name.find(']') - 7));
    return list;
  };
  CHECK(blocks("3") == Names{"3"});
  CHECK(blocks("-1") == Names{"7"});
  CHECK(blocks("-8") == Names{"0"});
  CHECK(blocks("7,3") == Names{"3", "7"});
  CHECK(blocks("3, -1, 3") == Names{"3", "7"});
  CHECK(blocks("1:3") == Names{"1", "2"});
  CHECK(blocks("6:") == Names{"6", "7"});
  CHECK(blocks(":2") == Names{"0", "1"});
  CHECK(blocks("-2:") == Names{"6", "7"});
  CHECK(blocks("-100:2") == Names{"0", "1"});
  CHECK(blocks("5:100") == Names{"5", "6", "7"});
  CHECK(blocks("0:8").size() == 8);
  CHECK(blocks(":").size() == 8);
  CHECK(blocks("*").size() == 8);
  CHECK(blocks("linear") == Names{"0", "1", "2", "4", "5", "6"});
  CHECK(blocks("full") == Names{"3", "7"});
  CHECK(blocks("-9223372036854775808:1") == Names{"0"});
}

TEST_CASE("ranges and stars take the blocks that have the value") {
  CHECK(expandNames(toy(), "layers[*].self_attn.attention_premix") ==
        Names{"layers[3].self_attn.attention_premix", "layers[7].self_attn.attention_premix"});
  CHECK(expandNames(toy(), "layers[2:5].linear_attn.betas") ==
        Names{"layers[2].linear_attn.betas", "layers[4].linear_attn.betas"});
  CHECK(expandNames(toy(), "layers[full].mlp.router_logits") ==
        Names{"layers[3].mlp.router_logits", "layers[7].mlp.router_logits"});
}

TEST_CASE("[=] is the block that was matched") {
  CHECK(expandNames(toy(), "layers[=].layer_input", 5) == Names{"layers[5].layer_input"});
  CHECK(expandNames(toy(), "layers[=].linear_attn.decays", 2) == Names{"layers[2].linear_attn.decays"});
}

TEST_CASE("names joined by = are one point") {
  for (auto [alias, standard] : std::vector<std::pair<std::string, std::string>>{
           {"embed_tokens.input", "input_ids"},
           {"embed_tokens.output", "token_embeddings"},
           {"norm.output", "final_norm_output"},
           {"lm_head.output", "lm_head_output"},
           {"layers[3].input", "layers[3].layer_input"},
           {"layers[3].output", "layers[3].layer_output"},
           {"layers[3].input_layernorm.output", "layers[3].attention_norm_output"},
           {"layers[3].self_attn.input", "layers[3].attention_norm_output"},
           {"layers[2].linear_attn.input", "layers[2].attention_norm_output"},
           {"layers[3].post_attention_layernorm.output", "layers[3].mlp_norm_output"},
           {"layers[3].mlp.input", "layers[3].mlp_input"},
           {"layers[3].mlp.output", "layers[3].mlp.mlp_output"},
           {"layers[2].linear_attn.output", "layers[2].linear_attn.attention_output"},
           {"layers[2].linear_attn.out_proj.output", "layers[2].linear_attn.attention_output"},
           {"layers[3].self_attn.output", "layers[3].self_attn.attention_output"},
           {"layers[3].self_attn.o_proj.output", "layers[3].self_attn.attention_output"},
           {"layers[2].linear_attn.state", "layers[2].linear_attn.states"},
           {"layers[2].mlp.experts.output", "layers[2].mlp.routed_output"},
           {"layers[2].mlp.router.output", "layers[2].mlp.router_logits"},
           {"layers[2].mlp.gate.output", "layers[2].mlp.router_logits"},
           {"layers[2].mlp.gate.input", "layers[2].mlp.router.input"},
           {"layers[2].mlp.shared_experts.output", "layers[2].mlp.shared_experts.mlp_output"},
           {"layers[2].mlp.shared_expert.output", "layers[2].mlp.shared_experts.mlp_output"},
           {"layers[2].mlp.shared_expert.down_proj.output", "layers[2].mlp.shared_experts.mlp_output"},
           {"layers[2].mlp.shared_expert.input", "layers[2].mlp.shared_experts.input"},
           {"layers[2].mlp.shared_experts.act_fn.input", "layers[2].mlp.shared_experts.gate_proj.output"},
           {"layers[2].mlp.shared_experts.act_fn.output", "layers[2].mlp.shared_experts.mlp_activation"},
           {"layers[2].mlp.shared_experts.down_proj.input", "layers[2].mlp.shared_experts.mlp_neurons"}}) {
    INFO(alias);
    CHECK(expandNames(toy(), alias) == Names{standard});
    CHECK(toy().canonical(alias) == standard);
    CHECK(toy().canonical(standard) == standard);
  }
}

TEST_CASE("names that 7.8 does not join are points of their own") {
  for (auto [a, b] : std::vector<std::pair<std::string, std::string>>{
           {"layers[0].mlp_norm_output", "layers[0].mlp_input"},
           {"layers[0].layer_output", "layers[1].layer_input"},
           {"lm_head_output", "logits"},
           {"norm.input", "layers[7].layer_output"},
           {"final_norm_output", "lm_head.input"},
           {"layers[3].self_attn.attention_premix", "layers[3].self_attn.o_proj.input"},
           {"layers[3].self_attn.q_proj.input", "layers[3].attention_norm_output"},
           {"layers[3].self_attn.q_proj.input", "layers[3].self_attn.k_proj.input"},
           {"layers[0].input_layernorm.input", "layers[0].layer_input"},
           {"layers[0].linear_attn.attention_head_outputs", "layers[0].linear_attn.norm.input"},
           {"layers[0].mlp.router.input", "layers[0].mlp.experts.input"}}) {
    INFO(a << " and " << b);
    CHECK(expandNames(toy(), a) != expandNames(toy(), b));
    CHECK(expandNames(toy(), a) == Names{a});
    CHECK(expandNames(toy(), b) == Names{b});
  }
}

TEST_CASE("an alias below a mixer is on blocks of its kind") {
  CHECK(expandNames(toy(), "layers[*].self_attn.input") ==
        Names{"layers[3].attention_norm_output", "layers[7].attention_norm_output"});
  CHECK(expandNames(toy(), "layers[*].linear_attn.input").size() == 6);
  CHECK(expandNames(toy(), "layers[*].attention_norm_output").size() == 8);
}

TEST_CASE("the canonical form keeps the index form, and what it does not know") {
  CHECK(toy().canonical("layers[*].mlp.gate.output") == "layers[*].mlp.router_logits");
  CHECK(toy().canonical("layers[0:8].output") == "layers[0:8].layer_output");
  CHECK(toy().canonical("layers[=].input") == "layers[=].layer_input");
  CHECK(toy().canonical("layers[0].nothing") == "layers[0].nothing");
  CHECK(toy().canonical("") == "");
  CHECK(toy().canonical("layers") == "layers");
}

TEST_CASE("aliases of the encoder") {
  for (auto [alias, standard] : std::vector<std::pair<std::string, std::string>>{
           {"vision.blocks[0].layer_input", "vision.layers[0].layer_input"},
           {"visual.blocks[*].input", "vision.layers[*].layer_input"},
           {"vision.layers[0].output", "vision.layers[0].layer_output"},
           {"vision.layers[0].attn.attention_queries", "vision.layers[0].self_attn.attention_queries"},
           {"vision.layers[0].attn.output", "vision.layers[0].self_attn.attention_output"},
           {"vision.layers[0].attn.proj.output", "vision.layers[0].self_attn.attention_output"},
           {"vision.layers[0].self_attn.o_proj.input", "vision.layers[0].attn.proj.input"},
           {"vision.layers[0].self_attn.qkv.output", "vision.layers[0].attn.qkv.output"},
           {"vision.layers[0].norm1.output", "vision.layers[0].attention_norm_output"},
           {"vision.layers[0].input_layernorm.input", "vision.layers[0].norm1.input"},
           {"vision.layers[0].post_attention_layernorm.output", "vision.layers[0].mlp_norm_output"},
           {"vision.layers[0].mlp.down_proj.input", "vision.layers[0].mlp.mlp_neurons"},
           {"vision.layers[0].mlp.linear_fc2.output", "vision.layers[0].mlp.mlp_output"},
           {"vision.layers[0].attn.attention_scores#12", "vision.layers[0].self_attn.attention_scores#12"},
           {"vision.patch_embed.proj.output", "vision.patch_embeddings"},
           {"merger.input", "projector.input"},
           {"merger.linear_fc2.input", "projector.linear_fc2.input"}}) {
    INFO(alias);
    CHECK(tinyVl().canonical(alias) == standard);
  }
}
