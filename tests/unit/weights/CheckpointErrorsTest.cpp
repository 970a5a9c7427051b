// Tests of checkpoints that do not fit: every missing, surplus or misshaped tensor is named, all in one go.
#include "Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using Options = CheckpointIndex::Options;

/// The errors of a folder with one file of these tensors, without the folder's name.
static std::string errorsOf(const Tensors &tensors, const std::vector<WantedTensor> &wanted,
                            const Options &options = {}) {
  TempDir dir;
  save(dir, "model.safetensors", tensors);
  Diagnostics diags;
  CHECK_FALSE(CheckpointIndex::open(dir.path, wanted, options, diags));
  std::string all = text(diags);
  for (size_t at; (at = all.find(dir.path + ": ")) != std::string::npos;)
    all.erase(at, dir.path.size() + 2);
  return all;
}

static Tensor zeros(Shape shape, DType dtype = DType::bf16) { return Tensor::make(dtype, std::move(shape)); }

static const std::vector<WantedTensor> experts = {{"m.experts.gate_up_proj", {2, 4, 3}, {"gate_proj", "up_proj"}}};

TEST_CASE("NNT0306: missing tensors", "[checkpoint]") {
  CHECK(errorsOf({{"a", zeros({2})}}, {{"a", {2}, {}}, {"b", {2, 3}, {}}, {"lm_head.weight", {5, 2}, {}}}) ==
        "error NNT0306: missing tensor \"b\" of shape [2, 3]\n"
        "error NNT0306: missing tensor \"lm_head.weight\" of shape [5, 2]\n"
        "  note: the configuration does not tie the head to the embedding (\"tie_word_embeddings\")\n");
}

TEST_CASE("NNT0307: surplus tensors, and the nearest one to a missing one", "[checkpoint]") {
  CHECK(errorsOf({{"model.layers.0.nrom.weight", zeros({2})}, {"other", zeros({1}, DType::f32)}},
                 {{"model.layers.0.norm.weight", {2}, {}}}) ==
        "error NNT0306: missing tensor \"model.layers.0.norm.weight\" of shape [2]\n"
        "  note: the nearest tensor without a place is \"model.layers.0.nrom.weight\", bfloat16 [2]\n"
        "error NNT0307: surplus tensor \"model.layers.0.nrom.weight\", bfloat16 [2]: the model that the configuration "
        "describes has no such tensor\n"
        "error NNT0307: surplus tensor \"other\", float32 [1]: the model that the configuration describes has no such "
        "tensor\n");
}

TEST_CASE("NNT0308: misshaped tensors", "[checkpoint]") {
  CHECK(errorsOf({{"a", zeros({2, 3})}, {"b", zeros({6})}}, {{"a", {3, 2}, {}}, {"b", {2, 3}, {}}}) ==
        "error NNT0308: tensor \"a\": expected shape [3, 2], found [2, 3]\n"
        "error NNT0308: tensor \"b\": expected shape [2, 3], found [6]\n");
}

TEST_CASE("NNT0309: weights of types that weights cannot have", "[checkpoint]") {
  CHECK(errorsOf({{"a", zeros({2}, DType::i64)}, {"b", zeros({2}, DType::f64)}}, {{"a", {2}, {}}, {"b", {2}, {}}}) ==
        "error NNT0309: tensor \"a\": expected bfloat16, float16 or float32, found int64\n"
        "error NNT0309: tensor \"b\": expected bfloat16, float16 or float32, found float64\n");
  Options fp8;
  fp8.fp8 = true;
  CHECK(errorsOf({{"a", zeros({2}, DType::u8)}}, {{"a", {2}, {}}}, fp8) ==
        "error NNT0309: tensor \"a\": expected bfloat16, float16 or float32 or float8_e4m3fn, found uint8\n");
}

TEST_CASE("NNT0309: parts of one weight in different types", "[checkpoint]") {
  CHECK(errorsOf({{"e.0.down_proj.weight", zeros({1, 2})}, {"e.1.down_proj.weight", zeros({1, 2}, DType::f32)}},
                 {{"e.down_proj", {2, 1, 2}, {"down_proj"}}}) ==
        "error NNT0309: the parts of \"e.down_proj\" differ in type: \"e.0.down_proj.weight\" is bfloat16, "
        "\"e.1.down_proj.weight\" is float32\n");
}

TEST_CASE("NNT0306, NNT0307, NNT0308: experts stored one by one", "[checkpoint]") {
  CHECK(errorsOf({}, experts) ==
        "error NNT0306: missing tensor \"m.experts.gate_up_proj\" of shape [2, 4, 3], whole or one per expert\n");
  CHECK(errorsOf({{"m.experts.0.gate_proj.weight", zeros({2, 3})},
                  {"m.experts.0.up_proj.weight", zeros({3, 2})},
                  {"m.experts.1.up_proj.weight", zeros({2, 3})},
                  {"m.experts.2.up_proj.weight", zeros({2, 3})}},
                 experts) ==
        "error NNT0308: tensor \"m.experts.0.up_proj.weight\": expected shape [2, 3], found [3, 2]\n"
        "error NNT0306: missing tensor \"m.experts.1.gate_proj.weight\" of shape [2, 3]\n"
        "  note: the nearest tensor without a place is \"m.experts.2.up_proj.weight\", bfloat16 [2, 3]\n"
        "error NNT0307: surplus tensor \"m.experts.2.up_proj.weight\", bfloat16 [2, 3]: the model that the "
        "configuration describes has no such tensor\n");
}

TEST_CASE("NNT0310: a tensor that is there twice", "[checkpoint]") {
  CHECK(errorsOf({{"model.norm.weight", zeros({2})}, {"model.language_model.norm.weight", zeros({2})}},
                 {{"model.norm.weight", {2}, {}}}) ==
        "error NNT0310: tensors \"model.norm.weight\" and \"model.language_model.norm.weight\" are the same one to the "
        "model\n");
  CHECK(
      errorsOf({{"m.experts.gate_up_proj", zeros({2, 4, 3})}, {"m.experts.0.gate_proj.weight", zeros({2, 3})}}, experts)
          .find("error NNT0310: the experts are stored twice: as \"m.experts.gate_up_proj\" and one by one, as "
                "\"m.experts.0.gate_proj.weight\"\n") == 0);
}

TEST_CASE("NNT0306, NNT0308, NNT0309: FP8 and its scales", "[checkpoint]") {
  Tensor bits = zeros({5, 3}, DType::f8_e4m3);
  std::vector<WantedTensor> wanted = {{"a.weight", {5, 3}, {}}};
  Options options;
  CHECK(errorsOf({{"a.weight", bits}, {"a.weight_scale_inv", zeros({3, 2})}}, wanted) ==
        "error NNT0309: tensor \"a.weight\": found float8_e4m3fn, but the configuration has no \"quantization_config\" "
        "that says fp8\n");
  options.fp8 = true;
  options.blockRows = options.blockCols = 2;
  CHECK(errorsOf({{"a.weight", bits}}, wanted, options) ==
        "error NNT0306: missing tensor \"a.weight_scale_inv\" of shape [3, 2]\n");
  CHECK(errorsOf({{"a.weight", bits}, {"a.weight_scale_inv", zeros({2, 2})}}, wanted, options) ==
        "error NNT0308: tensor \"a.weight_scale_inv\": expected shape [3, 2] (one scale per block of 2 x 2), found [2, "
        "2]\n");
  CHECK(errorsOf({{"a.weight", bits}, {"a.weight_scale_inv", zeros({3, 2}, DType::i32)}}, wanted, options) ==
        "error NNT0309: tensor \"a.weight_scale_inv\": expected bfloat16, float16 or float32, found int32\n");
  CHECK(errorsOf({{"b", zeros({4}, DType::f8_e4m3)}, {"b_scale_inv", zeros({2})}}, {{"b", {4}, {}}}, options) ==
        "error NNT0309: tensor \"b\": found float8_e4m3fn, but only matrices can have scales per block\n");
  CHECK(errorsOf({{"a.weight", zeros({5, 3})}, {"a.weight_scale_inv", zeros({3, 2})}}, wanted, options) ==
        "error NNT0307: surplus tensor \"a.weight_scale_inv\", bfloat16 [3, 2]: the model that the configuration "
        "describes has no such tensor\n");
}

TEST_CASE("NNT0306: a key that nobody wanted is not loaded", "[checkpoint]") {
  TempDir dir;
  save(dir, "model.safetensors", {{"a", zeros({2})}, {"b", zeros({2})}});
  Diagnostics diags;
  auto index = CheckpointIndex::open(dir.path, {{"a", {2}, {}}, {"b", {2}, {}}}, {}, diags);
  REQUIRE(index);
  CHECK_FALSE(index->load("c", diags));
  CHECK(text(diags) == "error NNT0306: no tensor \"c\" was asked for; the nearest are \"a\" or \"b\"\n");
}

TEST_CASE("thousands of missing tensors are reported in reasonable time", "[checkpoint]") {
  Tensors stored;
  std::vector<WantedTensor> wanted;
  for (int i = 0; i < 3000; ++i) {
    stored.push_back({"model.layers." + std::to_string(i) + ".stored.by.another.name.weight", zeros({1})});
    wanted.push_back({"model.layers." + std::to_string(i) + ".wanted.by.this.name.weight", {1}, {}});
  }
  std::string all = errorsOf(stored, wanted);
  CHECK(std::count(all.begin(), all.end(), '\n') == 3000 + 3000 + 20);
}
