// Values of images: in the program that runs once before the prompt, what they are called there, what the text keeps of
// them, and what the plan's text decides about pictures (spec/plan.md 4, 5).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

const TinyModel &pictures() { return model("tiny-vl"); }

/// 4 x 6 and 8 x 2 patches: 24 and 16, of which the text has 6 and 4 tokens.
Given two(int64_t generate = 0) { return {{{"main", picturesOf({{4, 6}, {8, 2}})}}, generate, 0, {}}; }

Run edited(const std::vector<std::string> &edits, const Given &given = two()) {
  return run(members(edits), given, pictures());
}
Run tapped(const std::string &list, const Given &given = two()) { return run(taps(list), given, pictures()); }

const BufferSpec *bufferOf(const Run &r, const std::string &name) {
  auto found = std::find_if(r.plan->buffers.begin(), r.plan->buffers.end(),
                            [&](const BufferSpec &buffer) { return buffer.name == name; });
  return found == r.plan->buffers.end() ? nullptr : &*found;
}

const std::string zero = R"("do":{"zero":{}}})";
const std::string features = R"({"at":"vision.image_features",)";

} // namespace

TEST_CASE("values of images stand in their own program, the mask of image tokens in the prompt's", "[plan4]") {
  Run r = edited({R"({"at":"vision.layers[1].layer_input","select":{"patches":[0,5]},)" + zero,
                  R"({"at":"layers[0].layer_input",)" + zero, R"({"at":"projector.input",)" + zero},
                 two(3));
  REQUIRE(r.plan);
  std::vector<std::pair<size_t, Phase>> found;
  for (const EditSpec &edit : r.plan->edits)
    found.emplace_back(edit.entry, edit.phase);
  CHECK(found == std::vector<std::pair<size_t, Phase>>{
                     {0, Phase::images}, {2, Phase::images}, {1, Phase::prompt}, {1, Phase::gen}});
  CHECK(bufferOf(r, "e0.patches")->phase == Phase::images);
  CHECK(r.edit(0, Phase::images).ordinals[1].buffer == "e0.patches");

  r = tapped(R"("vision.image_token_mask","vision.tower_output","logits")", two(3));
  REQUIRE(r.plan);
  std::vector<std::pair<std::string, Phase>> keys;
  for (const TapSpec &tap : r.plan->taps) {
    CHECK(tap.gather.phase == tap.phase);
    keys.emplace_back(tap.key, tap.phase);
  }
  CHECK(keys == std::vector<std::pair<std::string, Phase>>{{"vision.image_token_mask", Phase::prompt},
                                                           {"vision.tower_output", Phase::images},
                                                           {"logits", Phase::prompt},
                                                           {"logits@gen", Phase::gen}});
}

TEST_CASE("edits of images are in forward order, one image's attention behind another's", "[plan5]") {
  Run r =
      edited({R"({"at":"projector.output",)" + zero, R"({"at":"vision.layers[1].self_attn.attention_scores#1",)" + zero,
              R"({"at":"vision.layers[1].self_attn.attention_scores#0","do":{"mask":{}}})",
              R"({"at":"vision.layers[*].layer_input",)" + zero});
  REQUIRE(r.plan);
  std::vector<std::string> points;
  for (const EditSpec &edit : r.plan->edits)
    points.push_back(edit.point);
  CHECK(points == std::vector<std::string>{"vision.layers[0].layer_input", "vision.layers[1].layer_input",
                                           "vision.layers[1].self_attn.attention_scores#0",
                                           "vision.layers[1].self_attn.attention_scores#1", "projector.output"});
}

TEST_CASE("NNT0609: a run without images has no values of them") {
  const std::string text = "\" exists only when the input has images, and this run has none";
  CHECK(tapped(R"("vision.tower_output","vision.image_token_mask")", mainRows({4})).messages ==
        Messages{"p:2:1: error NNT0609: \"vision.tower_output" + text,
                 "p:2:23: error NNT0609: \"vision.image_token_mask" + text});
  CHECK(edited({R"({"at":"vision.layers[*].norm1.input",)" + zero,
                R"({"at":"layers[0].layer_input","do":{"add":{"at":"vision.image_features"}}})"},
               mainRows({4}))
            .messages == Messages{"p:2:7: error NNT0609: \"vision.layers[*].norm1.input" + text,
                                  "p:3:43: error NNT0609: \"vision.image_features" + text});
}

TEST_CASE("worlds on one input share tables of images, others have their own", "[plan2]") {
  const std::string worlds =
      R"("worlds":{"a":{"input":"i"},"b":{"input":"i"},"c":{"input":"j"}},"taps":["vision.tower_output"])";
  Given given{{{"i", picturesOf({{4, 4}})}, {"j", picturesOf({{2, 4}, {4, 4}})}}, 0, 0, {}};
  Run r = run(
      members({R"({"world":"*","at":"vision.layers[0].layer_output","select":{"patches":[-1],"hidden":[3]},)" + zero},
              worlds),
      given, pictures());
  REQUIRE(r.buffers);
  for (auto [world, table] : {std::pair("a", "e0.patches/i"), {"b", "e0.patches/i"}, {"c", "e0.patches/j"}}) {
    CHECK(r.edit(0, Phase::images, world).ordinals[1].buffer == table);
    CHECK(r.edit(0, Phase::images, world).ordinals[2].buffer == "e0.hidden");
  }
  CHECK(r["e0.patches/i"].shape == Shape{16});
  CHECK(r["e0.patches/j"].shape == Shape{24});
  CHECK((r.row("e0.patches/i")[15] == 0 && r.row("e0.patches/j")[23] == 0 && r.row("e0.patches/j")[15] == -1));
  CHECK(r.tap("a/vision.tower_output").shape == Shape{1, 16, 40});
  CHECK(r.tap("c/vision.tower_output").shape == Shape{1, 24, 40});
}

TEST_CASE("text edits read images through what their program keeps", "[plan5]") {
  Run r = edited({R"({"at":"layers[1].layer_output","select":{"seq":["prompt[-1]","gen[*]"]},"do":{"add":)"
                  R"({"at":"vision.image_features","select":{"image_tokens":[2]},"scale":2}}})"},
                 two(3));
  REQUIRE(r.buffers);
  const std::string kept = "e0.kept/vision.image_features";
  const SourceSpec &prompt = r.edit(0).sources[0], &gen = r.edit(0, Phase::gen).sources[0];
  CHECK((prompt.kind == SourceSpec::Kind::kept && prompt.buffer == kept));
  CHECK((gen.kind == SourceSpec::Kind::kept && gen.buffer == kept + "@gen"));
  CHECK(prompt.place.phase == Phase::images);
  CHECK((bufferOf(r, kept)->kept && bufferOf(r, kept)->phase == Phase::prompt));
  CHECK((bufferOf(r, kept + "@gen")->kept && bufferOf(r, kept + "@gen")->phase == Phase::gen));
  CHECK(bufferOf(r, kept)->dims == Shape{BufferSpec::dynamic, 48});
  CHECK((bufferOf(r, "e0.src.image_tokens")->phase == Phase::images && !bufferOf(r, "e0.src.image_tokens@gen")));
  REQUIRE(r.plan->keeps.size() == 2);
  for (const KeepSpec &keep : r.plan->keeps)
    CHECK((keep.phase == Phase::images && keep.gather.tables[0].buffer == "e0.src.image_tokens"));
  CHECK(r.buffers->keeps() == std::map<std::string, Shape>{{kept, {1, 48}}, {kept + "@gen", {1, 48}}});
  CHECK(r.row("e0.src.image_tokens") == Row{2});
  CHECK(r.rows("e0.src.at.seq")[0][19] == 0);

  r = edited(
      {R"({"at":"layers[1].layer_output","do":{"add":{"at":"vision.image_features","mean":["image_tokens"]}}})"});
  REQUIRE(r.buffers);
  CHECK(r.plan->keeps[0].gather.meanAxes == std::vector<int64_t>{0});
  CHECK(r.buffers->keeps().at("e0.kept/vision.image_features") == Shape{1, 48});
  CHECK(r.edit(0).sources[0].axes[0].broadcast);
}

TEST_CASE("an edit of images reads images in the same program", "[plan5]") {
  Run r = edited({R"({"at":"vision.layers[1].layer_input","select":{"patches":"0:4"},"do":{"replace":)"
                  R"({"at":"vision.layers[0].layer_output"}}})",
                  R"({"at":"vision.layers[1].layer_mid","do":{"add":{"at":"vision.layers[0].layer_mid"}}})",
                  R"({"at":"projector.input","do":{"replace":{"at":"vision.layers[1].layer_output",)"
                  R"("mean":["patches"]}}})"});
  CHECK(r.messages == Messages{"p:4:41: error NNT0707: the source has shape [1, 1, 40], which does not fit the region "
                               "[patches, 40] of projector.input"});
  r = edited({R"({"at":"vision.layers[1].layer_input","select":{"patches":"0:4"},"do":{"replace":)"
              R"({"at":"vision.layers[0].layer_output"}}})",
              R"({"at":"vision.layers[1].layer_mid","do":{"add":{"at":"vision.layers[0].layer_mid"}}})"});
  REQUIRE(r.buffers);
  const SourceSpec &part = r.edit(0, Phase::images).sources[0], &whole = r.edit(1, Phase::images).sources[0];
  CHECK((part.kind == SourceSpec::Kind::place && part.place.phase == Phase::images));
  CHECK(part.axes[1].table.buffer == "e0.src.at.patches");
  CHECK(r.row("e0.src.patches") == Row{0, 1, 2, 3});
  Row at = r.row("e0.src.at.patches");
  at.resize(6);
  CHECK(at == Row{0, 1, 2, 3, -1, -1});
  CHECK((whole.axes[1].table.buffer.empty() && !whole.axes[1].broadcast));
  CHECK(r.plan->keeps.empty());
}

TEST_CASE("NNT0719: the encoder runs before the text") {
  CHECK(edited({R"({"at":"vision.image_features","do":{"add":{"at":"token_embeddings","mean":["batch","seq"]}}})"})
            .messages == Messages{"p:2:43: error NNT0719: this edit of vision.image_features is made before the text "
                                  "is read, and its source is token_embeddings of the text"});
  CHECK(
      edited({R"({"at":"projector.output","do":{"add":{"at":"vision.image_token_mask","mean":["seq"]}}})"}).messages ==
      Messages{"p:2:38: error NNT0719: this edit of projector.output is made before the text is "
               "read, and its source is vision.image_token_mask of the text"});
}

TEST_CASE("NNT0803: one image's attention may read another's, not its own") {
  const std::string scores = "vision.layers[0].self_attn.attention_scores#";
  Given equal{{{"main", picturesOf({{4, 6}, {6, 4}})}}, 0, 0, {}};
  auto reading = [&](const char *image) {
    return edited({R"({"at":")" + scores + R"(1","do":{"replace":{"at":")" + scores + image + "\"}}}"}, equal);
  };
  CHECK(reading("0").buffers);
  CHECK(reading("1").messages ==
        Messages{"p:2:71: error NNT0803: a cycle: this edit of " + scores +
                 "1 reads the value that it makes; \"when\": \"before\" reads it unedited\n  p:2:7: note: " + scores +
                 "1 after edits needs this source, which is " + scores + "1 after edits"});
}

TEST_CASE("NNT0722: rows and columns are of one image, in place of patches and image tokens") {
  CHECK(
      edited({features + R"("select":{"rows":"0:1","cols":0},)" + zero}).messages ==
      Messages{"p:2:48: error NNT0722: \"rows\" are of one image of vision.image_features: select it with \"image\""});
  CHECK(
      edited({features + R"("select":{"image":"*","cols":0},)" + zero}).messages ==
      Messages{"p:2:60: error NNT0722: \"cols\" are of one image of vision.image_features: select it with \"image\""});
  CHECK(
      edited({features + R"("select":{"image":0,"image_tokens":[1]},)" + zero}).messages ==
      Messages{"p:2:66: error NNT0722: \"image\" selects on \"image_tokens\" of vision.image_features, so it takes no "
               "\"image_tokens\" beside it"});
  CHECK(tapped(R"({"at":"vision.tower_output","select":{"image":0,"patches":[1]}})").messages ==
        Messages{"p:2:59: error NNT0722: \"image\" selects on \"patches\" of vision.tower_output, so it takes no "
                 "\"patches\" beside it"});
  CHECK(edited({features + R"("select":{"image":0,"image_tokens":"*"},)" + zero}).buffers);
}

TEST_CASE("NNT0701: pictures are selected where patches or image tokens are") {
  CHECK(tapped(R"({"at":"layers[0].layer_output","select":{"image":0}})").messages ==
        Messages{"p:2:50: error NNT0701: layers[0].layer_output (Residual) has no axis \"image\"; its axes are batch, "
                 "seq, hidden"});
  CHECK(tapped(R"({"at":"vision.layers[0].self_attn.attention_scores#1","select":{"rows":0}})").messages ==
        Messages{"p:2:72: error NNT0701: vision.layers[0].self_attn.attention_scores#1 (SegmentPattern) has no axis "
                 "\"rows\"; its axes are images, heads, query_patch, key_patch"});
  CHECK(tapped(R"({"at":"projector.output","select":{"patches":0}})").messages ==
        Messages{"p:2:46: error NNT0701: projector.output (ImageFeatures) has no axis \"patches\"; its axes are "
                 "image_tokens, hidden"});
}

TEST_CASE("the structure tells the program of images, not which patches are meant", "[structure]") {
  auto structure = [](const std::string &select) {
    return edited({R"({"at":"vision.layers[0].layer_output","select":{)" + select + "}," + zero}).plan->structure();
  };
  CHECK(structure(R"("patches":[0])") == structure(R"("patches":"3:9")"));
  CHECK(structure(R"("image":0)") == structure(R"("image":1,"rows":[1],"cols":"0:2")"));
  CHECK(structure(R"("image":0)") == structure(R"("patches":"3:9")"));
  CHECK(structure(R"("hidden":[0])") != structure(R"("patches":[0])"));
  CHECK(structure(R"("patches":[0])").find("edit @images main/vision.layers[0].layer_output Patches") !=
        std::string::npos);
  CHECK(structure(R"("patches":[0])").find("run images") == 0);
}

TEST_CASE("read-only values of images point to those that are read") {
  CHECK(edited({R"({"at":"vision.tower_output",)" + zero}).messages ==
        Messages{"p:2:7: error NNT0710: vision.tower_output can be tapped but not edited\n  note: nothing reads it: "
                 "edit the last vision.layers[j].layer_output or projector.input instead"});
}
