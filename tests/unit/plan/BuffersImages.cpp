// Values of images in one run: extents from the grids, patches and rectangles in the order they are stored, images that
// do not exist, and sources whose images are of another size (spec/plan.md 4; spec 5.3).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

const TinyModel &pictures() { return model("tiny-vl"); }

/// 4 x 6 and 8 x 2 patches: 24 and 16, of which the text has 6 and 4 tokens.
Given two() { return {{{"main", picturesOf({{4, 6}, {8, 2}})}}, 0, 0, {}}; }
Run tapped(const std::string &at, const std::string &select = "", const Given &given = two()) {
  std::string tap = select.empty() ? "\"" + at + "\"" : R"({"at":")" + at + R"(","select":{)" + select + "}}";
  return run(taps(tap), given, pictures());
}
Run edited(const std::vector<std::string> &edits, const Given &given = two()) {
  return run(members(edits), given, pictures());
}

/// The entries of a tap's only table.
Row picked(const std::string &at, const std::string &select) {
  Run r = tapped(at, select);
  REQUIRE(r.buffers);
  for (const AxisTable &table : r.plan->taps[0].gather.tables)
    if (!table.buffer.empty())
      return r.row(table.buffer);
  return {};
}

/// Row and column of a patch in an image `width` patches wide, as spec 5.3 has them.
std::pair<int64_t, int64_t> coordinates(int64_t n, int64_t width) {
  int64_t inCol = n % 2, inRow = n / 2 % 2, blockCol = n / 4 % (width / 2), blockRow = n / (4 * (width / 2));
  return {2 * blockRow + inRow, 2 * blockCol + inCol};
}

const std::string zero = R"("do":{"zero":{}}})";

} // namespace

TEST_CASE("extents come from the grids", "[plan4]") {
  for (auto [at, shape] : std::initializer_list<std::pair<const char *, Shape>>{
           {"vision.patch_embeddings", {1, 40, 40}},
           {"vision.layers[1].mlp.linear_fc1.output", {1, 40, 56}},
           {"vision.layers[0].self_attn.attention_keys", {1, 2, 40, 20}},
           {"vision.layers[0].self_attn.attention_premix", {1, 40, 2, 20}},
           {"vision.layers[0].self_attn.attention_scores#0", {1, 2, 24, 24}},
           {"vision.layers[0].self_attn.attention_probabilities#1", {1, 2, 16, 16}},
           {"projector.norm.output", {40, 40}},
           {"projector.linear_fc1.output", {10, 160}},
           {"vision.image_features", {10, 48}}}) {
    INFO(at);
    Run r = tapped(at);
    REQUIRE(r.buffers);
    const TapLayout &layout = r.tap(at);
    CHECK(layout.phase == Phase::images);
    CHECK(layout.shape == shape);
    CHECK(layout.callShape() == shape);
    CHECK((layout.rows.empty() && layout.stepAxis == -1 && !layout.masked && !layout.onlyFirst && !layout.onlyLast));
  }
  Run r = tapped("vision.image_token_mask");
  CHECK((r.tap(0) == Shape{1, 20} && r.buffers->taps()[0].phase == Phase::prompt));
  r = tapped("vision.image_token_mask", R"("seq":"prompt[-3:]")");
  CHECK(r.tap(0) == Shape{1, 3});
}

TEST_CASE("patches and image tokens count over all images, one image's attention within it", "[plan4]") {
  CHECK(picked("vision.tower_output", R"("patches":[25,0,-1,0])") == Row{25, 0, 39});
  CHECK(picked("vision.image_features", R"("image_tokens":"7:99")") == Row{7, 8, 9});
  Run r = tapped("vision.layers[0].self_attn.attention_scores#1", R"("query_patch":[-1],"key_patch":"0:3","heads":1)");
  CHECK(r.tap(0) == Shape{1, 1, 1, 3});
  CHECK((r.row("t0.query_patch") == Row{15} && r.row("t0.key_patch") == Row{0, 1, 2}));
}

TEST_CASE("a rectangle of an image, line after line", "[plan4]") {
  const std::string patches = "vision.layers[0].layer_input", tokens = "vision.image_features";
  CHECK(picked(patches, R"("image":0,"rows":[0],"cols":"*")") == Row{0, 1, 4, 5, 8, 9});
  CHECK(picked(patches, R"("image":0,"rows":"1:3","cols":[3,2])") == Row{7, 6, 17, 16});
  CHECK(picked(patches, R"("image":1,"cols":1)") == Row{25, 27, 29, 31, 33, 35, 37, 39});
  CHECK(picked(patches, R"("image":-1,"rows":-1)") == Row{38, 39});
  CHECK(picked("projector.input", R"("image":1,"rows":"6:")") == Row{36, 37, 38, 39});
  CHECK(picked("vision.layers[0].self_attn.attention_queries", R"("image":0,"rows":3,"cols":5)") == Row{23});
  // Of the features each cell of 2 x 2 patches is one.
  CHECK(picked(tokens, R"("image":0,"rows":1,"cols":"1:")") == Row{4, 5});
  CHECK(picked(tokens, R"("image":1)") == Row{6, 7, 8, 9});
  CHECK(picked("projector.linear_fc2.input", R"("image":0,"cols":[-1])") == Row{2, 5});
}

TEST_CASE("rectangles agree with the order of patches in the specification", "[5.3]") {
  const int64_t height = 4, width = 6;
  for (int64_t n = 0; n < height * width; ++n) {
    auto [row, col] = coordinates(n, width);
    CHECK(picked("vision.tower_output",
                 R"("image":0,"rows":)" + std::to_string(row) + R"(,"cols":)" + std::to_string(col)) == Row{n});
    CHECK(picked("vision.image_features", R"("image":0,"rows":)" + std::to_string(row / 2) + R"(,"cols":)" +
                                              std::to_string(col / 2)) == Row{n / 4});
  }
}

TEST_CASE("an edit's rectangle numbers its entries line after line", "[plan4]") {
  Run r = edited({R"({"at":"vision.patch_embeddings","select":{"image":0,"rows":"0:2","cols":"1:3"},)" + zero});
  REQUIRE(r.buffers);
  Row expected(40, -1);
  expected[1] = 0, expected[4] = 1, expected[3] = 2, expected[6] = 3;
  CHECK(r.row("e0.patches") == expected);
}

TEST_CASE("NNT0702: images and entries that do not exist, by both numbers") {
  const std::string scores = "vision.layers[0].self_attn.attention_scores#2";
  CHECK(tapped(scores).messages ==
        Messages{"p:2:1: error NNT0702: " + scores + ": there is no image 2: the input has 2 images"});
  CHECK(edited({R"({"at":"vision.layers[*].self_attn.attention_scores#7","do":{"mask":{}}})"}).messages ==
        Messages{"p:2:7: error NNT0702: vision.layers[0].self_attn.attention_scores#7: there is no image 7: the input "
                 "has 2 images"});
  CHECK(edited({R"({"at":"vision.layers[0].layer_mid","do":{"scale":{"at":")" + scores + R"(","mean":["heads"]}}})"})
            .messages.size() == 1);
  CHECK(
      tapped("vision.tower_output", R"("patches":[3,40])").messages ==
      Messages{"p:2:49: error NNT0702: index 40 is outside \"patches\" of vision.tower_output, which has 40 entries"});
  CHECK(tapped("vision.image_features", R"("image_tokens":-11)").messages ==
        Messages{"p:2:56: error NNT0702: index -11 is outside \"image_tokens\" of vision.image_features, which has 10 "
                 "entries"});
  CHECK(tapped("vision.tower_output", R"("image":2)").messages ==
        Messages{"p:2:47: error NNT0702: there is no image 2: the input has 2 images"});
  CHECK(tapped("vision.tower_output", R"("image":0,"rows":4)").messages ==
        Messages{"p:2:56: error NNT0702: index 4 is outside \"rows\" of image 0, which has 4 rows of patches"});
  CHECK(tapped("vision.image_features", R"("image":1,"cols":[0,1])").messages ==
        Messages{"p:2:58: error NNT0702: index 1 is outside \"cols\" of image 1, which has 1 column of image tokens"});
}

TEST_CASE("NNT0703: an edit of an empty rectangle") {
  CHECK(edited({R"({"at":"projector.output","select":{"image":0,"rows":"5:"},)" + zero}).messages ==
        Messages{"p:2:35: error NNT0703: this edit of projector.output selects nothing in any row of this run"});
  CHECK(tapped("projector.output", R"("image":0,"rows":"5:")").messages ==
        Messages{"p:2:1: note: this tap of projector.output selects nothing in any row and is not written"});
}

TEST_CASE("NNT0801: rectangles and patches that meet in a run") {
  const std::string at = R"({"at":"vision.layers[0].layer_output","select":)";
  CHECK(edited({at + R"({"image":0,"rows":0},)" + zero, at + R"({"patches":[4]},)" + zero}).messages ==
        Messages{"p:3:1: error NNT0801: edits[1] (\"zero\") and edits[0] (\"zero\") both set "
                 "vision.layers[0].layer_output where their selections overlap\n  p:2:1: note: edits[0] is here"});
  CHECK(edited({at + R"({"image":0,"rows":0},)" + zero, at + R"({"patches":[2,24]},)" + zero}).buffers);
  CHECK(edited({at + R"({"image":0},)" + zero, at + R"({"image":1},)" + zero}).buffers);
  CHECK(edited({at + R"({"image":1},)" + zero, at + R"({"image":-1,"cols":0},)" + zero}).messages.size() == 1);
  const std::string scores = R"({"at":"vision.layers[0].self_attn.attention_scores#)";
  CHECK(edited({scores + "0\"," + zero, scores + "1\"," + zero}).buffers);
}

TEST_CASE("a source takes the edit's rectangle, its own axis or rectangle counts instead", "[plan5]") {
  const std::string edit = R"({"at":"vision.layers[1].layer_input","select":{"image":0,"rows":0},"do":{"replace":)"
                           R"({"at":"vision.layers[0].layer_output")";
  auto read = [&](const std::string &select) {
    Run r = edited({edit + select + "}}}"});
    REQUIRE(r.buffers);
    return r.row("e0.src.patches");
  };
  CHECK(read("") == Row{0, 1, 4, 5, 8, 9});
  CHECK(read(R"(,"select":{"rows":1})") == Row{2, 3, 6, 7, 10, 11});
  CHECK(read(R"(,"select":{"image":1,"rows":"0:3"})") == Row{24, 25, 26, 27, 28, 29});
  CHECK(read(R"(,"select":{"patches":"30:36"})") == Row{30, 31, 32, 33, 34, 35});
  CHECK(read(R"(,"select":{"patches":[7]})") == Row{7});
  CHECK(edited({edit + R"(,"select":{"image":"*"}}}})"}).messages ==
        Messages{"p:2:84: error NNT0707: the source has shape [1, 40, 40], which does not fit the region [1, 6, 40] of "
                 "vision.layers[1].layer_input in this run"});
}

TEST_CASE("worlds with images of other sizes", "[plan5]") {
  const std::string worlds = R"("worlds":{"a":{"input":"i"},"b":{"input":"j"}},"taps":["logits"])";
  const std::string edit = R"({"world":"a","at":"vision.image_features",)";
  auto read = [&](const std::string &rest, const BatchInfo &theirs) {
    Given given{{{"i", picturesOf({{4, 6}})}, {"j", theirs}}, 0, 0, {}};
    return run(members({edit + rest}, worlds), given, pictures());
  };
  const std::string whole = R"("do":{"replace":{"world":"b"}}})";
  Run r = read(whole, picturesOf({{4, 6}}));
  REQUIRE(r.buffers);
  CHECK(r.row("e0.src.at.image_tokens/i") == Row{0, 1, 2, 3, 4, 5});
  CHECK(read(whole, picturesOf({{4, 4}})).messages ==
        Messages{"p:2:59: error NNT0707: the source has shape [4, 48], which does not fit the region [6, 48] of "
                 "vision.image_features in this run"});
  r = read(R"("select":{"image":0,"cols":0},"do":{"replace":{"world":"b"}}})", picturesOf({{2, 2}, {4, 8}}));
  CHECK(r.messages.size() == 0);
  REQUIRE(r.buffers);
  CHECK(r.row("e0.src.image_tokens/j") == Row{0}); // one cell serves both
  CHECK(r.row("e0.src.at.image_tokens/i") == Row{0, -1, -1, 0, -1, -1});
  r = read(R"("select":{"image":0,"cols":0},"do":{"replace":{"world":"b","select":{"image":1}}}})",
           picturesOf({{2, 2}, {4, 8}}));
  REQUIRE(r.buffers);
  CHECK(r.row("e0.src.image_tokens/j") == Row{1, 5});
  CHECK(r.row("e0.src.at.image_tokens/i") == Row{0, -1, -1, 1, -1, -1});
  CHECK(read(R"("do":{"replace":{"world":"b","at":"projector.output","select":{"image_tokens":[9]}}}})",
             picturesOf({{4, 6}}))
            .messages == Messages{"p:2:121: error NNT0702: index 9 is outside \"image_tokens\" of projector.output of "
                                  "input \"j\", which has 6 entries"});
}

TEST_CASE("NNT0609: an input without images in a run that has some") {
  const std::string worlds = R"("worlds":{"a":{"input":"i"},"b":{"input":"j"}},"taps":[)"
                             "\n";
  Given given{{{"i", picturesOf({{4, 6}})}, {"j", rowsOf({5})}}, 0, 0, {}};
  CHECK(run(members({}, worlds + R"("vision.tower_output"])"), given, pictures()).messages ==
        Messages{"p:3:1: error NNT0609: \"vision.tower_output\" exists only when the input has images, and input \"j\" "
                 "has none"});
  CHECK(run(members({}, worlds + R"({"at":"vision.tower_output","world":"a"}])"), given, pictures()).buffers);
}

TEST_CASE("text reads image tokens place by place", "[plan5]") {
  Run r = edited({R"({"at":"layers[2].layer_input","select":{"seq":"prompt[4:10]"},"do":{"replace":)"
                  R"({"at":"vision.image_features","select":{"image":0}}}})"});
  REQUIRE(r.buffers);
  CHECK(r.row("e0.src.image_tokens") == Row{0, 1, 2, 3, 4, 5});
  Row at = r.rows("e0.src.at.seq")[0];
  CHECK(Row(at.begin() + 3, at.begin() + 11) == Row{-1, 0, 1, 2, 3, 4, 5, -1});
  CHECK(r.buffers->keeps().at("e0.kept/vision.image_features") == Shape{6, 48});

  Given chunks = two();
  chunks.chunk = 4;
  r = edited({R"({"at":"layers[2].layer_input","select":{"seq":"prompt[4:10]"},"do":{"replace":)"
              R"({"at":"vision.image_features","select":{"image":0}}}})"},
             chunks);
  REQUIRE(r.buffers);
  CHECK(r.messages.empty()); // images are whole before the first chunk
  CHECK(r.buffers->promptCalls().size() == 5);
  r.chunk(2);
  CHECK(r.rows("e0.src.at.seq") == Rows{{4, 5, -1, -1}});
}
