// Tests of descriptor tables: each slot gets its memory and extents, and what does not fit is refused.
#include "runtime/exec/Bind.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

/// A run with one weight, one buffer and one output.
struct Run {
  Run() {
    REQUIRE(writeSafetensors(dir / "model.safetensors", {{"model.norm.weight", tensorOf(DType::f32, {3}, {1, 2, 3})}},
                             {}, diags));
    index = CheckpointIndex::open(dir.path, {{"model.norm.weight", {3}, {}}}, {}, diags);
    INFO(text(diags));
    REQUIRE(index);
    std::optional<Batch> batch = batchFromIds({{4, 5}, {6}}, {10, {}}, {}, diags);
    REQUIRE(batch);
    setPromptInputs(*batch, {{0, 0, 2}, {0, 0, 1}}, true, "", tensors.inputs);
    tensors.buffers["e0.c0"] = tensorOf(DType::f32, {}, {0.5});
    tensors.outputs["logits"] = Tensor::make(DType::f32, {2, 2, 7});
  }
  std::optional<BoundTable> make(std::vector<SlotSpec> slots) {
    manifest.slots = std::move(slots);
    return BoundTable::make(manifest, *index, diags);
  }

  TempDir dir;
  Diagnostics diags;
  Manifest manifest;
  std::optional<CheckpointIndex> index;
  RunTensors tensors;
};

} // namespace

TEST_CASE("slots are filled in the manifest's order", "[bind]") {
  Run run;
  std::optional<BoundTable> table = run.make({{SlotKind::output, "logits", DType::f32, {-1, -1, 7}},
                                              {SlotKind::input, "lengths", DType::i64, {-1}},
                                              {SlotKind::input, "ids", DType::i64, {-1, -1}},
                                              {SlotKind::input, "positions", DType::i64, {3, -1, -1}},
                                              {SlotKind::weight, "model.norm.weight", DType::f32, {3}},
                                              {SlotKind::buffer, "e0.c0", DType::f32, {}}});
  INFO(text(run.diags));
  REQUIRE(table);
  REQUIRE(table->point(run.tensors, false, run.diags));
  const std::vector<abi::Slot> &slots = table->slots();
  REQUIRE(slots.size() == 6);
  CHECK(slots[0].data == run.tensors.outputs["logits"].data);
  CHECK(slots[0].sizes[0] == 2);
  CHECK(slots[0].sizes[2] == 7);
  CHECK(static_cast<int64_t *>(slots[1].data)[1] == 1);
  CHECK(static_cast<int64_t *>(slots[2].data)[2] == 6);
  CHECK(slots[3].sizes[0] == 3);
  CHECK(static_cast<float *>(slots[4].data)[2] == 3);
  CHECK(static_cast<float *>(slots[5].data)[0] == 0.5f);
}

TEST_CASE("a call needs the slots of its phase, and both need memory", "[bind]") {
  Run run;
  std::optional<BoundTable> table = run.make({{SlotKind::input, "ids", DType::i64, {-1, -1}},
                                              {SlotKind::input, "ids@gen", DType::i64, {-1, -1}},
                                              {SlotKind::state, "layers[0].linear_attn.conv", DType::f32, {-1, 5}},
                                              {SlotKind::kept, "e0.src@gen", DType::f32, {-1}}});
  REQUIRE(table);
  run.tensors.states["layers[0].linear_attn.conv"] = Tensor::make(DType::f32, {2, 5});
  run.tensors.kept["e0.src@gen"] = Tensor::make(DType::f32, {4});
  REQUIRE(table->point(run.tensors, false, run.diags));
  CHECK(table->slots()[1].data == nullptr);
  CHECK(table->slots()[2].data == run.tensors.states.begin()->second.data);
  CHECK(table->slots()[3].sizes[0] == 4);
  CHECK_FALSE(table->point(run.tensors, true, run.diags));
  CHECK(text(run.diags) == "error NNT1020: the program's input \"ids@gen\" is not in this run\n");

  Diagnostics later;
  StepInputs step(2, "", run.tensors.inputs);
  CHECK(table->point(run.tensors, true, later));
  CHECK(table->slots()[1].sizes[1] == 1);
  run.tensors.states["layers[0].linear_attn.conv"] = Tensor::make(DType::f32, {3, 5}); // grown
  CHECK(table->point(run.tensors, true, later));
  CHECK(table->slots()[2].sizes[0] == 3);
  CHECK(table->slots()[2].data == run.tensors.states.begin()->second.data);
}

TEST_CASE("NNT1020: program does not fit the run", "[bind]") {
  Run run;
  CHECK_FALSE(run.make({{SlotKind::weight, "model.other.weight", DType::f32, {3}},
                        {SlotKind::weight, "model.norm.weight", DType::bf16, {3}},
                        {SlotKind::weight, "model.norm.weight", DType::f32, {4}}}));
  std::optional<BoundTable> table = run.make({{SlotKind::input, "tokens", DType::i64, {-1}},
                                              {SlotKind::buffer, "e1.c0", DType::f32, {}},
                                              {SlotKind::output, "probs", DType::f32, {}},
                                              {SlotKind::state, "layers[0].linear_attn.state", DType::f32, {-1}},
                                              {SlotKind::output, "logits", DType::f32, {-1, 7}}});
  REQUIRE(table);
  CHECK_FALSE(table->point(run.tensors, false, run.diags));
  CHECK(text(run.diags) ==
        "error NNT1020: the program's weight \"model.other.weight\" is not in this run\n"
        "error NNT1020: the program's weight \"model.norm.weight\" is bfloat16 [3], but the run has float32 [3]\n"
        "error NNT1020: the program's weight \"model.norm.weight\" is float32 [4], but the run has float32 [3]\n"
        "error NNT1020: the program's input \"tokens\" is not in this run\n"
        "error NNT1020: the program's buffer \"e1.c0\" is not in this run\n"
        "error NNT1020: the program's output \"probs\" is not in this run\n"
        "error NNT1020: the program's state \"layers[0].linear_attn.state\" is not in this run\n"
        "error NNT1020: the program's output \"logits\" is float32 [-1, 7], but the run has float32 [2, 2, 7]\n");
}
