// Images end to end: identities of the encoder to the bit, pictures' selections, worlds, positions that go on.
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace nnterp;
using namespace nnterp::test;

namespace {

const std::string square = NNTERP_TEST_DATA "/images/square.png", photo = NNTERP_TEST_DATA "/images/photo.jpg";
const std::string place = "<|vision_start|><|image_pad|><|vision_end|>";

struct Pictures {
  std::string plan = R"({"nnterp_plan": 1})";
  std::vector<std::pair<InputKind, std::string>> inputs;
  int64_t generate = 0, chunk = 0;
  std::string saveState = {}, loadState = {};
};

std::optional<RunResult> tryPictures(const Pictures &setup, Diagnostics &diags) {
  RunOptions options;
  options.checkpoint = checkpointPath("tiny-vl");
  options.dtype = DType::f32;
  options.cacheDir = testCache();
  options.plan.json = parseJson(setup.plan, "plan.json", diags);
  for (const auto &[kind, text] : setup.inputs)
    options.inputs.push_back({kind, text});
  options.generation = greedily(setup.generate);
  options.chunk = setup.chunk;
  options.saveState = setup.saveState;
  options.loadState = setup.loadState;
  return options.plan.json ? runModel(options, diags) : std::nullopt;
}

Outputs pictures(const Pictures &setup) {
  Diagnostics diags;
  std::optional<RunResult> result = tryPictures(setup, diags);
  INFO(text(diags));
  REQUIRE(result);
  return outputsOf(*result);
}

std::string errorOf(const Pictures &setup) {
  Diagnostics diags;
  CHECK_FALSE(tryPictures(setup, diags));
  return text(diags);
}

std::vector<std::pair<InputKind, std::string>> prompt(const std::string &words, const std::vector<std::string> &files) {
  std::vector<std::pair<InputKind, std::string>> inputs{{InputKind::prompt, words}};
  for (const std::string &file : files)
    inputs.emplace_back(InputKind::image, file);
  return inputs;
}

/// Rows [from, from + count) of a float32 tensor [.., rows, C] with one leading entry.
std::vector<float> rows(const Tensor &tensor, int64_t from, int64_t count) {
  int64_t width = tensor.shape.back();
  const float *data = tensor.as<float>();
  return std::vector<float>(data + from * width, data + (from + count) * width);
}

int64_t rowCount(const Tensor &tensor) { return elementCount(tensor.shape) / tensor.shape.back(); }

/// A plan that ships with the project.
std::string planText(const std::string &name) {
  Diagnostics diags;
  std::optional<Json> json = readJsonFile(NNTERP_TEST_DATA "/plans/" + name + ".json", diags);
  REQUIRE(json);
  return json->dump();
}

} // namespace

TEST_CASE("image features are what the text model reads at image tokens") {
  Outputs out = pictures(
      {tapPlan({"vision.image_features", "vision.image_token_mask", "layers[0].layer_input", "token_embeddings"}),
       prompt("see " + place + " there", {square})});
  const Tensor &mask = out.at("vision.image_token_mask"), &features = out.at("vision.image_features"),
               &stream = out.at("layers[0].layer_input"), &words = out.at("token_embeddings");
  REQUIRE(mask.dtype == DType::boolean);
  int64_t next = 0;
  for (int64_t i = 0; i < mask.shape[1]; ++i)
    CHECK(rows(stream, i, 1) == (mask.as<unsigned char>()[i] ? rows(features, next++, 1) : rows(words, i, 1)));
  CHECK(next == features.shape[0]);
}

TEST_CASE("identities of the encoder hold to the bit") {
  std::vector<std::string> names{"vision.tower_output", "projector.input"};
  for (const char *name : {"layer_input", "self_attn.attention_output", "layer_mid", "mlp.mlp_output", "layer_output"})
    names.push_back("vision.layers[*]." + std::string(name));
  Outputs out = pictures({tapPlan(names), prompt(place + " and " + place, {square, photo})});
  auto all = [&](const std::string &key) { return rows(out.at(key), 0, rowCount(out.at(key))); };
  CHECK(all("vision.tower_output") == all("projector.input"));
  CHECK(all("vision.layers[1].layer_output") == all("projector.input"));
  for (int j : {0, 1}) {
    const std::string block = "vision.layers[" + std::to_string(j) + "].";
    std::vector<float> x = all(block + "layer_input"), a = all(block + "self_attn.attention_output"),
                       mid = all(block + "layer_mid"), m = all(block + "mlp.mlp_output"),
                       y = all(block + "layer_output");
    for (size_t i = 0; i < x.size(); ++i) {
      REQUIRE(x[i] + a[i] == mid[i]);
      REQUIRE(mid[i] + m[i] == y[i]);
    }
  }
}

TEST_CASE("an image has the same bits alone, beside another one, and in another row") {
  const std::string plan = tapPlan({"projector.output"});
  Tensor alone = pictures({plan, prompt(place + " x", {photo})}).at("projector.output");
  Tensor second = pictures({plan, prompt(place + " and " + place, {square, photo})}).at("projector.output");
  auto inputs = prompt(place + " first", {square, photo});
  inputs.insert(inputs.begin() + 1, {InputKind::prompt, "in the second row: " + place});
  Tensor rowwise = pictures({plan, inputs}).at("projector.output");
  int64_t count = rowCount(alone), before = rowCount(second) - count;
  CHECK(rows(second, before, count) == rows(alone, 0, count));
  CHECK(rows(rowwise, before, count) == rows(alone, 0, count));
}

TEST_CASE("looking at one image's scores changes nothing") {
  auto inputs = prompt(place + " and " + place, {square, photo});
  Outputs plain = pictures({tapPlan({"logits"}), inputs});
  Outputs looked = pictures({tapPlan({"logits", "vision.layers[0].self_attn.attention_scores#1",
                                      "vision.layers[1].self_attn.attention_probabilities#0"}),
                             inputs});
  CHECK(sameBits(plain.at("logits"), looked.at("logits")));
}

TEST_CASE("a rectangle of a picture is edited, and nothing outside it") {
  auto inputs = prompt(place + " x", {square});
  const std::string taps = R"("taps": ["vision.patch_embeddings", "logits"])";
  Outputs plain = pictures({R"({"nnterp_plan": 1, )" + taps + "}", inputs});
  Outputs edited = pictures({R"({"nnterp_plan": 1, )" + taps + R"(, "edits": [{"at": "vision.patch_embeddings",
    "select": {"image": 0, "rows": "0:2", "cols": 3}, "do": {"zero": {}}}]})",
                             inputs});
  const Tensor &a = plain.at("vision.patch_embeddings"), &b = edited.at("vision.patch_embeddings");
  int64_t zeroed = 0;
  for (int64_t p = 0; p < rowCount(a); ++p) {
    std::vector<float> was = rows(a, p, 1), is = rows(b, p, 1);
    if (is == std::vector<float>(is.size(), 0.0f))
      ++zeroed;
    else
      CHECK(was == is);
  }
  CHECK(zeroed == 2); // rows 0 and 1 of column 3
  CHECK_FALSE(sameBits(plain.at("logits"), edited.at("logits")));
}

TEST_CASE("swap-picture: features are patched from a world with another picture of the same size") {
  const std::string plan = planText("swap-picture"), grey = NNTERP_TEST_DATA "/images/grey.png",
                    tiny = NNTERP_TEST_DATA "/images/tiny.png";
  auto inputs = [&](const std::string &other) {
    return std::vector<std::pair<InputKind, std::string>>{{InputKind::prompt, "one:=" + place + " x"},
                                                          {InputKind::image, "one:=" + grey},
                                                          {InputKind::prompt, "other:=" + place + " x"},
                                                          {InputKind::image, "other:=" + other}};
  };
  Outputs out = pictures({plan, inputs(tiny)});
  const Tensor &one = out.at("one/logits"), &other = out.at("other/logits"), &swapped = out.at("swapped/logits");
  CHECK_FALSE(sameBits(one, other));
  CHECK_FALSE(sameBits(swapped, one));
  CHECK_FALSE(sameBits(swapped, other)); // the positions are those of its own picture's grid, 4 x 6 against 6 x 4
  CHECK(errorOf({plan, inputs(photo)}).find("NNT0707") != std::string::npos);
}

TEST_CASE("hide-corner: a hidden corner reaches its own feature first, and the answer") {
  Outputs out = pictures({planText("hide-corner"), prompt(place + " x", {photo})});
  CHECK_FALSE(sameBits(out.at("seen/logits"), out.at("hidden/logits")));
  const Tensor &seen = out.at("seen/vision.image_features"), &hidden = out.at("hidden/vision.image_features");
  double first = 0, others = 0;
  for (int64_t i = 0; i < elementCount(seen.shape); ++i) {
    double change = std::abs(double(seen.as<float>()[i]) - double(hidden.as<float>()[i]));
    (i < seen.shape[1] ? first : others) += change / (i < seen.shape[1] ? 1 : double(seen.shape[0] - 1));
  }
  CHECK(first > 3 * others);
}

TEST_CASE("generation after an image goes on through chunks and saved states to the bit") {
  TemporaryFolder folder;
  const std::string file = folder.path("state.safetensors"), plan = tapPlan({"tokens"});
  Outputs whole = pictures({plan, prompt(place + " what is it", {photo}), 6});
  Outputs cut = pictures({plan, prompt(place + " what is it", {photo}), 6, 3});
  CHECK(sameBits(whole.at("tokens"), cut.at("tokens")));
  Outputs first = pictures({plan, prompt(place + " what is it", {photo}), 3, 0, file});
  Outputs rest = pictures({plan, {}, 3, 0, "", file});
  const int64_t *all = whole.at("tokens").as<int64_t>(), *head = first.at("tokens").as<int64_t>(),
                *tail = rest.at("tokens").as<int64_t>();
  for (int k = 0; k < 3; ++k) {
    CHECK(all[k] == head[k]);
    CHECK(all[k + 3] == tail[k]);
  }
}

TEST_CASE("what is wrong with images is said with both numbers") {
  CHECK(errorOf({R"({"nnterp_plan": 1})", prompt("no place", {square})})
            .find("the prompt has 0 places for images; given: 1 image") != std::string::npos);
  CHECK(errorOf({tapPlan({"vision.image_features"}), prompt("no picture", {})}).find("NNT0609") != std::string::npos);
  CHECK(errorOf({R"({"nnterp_plan": 1, "edits": [{"at": "vision.tower_output", "do": {"zero": {}}}]})",
                 prompt(place, {square})})
            .find("edit the last vision.layers[j].layer_output or projector.input instead") != std::string::npos);
  CHECK(
      errorOf({tapPlan({"vision.layers[0].self_attn.attention_scores#1"}), prompt(place, {square})}).find("1 image") !=
      std::string::npos);
}

TEST_CASE("every value of the encoder can be looked at") {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(checkpointPath("tiny-vl"), diags);
  REQUIRE(config);
  const PointTable table = qwen35MoePoints(*config);
  std::vector<std::string> names;
  for (PointInfo row : table.rows())
    if (row.presence == Presence::image) {
      if (size_t block = row.name.find("[j]"); block != std::string::npos)
        row.name.replace(block, 3, "[*]");
      if (row.name.substr(row.name.size() - 2) == "#i")
        row.name.back() = '0';
      names.push_back(row.name);
    }
  CHECK(names.size() == 36);
  CHECK(pictures({tapPlan(names), prompt(place + " x", {square})}).size() == 60); // two blocks
}
