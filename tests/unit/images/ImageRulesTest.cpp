// preprocessor_config.json: what is read, what is refused.
#include "../weights/Fixtures.h"
#include "runtime/images/ImageRules.h"

#include <catch2/catch.hpp>

namespace nnterp {

static std::string errorsOf(const std::string &json, const EncoderSizes &encoder = {}) {
  Diagnostics diags;
  const std::optional<Json> parsed = parseJson(json, "p.json", diags);
  REQUIRE(parsed);
  const bool read = readImageRules(*parsed, encoder, diags).has_value();
  CHECK(read != diags.hasErrors());
  return text(diags);
}

/// A file of the released patch size with something added.
static std::string errorsWith(const std::string &settings) {
  return errorsOf("{\"patch_size\": 16, " + settings + "}");
}

static ImageRules good(const std::string &json, const EncoderSizes &encoder = {}) {
  Diagnostics diags;
  const std::optional<ImageRules> rules = readImageRules(*parseJson(json, "p.json", diags), encoder, diags);
  INFO(text(diags));
  REQUIRE(rules);
  return *rules;
}

TEST_CASE("The settings of the released models", "[images]") {
  const ImageRules rules = good(R"({"size": {"longest_edge": 16777216, "shortest_edge": 65536}, "patch_size": 16,
    "temporal_patch_size": 2, "merge_size": 2, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.5, 1],
    "processor_class": "Qwen3VLProcessor", "image_processor_type": "Qwen2VLImageProcessorFast"})");
  CHECK(rules.minPixels == 65536);
  CHECK(rules.maxPixels == 16777216);
  CHECK(rules.factor() == 32);
  CHECK(rules.patchValues() == 1536);
  CHECK(rules.mean == std::array<double, 3>{0.5, 0.5, 0.5});
  CHECK(rules.std == std::array<double, 3>{0.25, 0.5, 1});
  CHECK(rules.rescale == 1.0 / 255);
}

TEST_CASE("Settings left out are those of the reference's class", "[images]") {
  const ImageRules rules = good("{\"image_mean\": null}", {3, 14, 2, 2});
  CHECK(rules.minPixels == 3136);
  CHECK(rules.maxPixels == 1003520);
  CHECK(rules.mean[0] == 0.48145466);
  CHECK(rules.std[2] == 0.27577711);
}

TEST_CASE("Older keys for the number of pixels win", "[images]") {
  const ImageRules rules = good(R"({"patch_size": 16, "min_pixels": 100, "max_pixels": 200, "size":
    {"shortest_edge": 1, "longest_edge": 2}, "image_mean": 0.25})");
  CHECK(rules.minPixels == 100);
  CHECK(rules.maxPixels == 200);
  CHECK(rules.mean == std::array<double, 3>{0.25, 0.25, 0.25});
}

TEST_CASE("Keys that saved processors have, and that change nothing", "[images]") {
  CHECK(errorsWith(R"("crop_size": null, "data_format": "channels_first", "default_to_square": true, "device": null,
    "disable_grouping": null, "do_center_crop": null, "do_pad": false, "input_data_format": null, "pad_size": null,
    "return_tensors": null, "resample": 3, "do_resize": true, "image_processor_type": "Qwen2VLImageProcessor")") == "");
}

TEST_CASE("NNT1406: no preprocessor_config.json", "[images]") {
  const TempDir dir;
  Diagnostics diags;
  CHECK_FALSE(loadImageRules(dir.path, {}, diags));
  CHECK(text(diags) == (dir / "preprocessor_config.json") +
                           ": error NNT1406: the checkpoint does not say how pictures are "
                           "prepared: it has no preprocessor_config.json\n");
}

TEST_CASE("processor_config.json wins where it has an image processor", "[images]") {
  const TempDir dir;
  Diagnostics diags;
  writeBytes(dir / "preprocessor_config.json", "{\"patch_size\": 16, \"min_pixels\": 1}");
  writeBytes(dir / "processor_config.json", "{\"processor_class\": \"Qwen3VLProcessor\"}");
  CHECK(loadImageRules(dir.path, {}, diags)->minPixels == 1);
  writeBytes(dir / "processor_config.json", "{\"image_processor\": {\"patch_size\": 16, \"min_pixels\": 2}}");
  CHECK(loadImageRules(dir.path, {}, diags)->minPixels == 2);
  writeBytes(dir / "processor_config.json", "{");
  CHECK_FALSE(loadImageRules(dir.path, {}, diags));
  CHECK(diags.all()[0].code == "NNT0103");
}

TEST_CASE("NNT1407: settings of the wrong type or range", "[images]") {
  CHECK(errorsOf("[]") == "p.json:1:1: error NNT1407: expected an object, found an array\n");
  CHECK(errorsOf("{\"patch_size\": 0}") ==
        "p.json:1:16: error NNT1407: expected \"patch_size\" to be an integer from 1 to 4096, found 0\n");
  CHECK(errorsWith("\"merge_size\": \"2\"") ==
        "p.json:1:34: error NNT1407: expected \"merge_size\" to be an integer from 1 to 4096, found \"2\"\n");
  CHECK(errorsWith("\"size\": 5") ==
        "p.json:1:28: error NNT1407: expected \"size\" to be an object with \"shortest_edge\" and "
        "\"longest_edge\", found 5\n");
  CHECK(errorsWith("\"size\": {\"shortest_edge\": 5}") ==
        "p.json:1:28: error NNT1407: expected \"size\" to be an object with \"shortest_edge\" and \"longest_edge\", "
        "found an object\n");
  CHECK(errorsWith("\"min_pixels\": 1000000000") ==
        "p.json:1:34: error NNT1407: expected \"min_pixels\" to be an integer from 1 to 178956970, found 1000000000\n");
  CHECK(errorsWith("\"min_pixels\": 9, \"max_pixels\": 8") ==
        "p.json:1:1: error NNT1407: the least number of pixels, 9, is above the largest, 8\n");
  CHECK(errorsWith("\"image_mean\": [1, 2]") ==
        "p.json:1:34: error NNT1407: expected \"image_mean\" to be three numbers, found an array\n");
  CHECK(errorsWith("\"image_std\": [1, 0, 1]") ==
        "p.json:1:33: error NNT1407: expected \"image_std\" to be three numbers that are not 0, found an array\n");
  CHECK(errorsWith("\"rescale_factor\": -1") ==
        "p.json:1:38: error NNT1407: expected \"rescale_factor\" to be a number above 0, found -1\n");
}

TEST_CASE("NNT1408: preprocessing that is not done here", "[images]") {
  CHECK(errorsWith("\"do_resize\": false") ==
        "p.json:1:33: error NNT1408: \"do_resize\" false is not supported; expected true\n");
  CHECK(errorsWith("\"do_center_crop\": true") ==
        "p.json:1:38: error NNT1408: \"do_center_crop\" true is not supported; expected false\n");
  CHECK(errorsWith("\"resample\": 2") == "p.json:1:32: error NNT1408: \"resample\" 2 is not supported; expected 3\n");
  CHECK(errorsWith("\"image_processor_type\": \"CLIPImageProcessor\"") ==
        "p.json:1:44: error NNT1408: \"image_processor_type\" \"CLIPImageProcessor\" is not supported; expected "
        "\"Qwen2VLImageProcessorFast\" or \"Qwen2VLImageProcessor\"\n");
  CHECK(errorsWith("\"device\": \"cuda\"") ==
        "p.json:1:30: error NNT1408: \"device\" \"cuda\" is not supported; expected \"cpu\"\n");
  for (const char *key : {"do_rescale", "do_normalize", "do_convert_rgb"})
    CHECK(errorsWith('"' + std::string(key) + "\": false").find("NNT1408: \"" + std::string(key) + "\" false") !=
          std::string::npos);
}

TEST_CASE("NNT1409: unknown settings", "[images]") {
  CHECK(errorsWith("\"patch_sice\": 3") ==
        "p.json:1:20: error NNT1409: the setting \"patch_sice\" is not known; nearest: "
        "\"patch_size\", \"merge_size\" or \"size\"\n");
  CHECK(
      errorsWith("\"size\": {\"shortest_edge\": 5, \"longest_edge\": 9, \"height\": 3}") ==
      "p.json:1:78: error NNT1409: \"size\" has no setting \"height\"; known: \"shortest_edge\" or \"longest_edge\"\n");
}

TEST_CASE("NNT1410: patches of another size than the encoder's", "[images]") {
  CHECK(errorsOf("{\"merge_size\": 4}", {3, 16, 2, 2}) ==
        "p.json:1:1: error NNT1410: \"patch_size\" is 14, as it is where nothing is said, and the image encoder takes "
        "16\n"
        "p.json:1:16: error NNT1410: \"merge_size\" is 4, and the image encoder takes 2\n");
  CHECK(errorsOf("{\"patch_size\": 16}", {4, 16, 2, 2}) ==
        "p.json:1:1: error NNT1410: pictures have 3 channels, and the image encoder takes 4\n");
}

TEST_CASE("All errors are reported in one go", "[images]") {
  const std::string errors = errorsOf("{\"patch_size\": -1, \"do_pad\": true, \"zoom\": 1}");
  for (const char *code : {"NNT1407", "NNT1408", "NNT1409"})
    CHECK(errors.find(code) != std::string::npos);
}

} // namespace nnterp
