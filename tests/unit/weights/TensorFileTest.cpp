// Tests of value files: one tensor by key, and the list.
#include "Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("a tensor of a value file is found by its key", "[values]") {
  TempDir dir;
  save(dir, "v.safetensors", {{"a", tensorOf(DType::f32, {2}, {1, 2})}, {"b", tensorOf(DType::i64, {1}, {3})}});
  Diagnostics diags;
  std::optional<Tensor> b = readTensorFile(dir / "v.safetensors", "b", {"plan.json", 2, 3}, diags);
  REQUIRE(b);
  CHECK(b->dtype == DType::i64);
  CHECK(valuesOf(*b) == std::vector<double>{3});
  auto list = listTensorFile(dir / "v.safetensors", {}, diags);
  REQUIRE(list);
  CHECK(list->size() == 2);
  CHECK((*list)[0].key == "a");
  CHECK((*list)[0].shape == Shape{2});
  CHECK(text(diags) == "");
}

TEST_CASE("the only tensor of a file needs no key", "[values]") {
  TempDir dir;
  save(dir, "v.safetensors", {{"steer", tensorOf(DType::f32, {1}, {4})}});
  Diagnostics diags;
  CHECK(readTensorFile(dir / "v.safetensors", "", {}, diags));
}

TEST_CASE("NNT0313: a key that the file does not have", "[values]") {
  TempDir dir;
  Tensor one = tensorOf(DType::f32, {1}, {4});
  save(dir, "v.safetensors", {{"steer_1", one}, {"bias", one}, {"steer_2", one}, {"stear", one}});
  save(dir, "e.safetensors", {});
  Diagnostics diags;
  SourceLoc loc{"plan.json", 5, 7};
  CHECK_FALSE(readTensorFile(dir / "v.safetensors", "steer", loc, diags));
  CHECK_FALSE(readTensorFile(dir / "v.safetensors", "", loc, diags));
  CHECK_FALSE(readTensorFile(dir / "e.safetensors", "x", {}, diags));
  CHECK(text(diags) == "plan.json:5:7: error NNT0313: no tensor \"steer\" in \"" + dir.path +
                           "/v.safetensors\"; it has \"stear\", \"steer_1\" or \"steer_2\" (of 4)\n"
                           "plan.json:5:7: error NNT0313: a key is needed to choose a tensor of \"" +
                           dir.path + "/v.safetensors\"; it has \"bias\", \"stear\" or \"steer_1\" (of 4)\n" +
                           dir.path + "/e.safetensors: error NNT0313: no tensor \"x\" in \"" + dir.path +
                           "/e.safetensors\"; it holds no tensors\n");
}

TEST_CASE("errors of a value file are shown where the plan names it", "[values]") {
  TempDir dir;
  writeBytes(dir / "v.safetensors", "short");
  Diagnostics diags;
  SourceLoc loc{"plan.json", 5, 7};
  CHECK_FALSE(readTensorFile(dir / "none.safetensors", "x", loc, diags));
  CHECK_FALSE(listTensorFile(dir / "v.safetensors", loc, diags));
  CHECK(text(diags) == "plan.json:5:7: error NNT0101: cannot read \"" + dir.path +
                           "/none.safetensors\": No such file or directory\n"
                           "plan.json:5:7: error NNT0301: in \"" +
                           dir.path +
                           "/v.safetensors\": expected at least 8 bytes, the length of the header; the file " +
                           "has 5 bytes\n");
}
