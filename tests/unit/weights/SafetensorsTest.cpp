// Tests of reading safetensors files.
#include "Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("a file of another writer is read", "[safetensors]") {
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(data("checkpoints/tiny-text/model.safetensors"), diags);
  REQUIRE(file);
  CHECK(file->path() == data("checkpoints/tiny-text/model.safetensors"));
  CHECK(file->entries().size() == 141);
  CHECK(file->metadata().at("format") == "pt");
  const SafetensorsEntry *entry = file->find("model.norm.weight");
  REQUIRE(entry);
  CHECK(entry->dtype == DType::f32);
  CHECK(entry->shape == Shape{48});
  CHECK(entry->end - entry->begin == 192);
  CHECK_FALSE(file->find("model.norm"));
  CHECK_FALSE(file->tensor("model.norm"));
  std::optional<Tensor> tensor = file->tensor("model.norm.weight");
  REQUIRE(tensor);
  CHECK(tensor->bytes() == 192);
  CHECK(text(diags) == "");
}

TEST_CASE("tensors view the mapping and outlive the reader", "[safetensors]") {
  TempDir dir;
  save(dir, "a.safetensors", {{"x", tensorOf(DType::f32, {2, 2}, {1, 2, 3, 4})}});
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(dir / "a.safetensors", diags);
  REQUIRE(file);
  std::optional<Tensor> first = file->tensor("x"), second = file->tensor("x");
  CHECK(first->data == second->data);
  CHECK(file->inPlace(file->entries()[0]));
  file.reset();
  CHECK(valuesOf(*first) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("a tensor that its file does not align is copied", "[safetensors]") {
  TempDir dir;
  writeBytes(dir / "a", safetensorsBytes(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                         R"("w":{"dtype":"I16","shape":[2],"data_offsets":[1,5]}})",
                                         5));
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(dir / "a", diags);
  REQUIRE(file);
  int unaligned = 0;
  for (const SafetensorsEntry &entry : file->entries())
    unaligned += !file->inPlace(entry);
  // Either the header ends on an odd byte or the two-byte tensor begins on one.
  bool oddHeader = (readBytes(dir / "a").size() - 5) % 2 != 0;
  CHECK(unaligned == (oddHeader ? 0 : 1));
  Tensor w = *file->tensor("w");
  CHECK(reinterpret_cast<uintptr_t>(w.data) % 2 == 0);
  CHECK(valuesOf(w) == std::vector<double>{0x0201, 0x0403});
}

TEST_CASE("empty tensors, scalars and empty files", "[safetensors]") {
  TempDir dir;
  writeBytes(dir / "a", safetensorsBytes(R"({"none":{"dtype":"F32","shape":[0,7],"data_offsets":[0,0]},)"
                                         R"("one":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)"
                                         R"("end":{"dtype":"F64","shape":[3,0],"data_offsets":[1,1]}}   )",
                                         1));
  writeBytes(dir / "b", safetensorsBytes("{}", 0));
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(dir / "a", diags);
  REQUIRE(file);
  CHECK(file->tensor("none")->shape == Shape{0, 7});
  CHECK(file->tensor("end")->bytes() == 0);
  CHECK(valuesOf(*file->tensor("one")) == std::vector<double>{0});
  file = Safetensors::open(dir / "b", diags);
  REQUIRE(file);
  CHECK(file->entries().empty());
  CHECK(text(diags) == "");
}
