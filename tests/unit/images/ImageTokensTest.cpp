// Image tokens: multiplied, counted and checked.
#include "../weights/Fixtures.h"
#include "runtime/images/ImageTokens.h"

#include <catch2/catch.hpp>

namespace nnterp {

static const ImageTokenRules rules{300, 301, 2};
static const SourceLoc place{"in", 0, 0};

static std::string errorsOf(const TokenRows &rows, const std::vector<ImageGrid> &grids) {
  Diagnostics diags;
  const bool right = checkImageTokens(rows, grids, rules, place, diags);
  CHECK(right != diags.hasErrors());
  return text(diags);
}

static Tensor gridsOf(const std::vector<double> &values) {
  return tensorOf(DType::i64, {int64_t(values.size() / 3), 3}, values);
}

TEST_CASE("Each place becomes its image's tokens, in order over the rows", "[images]") {
  Diagnostics diags;
  const auto expanded =
      expandImageTokens({{1, 300, 2, 300}, {3}, {300}}, {{1, 2, 4}, {1, 2, 2}, {1, 4, 4}}, rules, place, diags);
  REQUIRE(expanded);
  CHECK(*expanded == TokenRows{{1, 300, 300, 2, 300}, {3}, {300, 300, 300, 300}});
  CHECK(checkImageTokens(*expanded, {{1, 2, 4}, {1, 2, 2}, {1, 4, 4}}, rules, place, diags));
  CHECK(text(diags) == "");
}

TEST_CASE("NNT1411: other numbers of places and images", "[images]") {
  Diagnostics diags;
  CHECK_FALSE(expandImageTokens({{1, 300, 2, 300}}, {{1, 2, 2}}, rules, place, diags));
  CHECK_FALSE(expandImageTokens({{1}}, {{1, 2, 2}, {1, 2, 2}}, rules, place, diags));
  CHECK(text(diags) == "in: error NNT1411: the prompt has 2 places for images; given: 1 image\n"
                       "in: error NNT1411: the prompt has 0 places for images; given: 2 images\n");
  CHECK(errorsOf({{1, 300, 2}, {300}}, {{1, 2, 2}}) ==
        "in: error NNT1411: the prompt has 2 runs of image tokens; given: 1 image\n");
  CHECK(errorsOf({{1, 2}}, {{1, 2, 2}}) ==
        "in: error NNT1411: the prompt has 0 runs of image tokens; given: 1 image\n");
}

TEST_CASE("NNT1412: runs of another length than their images have", "[images]") {
  CHECK(errorsOf({{1, 300, 2}, {3, 4, 300, 300}}, {{1, 2, 2}, {1, 4, 6}}) ==
        "in: error NNT1412: row 1, token 2: 2 image tokens for image 1; expected 6, as its grid [1, 4, 6] has\n");
  CHECK(errorsOf({{300, 300, 300}}, {{1, 2, 2}, {1, 4, 2}}) ==
        "in: error NNT1412: row 0, token 0: 3 image tokens for image 0; expected 1, as its grid [1, 2, 2] has; two "
        "images must "
        "not touch\n");
}

TEST_CASE("NNT1413: grids that are none", "[images]") {
  Diagnostics diags;
  CHECK(readGrids(gridsOf({1, 4, 6, 1, 2, 2}), rules, place, diags) == std::vector<ImageGrid>{{1, 4, 6}, {1, 2, 2}});
  CHECK_FALSE(readGrids(gridsOf({1, 3, 6, 1, 0, 2, 0, 2, 2, 1, 1e8, 2, 1, 1e18, 1e18}), rules, place, diags));
  CHECK_FALSE(readGrids(tensorOf(DType::i64, {3}, {1, 2, 2}), rules, place, diags));
  CHECK_FALSE(readGrids(tensorOf(DType::f32, {1, 3}, {1, 2, 2}), rules, place, diags));
  const std::string end =
      "; expected [1, h, w] with h and w multiples of 2 from there on, and at most 178956970 patches\n";
  CHECK(text(diags) == "in: error NNT1413: image 0 has the grid [1, 3, 6]" + end +
                           "in: error NNT1413: image 1 has the grid [1, 0, 2]" + end +
                           "in: error NNT1413: image 2 has the grid [0, 2, 2]" + end +
                           "in: error NNT1413: image 3 has the grid [1, 100000000, 2]" + end +
                           "in: error NNT1413: image 4 has the grid [1, 1000000000000000000, 1000000000000000000]" +
                           end +
                           "in: error NNT1413: \"image_grid_thw\" is int64 [3]; expected int64 [images, 3]\n"
                           "in: error NNT1413: \"image_grid_thw\" is float32 [1, 3]; expected int64 [images, 3]\n");
}

TEST_CASE("NNT1414: other numbers of patches and grids", "[images]") {
  Diagnostics diags;
  CHECK(checkPatches({{1, 4, 6}, {1, 2, 2}}, 28, place, diags));
  CHECK_FALSE(checkPatches({{1, 4, 6}, {1, 2, 2}}, 24, place, diags));
  CHECK(text(diags) == "in: error NNT1414: the grids of 2 images say 28 patches; \"pixel_values\" has 24\n");
}

TEST_CASE("NNT1415: videos", "[images]") {
  Diagnostics diags;
  CHECK_FALSE(readGrids(gridsOf({4, 2, 2}), rules, place, diags));
  CHECK_FALSE(expandImageTokens({{1, 301}}, {}, rules, place, diags));
  CHECK(text(diags) ==
        "in: error NNT1415: image 0 has the grid [4, 2, 2]; expected one frame: videos are not supported\n"
        "in: error NNT1415: row 0, token 1: id 301 stands for a part of a video, and videos are not supported; "
        "expected images only\n");
  CHECK(errorsOf({{301}}, {}).find("NNT1415") != std::string::npos);
}

} // namespace nnterp
