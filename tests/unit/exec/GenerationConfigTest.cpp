// Tests of generation_config.json.
#include "runtime/exec/GenerationConfig.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static std::optional<GenerationConfig> read(const std::string &json, Diagnostics &diags) {
  std::optional<Json> parsed = parseJson(json, "g.json", diags);
  REQUIRE(parsed);
  return readGenerationConfig(*parsed, diags);
}

TEST_CASE("what the file says is read, the rest is ignored", "[generation]") {
  Diagnostics diags;
  std::optional<GenerationConfig> config =
      read(R"({"eos_token_id": [3, 5], "pad_token_id": 5, "do_sample": true, "temperature": 1, "top_k": 20,
               "top_p": 0.95, "transformers_version": "5.0", "bos_token_id": null})",
           diags);
  REQUIRE(config);
  CHECK(config->eos == std::vector<int64_t>{3, 5});
  CHECK(config->pad == 5);
  CHECK(config->sample == true);
  CHECK(config->temperature == 1.0);
  CHECK(config->topK == 20);
  CHECK(config->topP == 0.95);
}

TEST_CASE("one end token may stand alone, and null is nothing", "[generation]") {
  Diagnostics diags;
  CHECK(read(R"({"eos_token_id": 7})", diags)->eos == std::vector<int64_t>{7});
  std::optional<GenerationConfig> empty = read(R"({"eos_token_id": null, "top_k": null})", diags);
  REQUIRE(empty);
  CHECK(empty->eos.empty());
  CHECK_FALSE(empty->topK);
  CHECK_FALSE(empty->sample);
  CHECK(diags.all().empty());
}

TEST_CASE("a checkpoint need not have the file", "[generation]") {
  TempDir dir;
  Diagnostics diags;
  std::optional<GenerationConfig> config = loadGenerationConfig(dir.path, diags);
  REQUIRE(config);
  CHECK(config->eos.empty());
  CHECK(loadGenerationConfig(data("checkpoints/tiny-text"), diags)->topK == 20);
}

TEST_CASE("NNT1301: unfit generation_config.json", "[generation]") {
  Diagnostics diags;
  CHECK_FALSE(read("{\"eos_token_id\": [1, \"2\"],\n \"do_sample\": 1, \"top_k\": 2.5, \"top_p\": \"x\"}", diags));
  CHECK(text(diags) ==
        "g.json:1:22: error NNT1301: expected \"eos_token_id\" to be an id or a list of ids, found a string\n"
        "g.json:2:27: error NNT1301: expected \"top_k\" to be an integer, found a number\n"
        "g.json:2:41: error NNT1301: expected \"top_p\" to be a number, found a string\n"
        "g.json:2:15: error NNT1301: expected \"do_sample\" to be true or false, found an integer\n");
  Diagnostics list, id;
  CHECK_FALSE(read("[]", list));
  CHECK(text(list) == "g.json:1:1: error NNT1301: expected an object, found an array\n");
  CHECK_FALSE(read(R"({"eos_token_id": "a"})", id));
}

TEST_CASE("NNT0103: a generation_config.json that is no JSON", "[generation]") {
  TempDir dir;
  writeBytes(dir / "generation_config.json", "{");
  Diagnostics diags;
  CHECK_FALSE(loadGenerationConfig(dir.path, diags));
  CHECK(diags.all().at(0).code == "NNT0103");
}
