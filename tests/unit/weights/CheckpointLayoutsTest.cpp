// Tests of the layouts a checkpoint may have: whatever the files look like, the graph gets the same tensors.
#include "Fixtures.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

using namespace nnterp;
using Options = CheckpointIndex::Options;

static CheckpointIndex opened(const std::string &directory, const std::vector<WantedTensor> &wanted,
                              const Options &options = {}) {
  Diagnostics diags;
  std::optional<CheckpointIndex> index = CheckpointIndex::open(directory, wanted, options, diags);
  INFO(text(diags));
  REQUIRE(index);
  CHECK(diags.all().empty());
  CHECK(index->tensors().size() == wanted.size());
  return *index;
}

static Tensor loaded(CheckpointIndex &index, const std::string &key) {
  Diagnostics diags;
  std::optional<Tensor> tensor = index.load(key, diags);
  INFO(text(diags));
  REQUIRE(tensor);
  return *tensor;
}

TEST_CASE("a single file with fused experts is mapped, not copied", "[checkpoint]") {
  std::vector<WantedTensor> wanted = wantedOf({"tiny-text/model.safetensors"});
  CheckpointIndex index = opened(data("checkpoints/tiny-text"), wanted);
  for (const WantedTensor &tensor : wanted) {
    const FoundTensor *found = index.find(tensor.key);
    REQUIRE(found);
    CHECK(found->mapped);
    CHECK(found->dtype == DType::f32);
    CHECK(found->storedKey == tensor.key);
    CHECK(loaded(index, tensor.key).shape == tensor.shape);
    CHECK(loaded(index, tensor.key).data == loaded(index, tensor.key).data);
  }
  CHECK(index.copiedBytes() == 0);
  CHECK(index.copiedTensors() == 0);
  CHECK(index.stored().size() == wanted.size());
  uint64_t bytes = 0;
  for (const WantedTensor &tensor : wanted)
    bytes += uint64_t(elementCount(tensor.shape)) * 4;
  CHECK(index.storedBytes() == bytes);
}

TEST_CASE("experts stored one by one equal the fused ones, and are copied once", "[checkpoint]") {
  std::vector<WantedTensor> wanted = wantedOf({"tiny-text/model.safetensors"});
  CheckpointIndex fused = opened(data("checkpoints/tiny-text"), wanted);
  CheckpointIndex parts = opened(data("checkpoints/tiny-text-per-expert"), wanted);
  CHECK(parts.copiedBytes() == 0); // copies are made on demand
  uint64_t expertBytes = 0;
  int64_t expertTensors = 0;
  for (const WantedTensor &tensor : wanted) {
    INFO(tensor.key);
    bool expert = !tensor.expertParts.empty();
    CHECK(parts.find(tensor.key)->mapped == !expert);
    CHECK(same(loaded(fused, tensor.key), loaded(parts, tensor.key)));
    if (expert) {
      expertBytes += uint64_t(elementCount(tensor.shape)) * 4;
      ++expertTensors;
    }
  }
  CHECK(expertTensors == 16);
  CHECK(parts.copiedTensors() == expertTensors);
  CHECK(parts.copiedBytes() == expertBytes);
  const std::string again = "model.layers.3.mlp.experts.gate_up_proj";
  CHECK(parts.find(again)->storedKey == "model.layers.3.mlp.experts.0.gate_proj.weight");
  CHECK(loaded(parts, again).data == loaded(parts, again).data);
  CHECK(parts.copiedTensors() == expertTensors);
}

TEST_CASE("a multimodal checkpoint in shards serves the text model", "[checkpoint]") {
  std::vector<std::string> shards;
  for (int i = 1; i <= 3; ++i)
    shards.push_back("tiny-vl/model-0000" + std::to_string(i) + "-of-00003.safetensors");
  std::vector<WantedTensor> wanted = wantedOf(shards);
  CheckpointIndex index = opened(data("checkpoints/tiny-vl"), wanted);
  CHECK(index.stored().size() == 105);
  CHECK(wanted.size() < 105); // model.visual.* is skipped
  const FoundTensor *found = index.find("model.layers.1.linear_attn.A_log");
  REQUIRE(found);
  CHECK(found->storedKey == "model.language_model.layers.1.linear_attn.A_log");
  CHECK(found->dtype == DType::bf16);
  CHECK_FALSE(index.find("model.language_model.layers.1.linear_attn.A_log"));
  for (const std::string &shard : shards) {
    Diagnostics diags;
    std::optional<Safetensors> file = Safetensors::open(data("checkpoints/" + shard), diags);
    for (const FoundTensor &tensor : index.tensors())
      if (file->find(tensor.storedKey))
        CHECK(same(*file->tensor(tensor.storedKey), loaded(index, tensor.wanted.key)));
  }
  CHECK(index.copiedTensors() == 0);
}

/// float32(q) * float32(scale), straight from the file.
static float multipliedOut(const Safetensors &file, const std::string &key, int64_t row, int64_t col) {
  Tensor bits = *file.tensor(key), scale = *file.tensor(key + "_scale_inv");
  return fp8ToFloat(bits.as<uint8_t>()[row * bits.shape[1] + col]) *
         float(scale.at(row / 128 * scale.shape[1] + col / 128));
}

TEST_CASE("FP8 weights are multiplied out, experts stored one by one included", "[checkpoint]") {
  std::vector<WantedTensor> wanted = wantedOf({"tiny-heads/model.safetensors"});
  Diagnostics diags;
  std::optional<Safetensors> file = Safetensors::open(data("checkpoints/tiny-heads-fp8/model.safetensors"), diags);
  REQUIRE(file);
  for (DType target : {DType::f32, DType::bf16}) {
    Options options;
    options.fp8 = true;
    options.fp8Target = target;
    CheckpointIndex index = opened(data("checkpoints/tiny-heads-fp8"), wanted, options);
    CHECK(index.find("model.norm.weight")->dtype == DType::bf16);
    CHECK(index.find("model.norm.weight")->mapped);
    int64_t multiplied = 0;
    for (const WantedTensor &tensor : wanted) {
      INFO(tensor.key);
      Tensor value = loaded(index, tensor.key);
      CHECK(value.shape == tensor.shape);
      if (index.find(tensor.key)->mapped) {
        CHECK(same(value, *file->tensor(tensor.key)));
        continue;
      }
      ++multiplied;
      CHECK(value.dtype == target);
      CHECK(index.find(tensor.key)->dtype == target);
      bool right = true;
      const int64_t cols = tensor.shape.back(), rows = tensor.shape[tensor.shape.size() - 2];
      for (int64_t i = 0; i < elementCount(tensor.shape); ++i) {
        int64_t row = i / cols % rows, col = i % cols;
        std::string key = tensor.key;
        if (!tensor.expertParts.empty()) {
          const int64_t partRows = rows / int64_t(tensor.expertParts.size());
          key = tensor.key.substr(0, tensor.key.rfind('.') + 1) + std::to_string(i / (rows * cols)) + "." +
                tensor.expertParts[size_t(row / partRows)] + ".weight";
          row %= partRows;
        }
        if (i % 97 != 0) // every element would take minutes to look up
          continue;
        float exact = multipliedOut(*file, key, row, col);
        right = right && value.at(i) == (target == DType::f32 ? exact : toFloat(fromFloat(exact, target), target));
      }
      CHECK(right);
    }
    CHECK(multiplied == index.copiedTensors());
    CHECK(multiplied > 20);
  }
}

TEST_CASE("FP8 experts may be fused", "[checkpoint]") {
  TempDir dir;
  std::vector<double> ones(2 * 3 * 2, 1.0);
  save(dir, "model.safetensors",
       {{"e.gate_up_proj", tensorOf(DType::f8_e4m3, {2, 3, 2}, ones)},
        {"e.gate_up_proj_scale_inv", tensorOf(DType::f32, {2, 2, 1}, {1, 2, 3, 4})}});
  Options options;
  options.fp8 = true;
  options.blockRows = options.blockCols = 2;
  CheckpointIndex index = opened(dir.path, {{"e.gate_up_proj", {2, 3, 2}, {"gate_proj", "up_proj"}}}, options);
  CHECK(valuesOf(loaded(index, "e.gate_up_proj")) == std::vector<double>{1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4});
  CHECK(index.copiedBytes() == 48);
}

TEST_CASE("a part kept in bfloat16 among FP8 parts is converted with them", "[checkpoint]") {
  TempDir dir;
  save(dir, "model.safetensors",
       {{"e.0.down_proj.weight", tensorOf(DType::f8_e4m3, {1, 2}, {1, 2})},
        {"e.0.down_proj.weight_scale_inv", tensorOf(DType::bf16, {1, 1}, {3})},
        {"e.1.down_proj.weight", tensorOf(DType::bf16, {1, 2}, {5, 6})}});
  Options options;
  options.fp8 = true;
  CheckpointIndex index = opened(dir.path, {{"e.down_proj", {2, 1, 2}, {"down_proj"}}}, options);
  CHECK(loaded(index, "e.down_proj").dtype == DType::f32);
  CHECK(valuesOf(loaded(index, "e.down_proj")) == std::vector<double>{3, 6, 5, 6});
}

TEST_CASE("a tied head is the embedding, unless it is stored", "[checkpoint]") {
  TempDir dir;
  Tensor embedding = tensorOf(DType::f16, {2, 2}, {1, 2, 3, 4}), head = tensorOf(DType::f16, {2, 2}, {5, 6, 7, 8});
  std::vector<WantedTensor> wanted = {{"model.embed_tokens.weight", {2, 2}, {}}, {"lm_head.weight", {2, 2}, {}}};
  Options tied;
  tied.tiedHead = true;
  save(dir, "model.safetensors", {{"model.language_model.embed_tokens.weight", embedding}});
  CheckpointIndex index = opened(dir.path, wanted, tied);
  CHECK(index.find("lm_head.weight")->storedKey == "model.language_model.embed_tokens.weight");
  CHECK(index.find("lm_head.weight")->mapped);
  CHECK(loaded(index, "lm_head.weight").data == loaded(index, "model.embed_tokens.weight").data);
  save(dir, "model.safetensors", {{"model.embed_tokens.weight", embedding}, {"lm_head.weight", head}});
  index = opened(dir.path, wanted, tied);
  CHECK(same(loaded(index, "lm_head.weight"), head));
}

TEST_CASE("what the text model does not use is skipped", "[checkpoint]") {
  TempDir dir;
  Tensor one = tensorOf(DType::f32, {1}, {1});
  save(dir, "model.safetensors",
       {{"model.norm.weight", one}, {"mtp.fc.weight", one}, {"model.visual.pos_embed.weight", one}});
  CheckpointIndex index = opened(dir.path, {{"model.norm.weight", {1}, {}}});
  CHECK(index.stored().size() == 3);
  CHECK(index.storedBytes() == 12);
}

TEST_CASE("each tensor keeps its own storage type", "[checkpoint]") {
  TempDir dir;
  save(dir, "model.safetensors",
       {{"a", tensorOf(DType::f32, {1}, {1})},
        {"b", tensorOf(DType::f16, {1}, {2})},
        {"c", tensorOf(DType::bf16, {1}, {3})}});
  CheckpointIndex index = opened(dir.path, {{"a", {1}, {}}, {"b", {1}, {}}, {"c", {1}, {}}});
  CHECK(index.find("a")->dtype == DType::f32);
  CHECK(index.find("b")->dtype == DType::f16);
  CHECK(index.find("c")->dtype == DType::bf16);
  CHECK(valuesOf(loaded(index, "b")) == std::vector<double>{2});
}

TEST_CASE("a tensor that its file does not align is copied, and counted", "[checkpoint]") {
  TempDir dir;
  for (const char *blank : {"", " "}) { // one of the two header lengths puts "w" on an odd byte
    writeBytes(dir / "model.safetensors",
               safetensorsBytes(R"({"w":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}})" + std::string(blank), 4));
    CheckpointIndex index = opened(dir.path, {{"w", {2}, {}}});
    bool odd = readBytes(dir / "model.safetensors").size() % 2 != 0;
    CHECK(index.find("w")->mapped == !odd);
    CHECK(loaded(index, "w").as<uint16_t>()[1] == 0x0302);
    CHECK(index.copiedBytes() == (odd ? 4 : 0));
  }
}

TEST_CASE("a lone file of weights is taken whatever its name", "[checkpoint]") {
  TempDir dir;
  save(dir, "mine.safetensors", {{"a", tensorOf(DType::f32, {1}, {1})}});
  writeBytes(dir / "training_args.bin", "x");
  opened(dir.path, {{"a", {1}, {}}});
}
