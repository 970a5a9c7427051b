// Tests of finding a checkpoint's files: shards, their index, and what can be wrong with them.
#include "Fixtures.h"

#include <catch2/catch.hpp>
#include <filesystem>

using namespace nnterp;

static const std::vector<WantedTensor> wanted = {{"a", {1}, {}}, {"b", {1}, {}}};

static std::string errorsOf(const TempDir &dir) {
  Diagnostics diags;
  CHECK_FALSE(CheckpointIndex::open(dir.path, wanted, {}, diags));
  std::string all = text(diags);
  for (size_t at; (at = all.find(dir.path)) != std::string::npos;)
    all.replace(at, dir.path.size(), "DIR");
  return all;
}

static void saveShards(const TempDir &dir) {
  save(dir, "one.safetensors", {{"a", tensorOf(DType::f32, {1}, {1})}});
  save(dir, "two.safetensors", {{"b", tensorOf(DType::f32, {1}, {2})}});
}

TEST_CASE("shards are found by their index", "[shards]") {
  TempDir dir;
  saveShards(dir);
  writeBytes(dir / "model.safetensors.index.json",
             R"({"metadata": {"total_size": 8}, "weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  Diagnostics diags;
  auto index = CheckpointIndex::open(dir.path, wanted, {}, diags);
  REQUIRE(index);
  CHECK(valuesOf(*index->load("a", diags)) == std::vector<double>{1});
  CHECK(valuesOf(*index->load("b", diags)) == std::vector<double>{2});
  CHECK(text(diags) == "");
}

TEST_CASE("NNT0305: an index that names an absent shard", "[shards]") {
  TempDir dir;
  saveShards(dir);
  writeBytes(dir / "model.safetensors.index.json",
             "{\"weight_map\": {\n  \"a\": \"one.safetensors\",\n  \"b\": \"tow.safetensors\"}}");
  CHECK(errorsOf(dir) ==
        "DIR/model.safetensors.index.json:3:8: error NNT0305: the index names \"tow.safetensors\" (for "
        "1 tensor), but there is no such file in \"DIR\"\n");
}

TEST_CASE("NNT0305: a shard that lacks a tensor of the index", "[shards]") {
  TempDir dir;
  saveShards(dir);
  writeBytes(dir / "model.safetensors.index.json",
             "{\"weight_map\": {\n  \"a\": \"two.safetensors\",\n  \"b\": \"two.safetensors\"}}");
  CHECK(errorsOf(dir) == "DIR/model.safetensors.index.json:2:3: error NNT0305: the index says that \"a\" is in "
                         "\"two.safetensors\", but that file has no such tensor\n");
}

TEST_CASE("NNT0305: an index of a wrong form", "[shards]") {
  TempDir dir;
  auto errorsWith = [&](const std::string &index) {
    writeBytes(dir / "model.safetensors.index.json", index);
    return errorsOf(dir);
  };
  const std::string at = "DIR/model.safetensors.index.json:1:";
  const std::string expected =
      "error NNT0305: expected \"weight_map\", an object of tensor names and file names, found ";
  CHECK(errorsWith("{}") == at + "1: " + expected + "no such member\n");
  CHECK(errorsWith("[]") == at + "1: " + expected + "no object\n");
  CHECK(errorsWith("{\"weight_map\": 1}") == at + "16: " + expected + "an integer\n");
  CHECK(errorsWith("{\"weight_map\": {}}") == at + "1: error NNT0305: the index names no file\n");
  CHECK(errorsWith("{\"weight_map\": {\"a\": []}}") ==
        at + "22: error NNT0305: expected a file name for \"a\", found an array\n");
  CHECK(errorsWith("{\"weight_map\": {") == at + "17: error NNT0103: not valid JSON: unexpected end of input; expected "
                                                 "string literal\n");
}

TEST_CASE("a broken shard is reported, and the others are still checked", "[shards]") {
  TempDir dir;
  saveShards(dir);
  writeBytes(dir / "one.safetensors", "short");
  writeBytes(dir / "model.safetensors.index.json",
             R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors", "c": "two.safetensors"}})");
  CHECK(
      errorsOf(dir) ==
      "DIR/one.safetensors: error NNT0301: expected at least 8 bytes, the length of the header; the file has 5 bytes\n"
      "DIR/model.safetensors.index.json:1:65: error NNT0305: the index says that \"c\" is in \"two.safetensors\", but "
      "that file has no such tensor\n");
}

TEST_CASE("NNT0310: a tensor in two shards", "[shards]") {
  TempDir dir;
  saveShards(dir);
  save(dir, "two.safetensors", {{"a", tensorOf(DType::f32, {1}, {9})}, {"b", tensorOf(DType::f32, {1}, {2})}});
  writeBytes(dir / "model.safetensors.index.json",
             R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  CHECK(errorsOf(dir) == "DIR: error NNT0310: tensor \"a\" is stored in two files, \"DIR/one.safetensors\" and "
                         "\"DIR/two.safetensors\"\n");
}

TEST_CASE("errors in one of several shards name the file", "[shards]") {
  TempDir dir;
  saveShards(dir);
  save(dir, "two.safetensors", {{"b", tensorOf(DType::f32, {2}, {1, 2})}, {"c", tensorOf(DType::f32, {1}, {2})}});
  writeBytes(dir / "model.safetensors.index.json",
             R"({"weight_map": {"a": "one.safetensors", "b": "two.safetensors"}})");
  CHECK(errorsOf(dir) ==
        "DIR: error NNT0308: tensor \"b\" (in \"DIR/two.safetensors\"): expected shape [1], found [2]\n"
        "DIR: error NNT0307: surplus tensor \"c\" (in \"DIR/two.safetensors\"), float32 [1]: the model "
        "that the configuration describes has no such tensor\n");
}

TEST_CASE("NNT0304: a folder without weights", "[shards]") {
  TempDir dir;
  const std::string expected = "DIR: error NNT0304: expected \"model.safetensors\" or \"model.safetensors.index.json\" "
                               "(or \"pytorch_model.bin\" alike); ";
  CHECK(errorsOf(dir) == expected + "found no file of weights\n");
  saveShards(dir);
  CHECK(errorsOf(dir) ==
        expected + "found several files of weights and no index: \"one.safetensors\" or \"two.safetensors\"\n");
  Diagnostics diags;
  CHECK_FALSE(CheckpointIndex::open("/no/such/folder", wanted, {}, diags));
  CHECK(text(diags) == "/no/such/folder: error NNT0304: expected \"model.safetensors\" or "
                       "\"model.safetensors.index.json\" (or \"pytorch_model.bin\" alike); there is no such folder\n");
}
