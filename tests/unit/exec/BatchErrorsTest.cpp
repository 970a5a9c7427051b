// One test per error of an input, with its exact message.
#include "../weights/Fixtures.h"
#include "runtime/exec/Batch.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static Tensor ints(Shape shape, const std::vector<double> &values) { return tensorOf(DType::i64, shape, values); }

/// What is said of an input file, its name written `F`.
static std::string errorsOf(const std::vector<std::pair<std::string, Tensor>> &tensors,
                            const InputRules &rules = {100, {}}) {
  TempDir dir;
  Diagnostics diags;
  const std::string path = dir / "in.safetensors";
  REQUIRE(writeSafetensors(path, tensors, {}, diags));
  CHECK_FALSE(batchFromFile(path, rules, diags));
  std::string said = text(diags);
  for (size_t at; (at = said.find(path)) != std::string::npos;)
    said.replace(at, path.size(), "F");
  return said;
}

static std::string errorsOfRows(const std::vector<std::vector<int64_t>> &rows, const InputRules &rules = {100, {}}) {
  Diagnostics diags;
  CHECK_FALSE(batchFromIds(rows, rules, {"--ids", 0, 0}, diags));
  return text(diags);
}

static Tensor twoIds() { return ints({1, 2}, {1, 2}); }

TEST_CASE("NNT1004: no tokens", "[batch]") {
  CHECK(errorsOfRows({}) == "--ids: error NNT1004: the batch has no rows\n");
  CHECK(errorsOfRows({{1}, {}}) == "--ids: error NNT1004: row 1 has no tokens\n");
  CHECK(errorsOf({{"input_ids", ints({2, 0}, {})}}) == "F: error NNT1004: \"input_ids\" has shape [2, 0]: no tokens\n");
  CHECK(errorsOf({{"input_ids", twoIds()}, {"attention_mask", ints({1, 2}, {0, 0})}}) ==
        "F: error NNT1004: row 0 of \"attention_mask\" has pads only\n");
}

TEST_CASE("NNT1005: id outside the vocabulary", "[batch]") {
  CHECK(errorsOfRows({{1, 100, 200}, {-1}}) ==
        "--ids: error NNT1005: row 0, token 1: id 100 is outside the vocabulary (0 to 99)\n"
        "--ids: error NNT1005: row 1, token 0: id -1 is outside the vocabulary (0 to 99)\n");
}

TEST_CASE("NNT1006: unknown tensor in an input file", "[batch]") {
  CHECK(errorsOf({{"input_ids", twoIds()}, {"attention_masks", twoIds()}}) ==
        "F: error NNT1006: an input file has no tensor \"attention_masks\"; nearest: \"attention_mask\", "
        "\"position_ids\" or \"input_ids\"\n");
}

TEST_CASE("NNT1007: input_ids missing", "[batch]") {
  CHECK(errorsOf({{"attention_mask", twoIds()}}) ==
        "F: error NNT1007: the file has no tensor \"input_ids\", which an input must have\n");
}

TEST_CASE("NNT1008: wrong type in an input file", "[batch]") {
  CHECK(errorsOf({{"input_ids", tensorOf(DType::i32, {1, 2}, {1, 2})}}) ==
        "F: error NNT1008: \"input_ids\" is int32; expected int64\n");
  CHECK(errorsOf({{"input_ids", twoIds()},
                  {"attention_mask", tensorOf(DType::boolean, {1, 2}, {1, 1})},
                  {"position_ids", tensorOf(DType::f32, {1, 2}, {0, 1})}}) ==
        "F: error NNT1008: \"attention_mask\" is bool; expected int64\n"
        "F: error NNT1008: \"position_ids\" is float32; expected int64\n");
}

TEST_CASE("NNT1009: wrong shape in an input file", "[batch]") {
  CHECK(errorsOf({{"input_ids", ints({2}, {1, 2})}}) ==
        "F: error NNT1009: \"input_ids\" has shape [2]; expected [batch, tokens]\n");
  CHECK(errorsOf({{"input_ids", twoIds()},
                  {"attention_mask", ints({2, 1}, {1, 1})},
                  {"position_ids", ints({2, 1, 2}, {0, 1, 0, 1})}}) ==
        "F: error NNT1009: \"attention_mask\" has shape [2, 1]; expected [1, 2], as \"input_ids\" has\n"
        "F: error NNT1009: \"position_ids\" has shape [2, 1, 2]; expected [1, 2] or [3, 1, 2]\n");
}

TEST_CASE("NNT1010: pads not on the left", "[batch]") {
  const Tensor ids = ints({2, 4}, {1, 2, 3, 4, 1, 2, 3, 4});
  CHECK(
      errorsOf({{"input_ids", ids}, {"attention_mask", ints({2, 4}, {1, 1, 0, 0, 0, 1, 0, 1})}}) ==
      "F: error NNT1010: row 0 of \"attention_mask\" has pads on the right, from index 2; expected pads on the left "
      "only\n"
      "F: error NNT1010: row 1 of \"attention_mask\" has pads between real tokens, from index 2; expected pads on the "
      "left only\n");
}

TEST_CASE("NNT1011: attention mask is no mask", "[batch]") {
  CHECK(errorsOf({{"input_ids", twoIds()}, {"attention_mask", ints({1, 2}, {1, 2})}}) ==
        "F: error NNT1011: row 0 of \"attention_mask\" holds 2; expected 1 (real) or 0 (pad)\n");
}

TEST_CASE("NNT1012: position out of range", "[batch]") {
  CHECK(errorsOf({{"input_ids", twoIds()}, {"position_ids", ints({1, 2}, {0, -1})}}) ==
        "F: error NNT1012: row 0 of \"position_ids\" holds position -1 at index 1; expected 0 to 1048575\n");
  CHECK(errorsOf({{"input_ids", twoIds()}, {"position_ids", ints({1, 2}, {1048576, 1})}}) ==
        "F: error NNT1012: row 0 of \"position_ids\" holds position 1048576 at index 0; expected 0 to 1048575\n");
  CHECK(errorsOfRows({std::vector<int64_t>(size_t(maxPosition) + 1, 1)}) ==
        "--ids: error NNT1012: a row of 1048577 tokens is longer than the 1048576 positions that rotary embeddings are "
        "computed for\n");
}

TEST_CASE("NNT1013: picture token without a picture", "[batch]") {
  CHECK(errorsOfRows({{1, 50}}, {100, {50, 51}}) ==
        "--ids: error NNT1013: row 0, token 1: id 50 stands for a part of a "
        "picture, and the input has no picture\n");
}

TEST_CASE("an input file with images needs both tensors, and a model that sees", "[batch]") {
  const auto pixels = tensorOf(DType::f32, {1, 2}, {0, 0});
  CHECK(errorsOf({{"input_ids", twoIds()}, {"pixel_values", pixels}}, {100, {2}}) ==
        "F: error NNT1013: the file has images, and this model has no image encoder\n");
  const InputRules seeing{100, {50, 51}, ImageTokenRules{50, 51, 2}, 2};
  CHECK(errorsOf({{"input_ids", twoIds()}, {"pixel_values", pixels}}, seeing) ==
        "F: error NNT1007: the file has \"pixel_values\" and no \"image_grid_thw\"; images need both\n");
  CHECK(errorsOf({{"input_ids", twoIds()}, {"image_grid_thw", ints({1, 3}, {1, 2, 2})}}, seeing) ==
        "F: error NNT1007: the file has \"image_grid_thw\" and no \"pixel_values\"; images need both\n");
  CHECK(
      errorsOf({{"input_ids", twoIds()}, {"pixel_values", pixels}, {"image_grid_thw", ints({1, 3}, {1, 2, 2})}}, seeing)
          .find("NNT1411") != std::string::npos);
}

TEST_CASE("NNT0101: an input file that is not there", "[batch]") {
  Diagnostics diags;
  CHECK_FALSE(batchFromFile("nowhere.safetensors", {100, {}}, diags));
  CHECK(text(diags) == "nowhere.safetensors: error NNT0101: cannot read \"nowhere.safetensors\": No such file or "
                       "directory\n");
}

TEST_CASE("several errors of an input are reported at once", "[batch]") {
  const std::string said = errorsOf({{"input_ids", ints({1, 2}, {1, 500})},
                                     {"attention_mask", ints({1, 2}, {1, 0})},
                                     {"positions", ints({1, 2}, {0, 1})}});
  CHECK(said.find("NNT1005") != std::string::npos);
  CHECK(said.find("NNT1006") != std::string::npos);
  CHECK(said.find("NNT1010") != std::string::npos);
}
