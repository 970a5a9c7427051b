// `nnterp points`: the page, the JSON and the printout.
#include "ConfigHelp.h"

#include "tools/nnterp/report/Points.h"
#include "tools/nnterp/report/Units.h"

#include <fstream>
#include <set>
#include <sstream>

using namespace nnterp;
using namespace nnterp::test;

namespace {

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

} // namespace

TEST_CASE("the page groups blocks and says what each value is") {
  ModelConfig config = checkpointConfig("configs/qwen3.5-35b-a3b");
  PointTable table = qwen35MoePoints(config);
  std::string text = pointsText(table, config, DType::bf16);
  CHECK(contains(text, "qwen3_5_moe: 40 blocks, 30 linear and 10 full-attention; a run in bfloat16."));
  CHECK(contains(text, "30 linear blocks: 0-2, 4-6, 8-10"));
  CHECK(contains(text, "10 full-attention blocks: 3, 7, 11, 15, 19, 23, 27, 31, 35, 39"));
  CHECK(contains(text, "layers[linear].linear_attn.decays"));
  CHECK(contains(text, "layers[full].self_attn.attention_premix"));
  CHECK(contains(text, "Image encoder, 27 blocks (only when the prompt has images)"));
  CHECK(contains(text,
                 "= layers[*].input_layernorm.output, layers[linear].linear_attn.input, layers[full].self_attn.input"));
  CHECK(countOf(text, "layers[*].layer_mid ") == 2); // once in the text model, once in the encoder: not 40 times
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    CHECK(displayWidth(line) <= 150);
}

TEST_CASE("the page of one value is short") {
  ModelConfig config = checkpointConfig("checkpoints/tiny-heads");
  CHECK(pointsText(qwen35MoePoints(config), config, DType::f32, "attention_scores") ==
        "qwen3_5_moe: 4 blocks, 3 linear and 1 full-attention; a run in float32.\n"
        "B rows of the batch, S tokens. Cost: bytes that one tap writes.\n"
        "\n"
        "1 full-attention block: 3\n"
        "  layers[full].self_attn.attention_scores  [B, 4, S, S]  float32  Pattern  read-write  16 B / token x key\n"
        "      in front of the softmax, scaled and masked: how well each query fits each key; the lowest number where "
        "a key may\n"
        "      not be seen\n");
  CHECK(pointsText(qwen35MoePoints(config), config, DType::f32, "nothing") == "no named value contains \"nothing\"\n");
}

TEST_CASE("the JSON has one object per row with its blocks") {
  ModelConfig config = checkpointConfig("checkpoints/toy");
  PointTable table = qwen35MoePoints(config);
  Diagnostics diags;
  auto json = parseJson(pointsJson(table, config, DType::bf16), "points", diags);
  REQUIRE(json);
  const Json *rows = json->find("points");
  REQUIRE(rows);
  CHECK(rows->array.size() == table.rows().size());
  std::set<std::string> keys;
  for (const Json &row : rows->array) {
    for (const Json::Member &member : row.object)
      keys.insert(member.key);
    if (row.find("name")->string != "layers[linear].linear_attn.state_output")
      continue;
    CHECK(row.find("layout")->string == "State");
    CHECK(row.find("dtype")->string == "float32");
    CHECK(row.find("access")->string == "read-write");
    CHECK(row.find("condition")->string == "only on linear blocks");
    CHECK(row.find("blocks")->dump() == "[0,1,2,4,5,6]");
    CHECK(row.find("axes")->dump() == "[\"batch\",\"heads\",\"key_dim\",\"value_dim\"]");
    CHECK(row.find("shape")->dump() == "[\"B\",4,32,32]");
    CHECK(row.find("tap_bytes")->integer == 4 * 32 * 32 * 4);
    CHECK(row.find("tap_bytes_per")->string == "row");
    CHECK(row.find("place")->string == "stands at prompt[-1] and each gen[k]");
  }
  CHECK(keys == std::set<std::string>{"name", "aliases", "layout", "axes", "shape", "dtype", "access", "condition",
                                      "blocks", "where", "what", "place", "tap_bytes", "tap_bytes_per"});
}

TEST_CASE("the printout groups equal blocks") {
  ModelConfig config = checkpointConfig("checkpoints/tiny-heads");
  std::string tree = pointsTree(qwen35MoePoints(config), config);
  CHECK(tree.substr(0, 22) == "Qwen3_5MoeForCausalLM\n");
  CHECK(contains(tree, "├─ (0-2): 3 x linear block\n"));
  CHECK(contains(tree, "└─ (3): full-attention block\n"));
  CHECK(countOf(tree, "(linear_attn)") == 1);
  CHECK(countOf(tree, "(self_attn)") == 1);
  CHECK(countOf(tree, "layer_mid") == 2);
  // In each kind of block, the aliases that it has.
  CHECK(countOf(tree, "= input_layernorm.output, linear_attn.input\n") == 1);
  CHECK(countOf(tree, "= input_layernorm.output, self_attn.input\n") == 1);

  ModelConfig large = checkpointConfig("configs/qwen3.5-397b-a17b");
  std::string largeTree = pointsTree(qwen35MoePoints(large), large);
  CHECK(contains(largeTree, "56-58): 45 x linear block\n"));
  CHECK(contains(largeTree, "(0-26): 27 x encoder block\n"));
  // As many lines as one block of each kind has values: independent of depth.
  CHECK(countOf(largeTree, "\n") < countOf(tree, "\n") + 80);
}

TEST_CASE("a printout starts with the kind of the first block") {
  ModelConfig config = goodConfig(textConfig("\"num_hidden_layers\": 3, \"layer_types\": [\"full_attention\","
                                             "\"linear_attention\", \"full_attention\"]"));
  std::string tree = pointsTree(qwen35MoePoints(config), config);
  CHECK(tree.find("(0, 2): 2 x full-attention block") < tree.find("(1): linear block"));
}

TEST_CASE("the dtype of a run without weights") {
  CHECK(dtypeWithoutWeights(goodConfig(textConfig("\"dtype\": \"bfloat16\""))) == DType::bf16);
  CHECK(dtypeWithoutWeights(goodConfig(textConfig("\"dtype\": \"float16\""))) == DType::f32);
  CHECK(dtypeWithoutWeights(goodConfig(textConfig("\"dtype\": \"float32\""))) == DType::f32);
  CHECK(dtypeWithoutWeights(goodConfig(textConfig(""))) == DType::f32);
  CHECK(dtypeWithoutWeights(checkpointConfig("checkpoints/tiny-heads-fp8")) == DType::bf16);
}

TEST_CASE("what a tap costs") {
  PointTable table = qwen35MoePoints(checkpointConfig("configs/qwen3.5-35b-a3b"));
  auto cost = [&](const char *name) {
    TapCost c = tapCost(*table.row(name), DType::bf16);
    return std::to_string(c.bytes) + " per " + c.unit;
  };
  CHECK(cost("layer_output") == "4096 per token");
  CHECK(cost("linear_attn.states") == "2097152 per token"); // 2 MiB, as the specification says
  CHECK(cost("linear_attn.decays") == "128 per token");
  CHECK(cost("linear_attn.state_output") == "2097152 per row");
  CHECK(cost("self_attn.attention_scores") == "32 per token x key");
  CHECK(cost("mlp.expert_indices") == "64 per token");
  CHECK(cost("input_size") == "16 per run");
  CHECK(cost("projector.output") == "4096 per image token");
}

TEST_CASE("numbers for people") {
  CHECK(bytesText(0) == "0 B");
  CHECK(bytesText(1023) == "1023 B");
  CHECK(bytesText(1024) == "1 KiB");
  CHECK(bytesText(1536) == "1.5 KiB");
  CHECK(bytesText(2097152) == "2 MiB");
  CHECK(countText(0) == "0");
  CHECK(countText(999) == "999");
  CHECK(countText(1000) == "1,000");
  CHECK(countText(34660610688) == "34,660,610,688");
  CHECK(displayWidth("├─ a") == 4);
  CHECK(wrapped("aa bb cc", 2, 7) == "  aa bb\n  cc\n");
}
