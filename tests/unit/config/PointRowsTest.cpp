// The family's table: counts, order, shapes, types, places, and what the graph has.
#include "ConfigHelp.h"

#include <set>

using namespace nnterp;
using namespace nnterp::test;

namespace {

std::string shapeOf(const PointTable &table, const char *standardName) {
  const PointInfo *row = table.row(standardName);
  REQUIRE(row);
  std::string text;
  for (const Dim &dim : row->shape)
    text += (text.empty() ? "" : " ") + toString(dim);
  return text;
}

} // namespace

TEST_CASE("rows have unique names, as many extents as axes, and explanations") {
  PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/tiny-vl"));
  std::set<std::string> names, texts;
  for (const PointInfo &row : table.rows()) {
    INFO(row.name);
    CHECK(names.insert(row.name).second);
    for (const std::string &alias : row.aliases)
      CHECK(names.insert(alias).second);
    CHECK(row.shape.size() == axes(row.layout).size());
    CHECK_FALSE(row.where.empty());
    CHECK_FALSE(row.what.empty());
    CHECK(row.condition.empty() == (row.presence == Presence::model || row.presence == Presence::everyBlock));
    CHECK((row.place != Place::none) == isPlaced(row.layout));
    for (size_t i = 0; i < row.shape.size() && !row.shape.empty(); ++i) {
      bool token = isTokenAxis(axes(row.layout)[i]);
      CHECK((row.shape[i].kind == Dim::seq) == token);
      CHECK((row.shape[i].kind == Dim::batch) == (axes(row.layout)[i] == "batch"));
    }
  }
}

TEST_CASE("the number of values") {
  PointTable text = qwen35MoePoints(checkpointConfig("checkpoints/tiny-text"));
  std::map<Presence, int> count;
  for (const PointInfo &row : text.rows())
    ++count[row.presence];
  CHECK(count[Presence::model] == 10);
  CHECK(count[Presence::everyBlock] == 27);
  CHECK(count[Presence::linearBlock] == 24);
  CHECK(count[Presence::fullBlock] == 21);
  CHECK(count[Presence::image] == 0);
  CHECK(text.points().size() == size_t(10 + 8 * 27 + 6 * 24 + 2 * 21));
  PointTable images = qwen35MoePoints(checkpointConfig("checkpoints/tiny-vl"));
  CHECK(images.rows().size() == text.rows().size() + 36);
  CHECK(images.points().size() == size_t(10 + 4 * 27 + 3 * 24 + 21));
  CHECK(images.imagePoints().size() == size_t(4 + 2 * 24 + 7)); // without the mask of image tokens
  CHECK(text.imagePoints().empty());
}

TEST_CASE("points stand in forward order") {
  PointTable table =
      qwen35MoePoints(goodConfig(textConfig("\"num_hidden_layers\": 2, \"full_attention_interval\": 2")));
  const std::vector<std::string> entry = {"layer_input", "input_layernorm.input", "attention_norm_output"};
  const std::vector<std::string> linear = {"in_proj_qkv.input",
                                           "in_proj_qkv.output",
                                           "conv1d.input",
                                           "conv1d.output",
                                           "in_proj_z.input",
                                           "in_proj_z.output",
                                           "in_proj_b.input",
                                           "in_proj_b.output",
                                           "in_proj_a.input",
                                           "in_proj_a.output",
                                           "attention_queries",
                                           "attention_keys",
                                           "attention_values",
                                           "decays",
                                           "betas",
                                           "state_input",
                                           "states",
                                           "attention_head_outputs",
                                           "state_output",
                                           "conv_state",
                                           "norm.input",
                                           "norm.output",
                                           "out_proj.input",
                                           "attention_output"};
  const std::vector<std::string> full = {"q_proj.input",
                                         "q_proj.output",
                                         "k_proj.input",
                                         "k_proj.output",
                                         "v_proj.input",
                                         "v_proj.output",
                                         "q_norm.input",
                                         "q_norm.output",
                                         "k_norm.input",
                                         "k_norm.output",
                                         "attention_queries",
                                         "attention_keys",
                                         "attention_values",
                                         "past_keys",
                                         "past_values",
                                         "attention_scores",
                                         "attention_probabilities",
                                         "attention_head_outputs",
                                         "attention_premix",
                                         "o_proj.input",
                                         "attention_output"};
  const std::vector<std::string> rest = {"layer_mid",
                                         "post_attention_layernorm.input",
                                         "mlp_norm_output",
                                         "mlp_input",
                                         "mlp.shared_experts.input",
                                         "mlp.shared_experts.gate_proj.input",
                                         "mlp.shared_experts.gate_proj.output",
                                         "mlp.shared_experts.up_proj.input",
                                         "mlp.shared_experts.up_proj.output",
                                         "mlp.shared_experts.mlp_activation",
                                         "mlp.shared_experts.mlp_neurons",
                                         "mlp.shared_experts.mlp_output",
                                         "mlp.router.input",
                                         "mlp.router_logits",
                                         "mlp.expert_indices",
                                         "mlp.expert_weights",
                                         "mlp.experts.input",
                                         "mlp.expert_outputs",
                                         "mlp.routed_output",
                                         "mlp.shared_expert_gate.input",
                                         "mlp.shared_expert_gate.output",
                                         "mlp.shared_expert_output",
                                         "mlp.mlp_output",
                                         "layer_output"};
  std::vector<std::string> expected = {"input_ids", "attention_mask", "input_size", "token_embeddings"};
  auto block = [&](const std::string &prefix, const std::string &mixer, const std::vector<std::string> &names) {
    for (const std::string &name : entry)
      expected.push_back(prefix + name);
    for (const std::string &name : names)
      expected.push_back(prefix + mixer + name);
    for (const std::string &name : rest)
      expected.push_back(prefix + name);
  };
  block("layers[0].", "linear_attn.", linear);
  block("layers[1].", "self_attn.", full);
  for (const char *name :
       {"norm.input", "final_norm_output", "lm_head.input", "lm_head_output", "logits", "next_token_probs"})
    expected.push_back(name);
  CHECK(namesOf(table.points()) == expected);
}

TEST_CASE("shapes follow the configuration") {
  // tiny-text: every size is different, so that no two can be confused.
  PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/tiny-text"));
  CHECK(shapeOf(table, "layer_output") == "B S 48");
  CHECK(shapeOf(table, "logits") == "B S 320");
  CHECK(shapeOf(table, "next_token_probs") == "B 320");
  CHECK(shapeOf(table, "input_size") == "2");
  CHECK(shapeOf(table, "linear_attn.in_proj_qkv.output") == "B S 208");
  CHECK(shapeOf(table, "linear_attn.in_proj_z.output") == "B S 144");
  CHECK(shapeOf(table, "linear_attn.attention_queries") == "B S 6 16");
  CHECK(shapeOf(table, "linear_attn.attention_values") == "B S 6 24");
  CHECK(shapeOf(table, "linear_attn.states") == "B S 6 16 24");
  CHECK(shapeOf(table, "linear_attn.state_output") == "B 6 16 24");
  CHECK(shapeOf(table, "linear_attn.conv_state") == "B 208 4");
  CHECK(shapeOf(table, "linear_attn.out_proj.input") == "B S 144");
  CHECK(shapeOf(table, "self_attn.q_proj.output") == "B S 256");
  CHECK(shapeOf(table, "self_attn.v_proj.output") == "B S 64");
  CHECK(shapeOf(table, "self_attn.k_norm.output") == "B S 2 32");
  CHECK(shapeOf(table, "self_attn.attention_queries") == "B 4 S 32");
  CHECK(shapeOf(table, "self_attn.past_keys") == "B 2 S 32");
  CHECK(shapeOf(table, "self_attn.attention_scores") == "B 4 S S");
  CHECK(shapeOf(table, "self_attn.attention_premix") == "B S 4 32");
  CHECK(shapeOf(table, "self_attn.o_proj.input") == "B S 128");
  CHECK(shapeOf(table, "mlp.shared_experts.mlp_neurons") == "B S 28");
  CHECK(shapeOf(table, "mlp.router_logits") == "B S 12");
  CHECK(shapeOf(table, "mlp.expert_outputs") == "B S 3 48");
  CHECK(shapeOf(table, "mlp.shared_expert_gate.output") == "B S 1");

  PointTable images = qwen35MoePoints(checkpointConfig("checkpoints/tiny-vl"));
  CHECK(shapeOf(images, "vision.layers[j].self_attn.attention_queries") == "1 2 P 20");
  CHECK(shapeOf(images, "vision.layers[j].self_attn.attention_scores#i") == "1 2 n n");
  CHECK(shapeOf(images, "vision.layers[j].mlp.mlp_neurons") == "1 P 56");
  CHECK(shapeOf(images, "projector.linear_fc1.input") == "M 160");
  CHECK(shapeOf(images, "projector.output") == "M 48");
  CHECK_FALSE(images.row("nothing"));
}

TEST_CASE("types, access and places") {
  PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/tiny-vl"));
  std::map<ValueType, std::set<std::string>> typed;
  std::set<std::string> readOnly, start, end;
  for (const PointInfo &row : table.rows()) {
    typed[row.type].insert(row.name);
    if (row.access == Access::readOnly)
      readOnly.insert(row.name);
    if (row.place == Place::promptStart)
      start.insert(row.name);
    if (row.place == Place::promptEnd)
      end.insert(row.name);
  }
  using Set = std::set<std::string>;
  CHECK(typed[ValueType::int64] == Set{"input_ids", "attention_mask", "input_size", "mlp.expert_indices"});
  CHECK(typed[ValueType::float32] == Set{"linear_attn.decays", "linear_attn.state_input", "linear_attn.states",
                                         "linear_attn.state_output", "next_token_probs"});
  CHECK(typed[ValueType::boolean] == Set{"vision.image_token_mask"});
  CHECK(readOnly == Set{"input_ids", "attention_mask", "input_size", "next_token_probs", "vision.image_token_mask",
                        "vision.tower_output"});
  CHECK(start == Set{"linear_attn.state_input"});
  CHECK(end ==
        Set{"linear_attn.state_output", "linear_attn.conv_state", "self_attn.past_keys", "self_attn.past_values"});
}

TEST_CASE("every point expands to itself") {
  PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/toy"));
  for (const PointRef &point : table.points()) {
    NameError error;
    auto found = table.expand(point.name(), error);
    INFO(point.name());
    REQUIRE(found);
    REQUIRE(found->size() == 1);
    CHECK(found->front() == point);
  }
}

TEST_CASE("values of images stand in forward order, and one image's attention is a point of its own") {
  PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/tiny-vl"));
  std::vector<std::string> names = namesOf(table.imagePoints());
  auto place = [&](const char *name) { return std::find(names.begin(), names.end(), name) - names.begin(); };
  CHECK(names.front() == "vision.patch_embeddings");
  CHECK(names.back() == "vision.image_features");
  const char *forward[] = {"vision.pos_embed.output",
                           "vision.layers[0].layer_input",
                           "vision.layers[0].self_attn.attention_scores#i",
                           "vision.layers[0].layer_output",
                           "vision.layers[1].layer_input",
                           "vision.layers[1].layer_output",
                           "projector.input",
                           "vision.tower_output"};
  for (size_t i = 1; i < std::size(forward); ++i)
    CHECK(place(forward[i - 1]) < place(forward[i]));
  for (const PointRef &point : table.imagePoints()) {
    NameError error;
    std::string name = point.name();
    if (name.back() == 'i' && name[name.size() - 2] == '#')
      name.replace(name.size() - 1, 1, "12");
    auto found = table.expand(name, error);
    INFO(name);
    REQUIRE((found && found->size() == 1));
    CHECK((found->front().info == point.info && found->front().layer == point.layer));
    CHECK(found->front().segment == (name == point.name() ? -1 : 12));
    CHECK(found->front().name() == name);
  }
  CHECK(expandNames(table, "vision.blocks[*].attn.attention_scores#03") ==
        std::vector<std::string>{"vision.layers[0].self_attn.attention_scores#3",
                                 "vision.layers[1].self_attn.attention_scores#3"});
  CHECK(table.canonical("visual.blocks[0].attn.attention_scores#2") == "vision.layers[0].self_attn.attention_scores#2");
}

TEST_CASE("patterns of rows expand to the blocks that have them") {
  PointTable table = qwen35MoePoints(checkpointConfig("checkpoints/toy"));
  for (const PointInfo &row : table.rows()) {
    auto blocks = table.blocksOf(row.presence).size();
    CHECK(expandNames(table, patternOf(row, row.name)).size() == std::max<size_t>(blocks, 1));
    for (const std::string &alias : row.aliases)
      CHECK(expandNames(table, patternOf(row, alias))[0].substr(0, 3) != "NNT");
  }
}

TEST_CASE("lists of blocks join runs") {
  CHECK(indexList({}) == "");
  CHECK(indexList({3}) == "3");
  CHECK(indexList({3, 7, 11}) == "3, 7, 11");
  CHECK(indexList({0, 1, 2, 4, 5, 6, 9}) == "0-2, 4-6, 9");
}
