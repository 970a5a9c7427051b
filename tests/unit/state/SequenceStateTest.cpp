// Tests of memory in use: it starts as zeros, grows without losing anything, and follows tokens and positions.
#include "States.h"

#include <catch2/catch.hpp>

using namespace nnterp;

using Ids = std::vector<int64_t>;

static Diagnostics diags; // nothing fails in the host's memory

static SequenceState stateOf(const std::vector<SlotSpec> &slots, const std::string &prefix, int64_t rows) {
  std::optional<SequenceState> state = SequenceState::make(slots, prefix, rows, diags);
  REQUIRE(state);
  return std::move(*state);
}

TEST_CASE("memory starts empty and zero, for one world's slots only", "[state]") {
  std::vector<SlotSpec> slots = smallParts();
  for (SlotSpec &slot : slots)
    slot.name = "clean/" + slot.name;
  slots.push_back({SlotKind::state, "corrupt/layers[0].linear_attn.state", DType::f32, {-1, 2, 2, 3}});
  slots.push_back({SlotKind::output, "clean/logits", DType::f32, {-1, -1, 7}});
  SequenceState state = stateOf(slots, "clean/", 3);
  CHECK(state.parts().size() == 4);
  CHECK(state.rows() == 3);
  CHECK(state.capacity() == 0);
  CHECK(state.parts().at("layers[0].linear_attn.state").shape == Shape{3, 2, 2, 3});
  state.reserve(1, diags);
  CHECK(state.parts().at("layers[1].self_attn.keys").shape == Shape{3, 2, 64, 3});
  for (const auto &[name, tensor] : state.parts())
    for (double value : valuesOf(tensor))
      CHECK(value == 0);
}

TEST_CASE("caches grow in blocks and keep their rows", "[state]") {
  SequenceState state = stateOf(smallParts(), "", 2);
  state.reserve(64, diags);
  CHECK(state.capacity() == 64);
  CHECK(state.growths() == 1);
  Tensor keys = state.parts().at("layers[1].self_attn.keys"); // the same memory
  scramble(keys, 3);
  const Tensor before = keys.to(keys.dtype);
  for (int64_t i = 0; i < 64; ++i)
    state.fed(0, i, {i, i, i});
  state.reserve(64, diags);
  CHECK(state.parts().at("layers[1].self_attn.keys").data == keys.data);
  state.reserve(65, diags);
  CHECK(state.capacity() == 128);
  CHECK(state.growths() == 2);
  const Tensor &grown = state.parts().at("layers[1].self_attn.keys");
  REQUIRE(grown.shape == Shape{2, 2, 128, 3});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t place = 0; place < 128; ++place)
      for (int64_t d = 0; d < 3; ++d) {
        const uint16_t bits = grown.as<uint16_t>()[(i * 128 + place) * 3 + d];
        CHECK(bits == (place < 64 ? before.as<uint16_t>()[(i * 64 + place) * 3 + d] : 0));
      }
  CHECK(grownCapacity(64, 1000) == 1024);
  CHECK(grownCapacity(0, 0) == 0);
  CHECK(grownCapacity(0, 65) == 128);
}

TEST_CASE("published parts are those in use", "[state]") {
  SequenceState state = stateOf(smallParts(), "", 1);
  state.reserve(1, diags);
  TensorMap slots;
  state.publish("w/", slots);
  CHECK(slots.size() == 4);
  CHECK(slots.at("w/layers[1].self_attn.values").data == state.parts().at("layers[1].self_attn.values").data);
}

TEST_CASE("tokens and positions are followed, row by row", "[state]") {
  SequenceState state = stateOf(smallParts(), "", 2);
  state.reserve(10, diags);
  state.fed(0, 5, {0, 0, 0});
  state.fed(0, 6, {4, 9, 1}); // positions of its own
  state.fed(1, 8, {0, 0, 0});
  CHECK(state.length(0) == 2);
  CHECK(state.next(0) == Position{5, 10, 2});
  CHECK(state.next(1) == Position{1, 1, 1});
  state.generated(0, 7);
  CHECK(state.tokens(0) == Ids{5, 6, 7});
  CHECK(state.length(0) == 2); // pending
  CHECK(state.snapshot(diags)->pending);
  state.fedBack(0);
  CHECK(state.length(0) == 3);
  CHECK(state.next(0) == Position{6, 11, 3});
  CHECK_FALSE(state.snapshot(diags)->pending);
}

TEST_CASE("a largest position in the middle counts", "[state]") {
  SequenceState state = stateOf(smallParts(), "", 1);
  state.reserve(3, diags);
  state.fed(0, 1, {7, 0, 0});
  state.fed(0, 2, {3, 1, 1});
  CHECK(state.next(0) == Position{8, 2, 2});
}

TEST_CASE("a snapshot restores bit for bit, whatever the capacity", "[state]") {
  Diagnostics diags;
  for (bool pending : {false, true}) {
    const SavedSequence saved = smallState(pending);
    SequenceState state = stateOf(smallParts(), "", 2);
    REQUIRE(state.restore(saved, diags));
    CHECK(state.capacity() == 64);
    CHECK(state.length(0) == 3);
    CHECK(state.tokens(1) == saved.tokens[1]);
    CHECK(state.next(1) == Position{11, 12, 13});
    CHECK(sameState(*state.snapshot(diags), saved));
    CHECK(state.parts().at("layers[0].linear_attn.state").data !=
          saved.parts.at("layers[0].linear_attn.state").data); // a program writes into it
  }
}

TEST_CASE("a pending token that is fed is not noted twice", "[state]") {
  Diagnostics diags;
  SequenceState state = stateOf(smallParts(), "", 2);
  REQUIRE(state.restore(smallState(true), diags));
  state.fed(0, 9, {3, 3, 3});
  state.fed(0, 50, {4, 4, 4});
  CHECK(state.tokens(0) == Ids{5, 6, 7, 9, 50});
  CHECK(state.length(0) == 5);
  CHECK(state.next(0) == Position{5, 5, 5});
}

TEST_CASE("parts that a program does not have are left out", "[state]") {
  Diagnostics diags;
  std::vector<SlotSpec> slots = smallParts();
  slots.resize(1);
  SequenceState state = stateOf(slots, "", 2);
  CHECK(state.restore(smallState(false), diags));
  CHECK(state.parts().size() == 1);
}

TEST_CASE("NNT1206: the program keeps a part otherwise", "[state]") {
  Diagnostics diags;
  std::vector<SlotSpec> slots = smallParts();
  slots[0].dims[3] = 5;
  slots[1].dtype = DType::f32;
  slots.push_back({SlotKind::state, "layers[2].linear_attn.state", DType::f32, {-1, 1}});
  SequenceState state = stateOf(slots, "", 2);
  CHECK_FALSE(state.restore(smallState(false), diags));
  CHECK(
      text(diags) ==
      "error NNT1206: the program keeps \"layers[0].linear_attn.conv\" as float32 [2, 4, 2], but the saved state has "
      "bfloat16 [2, 4, 2]\n"
      "error NNT1206: the program keeps \"layers[0].linear_attn.state\" as float32 [2, 2, 2, 5], but the saved state "
      "has float32 [2, 2, 2, 3]\n"
      "error NNT1206: the program keeps \"layers[2].linear_attn.state\" as float32 [2, 1], but the saved state has no "
      "such part\n");
}
