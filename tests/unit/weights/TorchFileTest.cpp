// Tests of PyTorch files through the LibTorch module.
#include "Fixtures.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

using namespace nnterp;

/// For the leak check of the sanitizer build: LibTorch 1.13 does not free what it has read of an archive that it
/// refuses.
extern "C" const char *__lsan_default_suppressions() { return "leak:libtorch_cpu\n"; }

static std::vector<double> read(const std::string &file, const std::string &key, DType dtype, Shape shape) {
  Diagnostics diags;
  std::optional<Tensor> tensor = readTensorFile(data("torch/" + file), key, {}, diags);
  INFO(text(diags));
  REQUIRE(tensor);
  CHECK(tensor->dtype == dtype);
  CHECK(tensor->shape == shape);
  return valuesOf(*tensor);
}

static std::string keysOf(const std::string &file) {
  Diagnostics diags;
  auto entries = listTensorFile(data("torch/" + file), {}, diags);
  INFO(text(diags));
  REQUIRE(entries);
  std::string keys;
  for (const SafetensorsEntry &entry : *entries)
    keys += entry.key + ";";
  return keys;
}

static std::string errorsOf(const std::string &path) {
  Diagnostics diags;
  CHECK_FALSE(listTensorFile(path, {}, diags));
  return text(diags);
}

using Values = std::vector<double>;

// Must be the first test of this program: once the module is loaded it stays loaded.
TEST_CASE("NNT0311: without the module the error says what to do", "[torch]") {
  setenv("NNTERP_LIB_DIR", "/no/such/folder", 1);
  const std::string path = data("torch/single.pt");
  CHECK(errorsOf(path) == path + ": error NNT0311: reading \"" + path +
                              "\" needs LibTorch: libnnterp_torch.so is not in \"/no/such/folder\"; build it with "
                              "-DNNTERP_TORCH=ON and LibTorch, or convert the file to safetensors\n");
  TempDir dir;
  setenv("NNTERP_LIB_DIR", dir.path.c_str(), 1);
  writeBytes(dir / "libnnterp_torch.so", "no library");
  CHECK(errorsOf(path).find("needs LibTorch: it cannot be loaded: " + dir.path) != std::string::npos);
  unsetenv("NNTERP_LIB_DIR");
}

TEST_CASE("state dicts, lone tensors, parameters", "[torch]") {
  CHECK(keysOf("state_dict.pt") == "0.weight;0.bias;1.weight;1.bias;");
  CHECK(read("state_dict.pt", "0.weight", DType::f32, {2, 3}) == Values{0, 1, 2, 3, 4, 5});
  CHECK(read("single.pt", "", DType::f32, {2, 3}) == Values{0, 1, 2, 3, 4, 5});
  CHECK(read("one_key.pth", "steer", DType::f32, {2}) == Values{1.5, -2});
  CHECK(read("one_key.pth", "", DType::f32, {2}) == Values{1.5, -2});
  CHECK(read("parameter.pt", "w", DType::f32, {2, 2}) == Values{3, 3, 3, 3});
}

TEST_CASE("nested dicts and lists; what is no tensor is passed over", "[torch]") {
  CHECK(keysOf("nested.pt") == "model.w;model.b;list.0;list.1.0;3;");
  CHECK(read("nested.pt", "model.b", DType::bf16, {3}) == Values{1, 1, 1});
  CHECK(read("nested.pt", "list.1.0", DType::f32, {1}) == Values{1});
  CHECK(read("nested.pt", "3", DType::f32, {2}) == Values{7, 7});
  CHECK(keysOf("module.pt") == "");
}

TEST_CASE("every element type", "[torch]") {
  for (DType t : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const char *key = t == DType::f64 ? "f64" : t == DType::f32 ? "f32" : t == DType::f16 ? "f16" : "bf16";
    CHECK(read("dtypes.pt", key, t, {2}) == Values{1.5, -2});
  }
  CHECK(read("dtypes.pt", "i64", DType::i64, {2}) == Values{1, -2});
  CHECK(read("dtypes.pt", "i32", DType::i32, {2}) == Values{1, -2});
  CHECK(read("dtypes.pt", "i16", DType::i16, {2}) == Values{1, -2});
  CHECK(read("dtypes.pt", "i8", DType::i8, {2}) == Values{1, -2});
  CHECK(read("dtypes.pt", "u8", DType::u8, {2}) == Values{1, 254});
  CHECK(read("dtypes.pt", "bool", DType::boolean, {2}) == Values{1, 0});
  CHECK(read("dtypes.pt", "scalar", DType::f32, {}) == Values{3.5});
  CHECK(read("dtypes.pt", "empty", DType::f32, {0, 4}).empty());
  CHECK(read("float8.pt", "f8", DType::f8_e4m3, {2}) == Values{1.5, -448});
}

TEST_CASE("views of a shared storage, transposed, strided and expanded", "[torch]") {
  CHECK(read("shared.pt", "a", DType::f32, {3}) == Values{2, 3, 4});
  CHECK(read("shared.pt", "b", DType::f32, {5}) == Values{5, 6, 7, 8, 9});
  CHECK(read("shared.pt", "every_other", DType::f32, {5}) == Values{0, 2, 4, 6, 8});
  CHECK(read("shared.pt", "expanded", DType::f32, {3, 2}) == Values{0, 1, 0, 1, 0, 1});
  CHECK(read("nested.pt", "model.w", DType::i64, {3, 2}) == Values{0, 3, 1, 4, 2, 5});
}

TEST_CASE("a checkpoint of .bin shards is mapped", "[torch]") {
  Diagnostics diags;
  std::vector<WantedTensor> wanted = {{"model.norm.weight", {3}, {}},
                                      {"model.layers.0.mlp.experts.gate_up_proj", {2, 4, 3}, {"gate_proj", "up_proj"}}};
  auto index = CheckpointIndex::open(data("torch/sharded"), wanted, {}, diags);
  INFO(text(diags));
  REQUIRE(index);
  CHECK(index->find("model.norm.weight")->mapped);
  CHECK(valuesOf(*index->load("model.norm.weight", diags)) == Values{1, 2, 3});
  Values fused = valuesOf(*index->load(wanted[1].key, diags));
  REQUIRE(fused.size() == 24);
  for (size_t i = 0; i < 24; ++i)
    CHECK(fused[i] == double(i / 12 * 10 + i % 12 / 6));
  CHECK(index->copiedTensors() == 1);
  CHECK(index->storedBytes() == 6 + 4 * 24);
}

TEST_CASE("NNT0312: files that torch.save does not write", "[torch]") {
  auto error = [](const std::string &name, const std::string &message) {
    return data("torch/" + name) + ": error " + message + "\n";
  };
  CHECK(errorsOf(data("torch/legacy.pt")) ==
        error("legacy.pt", "NNT0312: expected a zip as torch.save writes it since PyTorch 1.6, found another format"));
  CHECK(errorsOf(data("torch/compressed.pt")) ==
        error("compressed.pt", "NNT0312: record \"data/0\" is compressed; expected it stored, as torch.save does"));
  CHECK(errorsOf(data("torch/complex.pt")) ==
        error("complex.pt", "NNT0303: tensor \"c\": unknown element type \"torch ComplexFloatStorage\""));
}

TEST_CASE("NNT0312: a tensor larger than its record", "[torch]") {
  TempDir dir;
  std::string bytes = readBytes(data("torch/single.pt"));
  size_t at = bytes.find("K\x02K\x03\x86"); // the shape (2, 3)
  REQUIRE(at != std::string::npos);
  bytes[at + 1] = char(200);
  writeBytes(dir / "a.pt", bytes);
  CHECK(errorsOf(dir / "a.pt") == dir.path + "/a.pt: error NNT0312: tensor \"\" of shape [200, 3] and strides [3, 1] "
                                             "does not fit into its record \"data/0\"\n");
}

TEST_CASE("every truncation and many mutations of a good file are survived", "[torch]") {
  TempDir dir;
  const std::string whole = readBytes(data("torch/shared.pt"));
  for (size_t length = 0; length < whole.size(); length += 13) {
    writeBytes(dir / "a.pt", whole.substr(0, length));
    CHECK(errorsOf(dir / "a.pt") != "");
  }
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string changed = whole;
    changed[at] = char(changed[at] ^ 0x55);
    writeBytes(dir / "a.pt", changed);
    Diagnostics diags;
    if (auto entries = listTensorFile(dir / "a.pt", {}, diags))
      for (const SafetensorsEntry &entry : *entries)
        CHECK(readTensorFile(dir / "a.pt", entry.key, {}, diags));
    else
      CHECK(diags.hasErrors());
  }
}
