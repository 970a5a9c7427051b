// Tests of descriptor tables: each slot gets its memory and extents, and what does not fit is refused.
#include "runtime/exec/Bind.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

/// A run with one weight, one buffer and one output.
struct Run {
  Run() {
    Diagnostics diags;
    REQUIRE(writeSafetensors(dir / "model.safetensors", {{"model.norm.weight", tensorOf(DType::f32, {3}, {1, 2, 3})}},
                             {}, diags));
    index = CheckpointIndex::open(dir.path, {{"model.norm.weight", {3}, {}}}, {}, diags);
    INFO(text(diags));
    REQUIRE(index);
    batch = batchFromIds({{4, 5}, {6}}, {10, {}}, {}, diags);
    REQUIRE(batch);
  }
  std::optional<BoundTable> bind(std::vector<SlotSpec> slots) {
    Manifest manifest;
    manifest.slots = std::move(slots);
    return nnterp::bind(manifest, {*batch, *index, buffers, shapes}, diags);
  }

  TempDir dir;
  std::optional<CheckpointIndex> index;
  std::optional<Batch> batch;
  std::map<std::string, Tensor> buffers{{"e0.c0", tensorOf(DType::f32, {}, {0.5})}};
  std::map<std::string, Shape> shapes{{"logits", {2, 2, 7}}};
  Diagnostics diags;
};

} // namespace

TEST_CASE("slots are filled in the manifest's order", "[bind]") {
  Run run;
  std::optional<BoundTable> table = run.bind({{SlotKind::output, "logits", DType::f32, {-1, -1, 7}},
                                              {SlotKind::input, "lengths", DType::i64, {-1}},
                                              {SlotKind::input, "ids", DType::i64, {-1, -1}},
                                              {SlotKind::input, "positions", DType::i64, {3, -1, -1}},
                                              {SlotKind::weight, "model.norm.weight", DType::f32, {3}},
                                              {SlotKind::buffer, "e0.c0", DType::f32, {}}});
  INFO(text(run.diags));
  REQUIRE(table);
  REQUIRE(table->slots.size() == 6);
  auto *logits = static_cast<float *>(table->slots[0].data);
  CHECK(table->slots[0].sizes[0] == 2);
  CHECK(table->slots[0].sizes[2] == 7);
  for (int i = 0; i < 28; ++i)
    CHECK(logits[i] == 0);
  CHECK(static_cast<int64_t *>(table->slots[1].data)[1] == 1);
  CHECK(static_cast<int64_t *>(table->slots[2].data)[2] == 6);
  CHECK(table->slots[3].sizes[0] == 3);
  CHECK(static_cast<float *>(table->slots[4].data)[2] == 3);
  CHECK(static_cast<float *>(table->slots[5].data)[0] == 0.5f);
  logits[27] = 9;
  REQUIRE(table->outputs.size() == 1);
  CHECK(table->outputs[0].first == "logits");
  CHECK(table->outputs[0].second.at(27) == 9);
}

TEST_CASE("NNT1020: program does not fit the run", "[bind]") {
  Run run;
  CHECK_FALSE(run.bind({{SlotKind::input, "tokens", DType::i64, {-1}},
                        {SlotKind::weight, "model.other.weight", DType::f32, {3}},
                        {SlotKind::buffer, "e1.c0", DType::f32, {}},
                        {SlotKind::output, "probs", DType::f32, {}},
                        {SlotKind::weight, "model.norm.weight", DType::bf16, {3}},
                        {SlotKind::weight, "model.norm.weight", DType::f32, {4}},
                        {SlotKind::output, "logits", DType::f32, {-1, 7}}}));
  CHECK(text(run.diags) ==
        "error NNT1020: the program's input \"tokens\" is not in this run\n"
        "error NNT1020: the program's weight \"model.other.weight\" is not in this run\n"
        "error NNT1020: the program's buffer \"e1.c0\" is not in this run\n"
        "error NNT1020: the program's output \"probs\" is not in this run\n"
        "error NNT1020: the program's weight \"model.norm.weight\" is bfloat16 [3], but the run has float32 [3]\n"
        "error NNT1020: the program's weight \"model.norm.weight\" is float32 [4], but the run has float32 [3]\n"
        "error NNT1020: the program's output \"logits\" is float32 [-1, 7], but the run has float32 [2, 2, 7]\n");
}
