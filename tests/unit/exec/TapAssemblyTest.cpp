// Tests of how calls make up the tensors of the output file.
#include "tools/nnterp/TapAssembly.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace nnterp;

namespace {

using Numbers = std::vector<double>;
constexpr double lowest = std::numeric_limits<float>::lowest();

Call promptCall(bool first, bool last) {
  Call call;
  call.first = first;
  call.last = last;
  return call;
}

struct Assembly {
  Assembly(const TapLayout &layout, size_t calls = 1, DType dtype = DType::f32) : layouts{layout} {
    Manifest manifest;
    manifest.slots = {{SlotKind::output, layout.key, dtype, {}}};
    assembly.emplace(layouts, manifest, calls, outputs);
  }
  void write(const Numbers &values) {
    Tensor &out = outputs.begin()->second;
    REQUIRE(elementCount(out.shape) == int64_t(values.size()));
    const Tensor converted = tensorOf(DType::f64, out.shape, values).to(out.dtype);
    std::memcpy(out.data, converted.data, out.bytes());
  }
  Numbers result() const { return valuesOf(assembly->results().at(0).second); }

  std::vector<TapLayout> layouts;
  TensorMap outputs;
  std::optional<TapAssembly> assembly;
};

TapLayout layoutOf(Shape shape, Phase phase = Phase::prompt) {
  TapLayout layout;
  layout.key = "k";
  layout.world = "main";
  layout.phase = phase;
  layout.shape = std::move(shape);
  for (int64_t row = 0; row < layout.shape[0]; ++row)
    layout.rows.push_back(row);
  return layout;
}

TapLayout stepsOf(Shape shape, int64_t axis, std::vector<int64_t> steps, bool newAxis = false) {
  TapLayout layout = layoutOf(std::move(shape), Phase::gen);
  layout.stepAxis = axis;
  layout.steps = std::move(steps);
  layout.newAxis = newAxis;
  return layout;
}

EndedRows ended(std::vector<bool> rows) { return {{"main", std::move(rows)}}; }

} // namespace

TEST_CASE("one call writes the file's tensor itself", "[assembly]") {
  Assembly a(layoutOf({1, 2, 2}));
  a.write({1, 2, 3, 4});
  a.assembly->takePrompt(promptCall(true, true));
  a.assembly->finishPrompt();
  CHECK(a.result() == Numbers{1, 2, 3, 4});
  CHECK(a.outputs["k"].data == a.assembly->results()[0].second.data);
}

TEST_CASE("chunks are put together bit by bit", "[assembly]") {
  for (DType dtype : {DType::f32, DType::bf16, DType::i64}) {
    Assembly a(layoutOf({1, 4}), 2, dtype);
    a.write({-1, 2, 0, 0});
    a.assembly->takePrompt(promptCall(true, false));
    CHECK(valuesOf(a.outputs["k"]) == Numbers{0, 0, 0, 0}); // the next call starts clean
    a.write({0, 0, 3, -4});
    a.assembly->takePrompt(promptCall(false, true));
    CHECK(a.result() == Numbers{-1, 2, 3, -4});
  }
}

TEST_CASE("a state of the prompt is that of its first or last call", "[assembly]") {
  for (bool first : {true, false}) {
    TapLayout layout = layoutOf({1, 2});
    layout.onlyFirst = first;
    layout.onlyLast = !first;
    Assembly a(layout, 3);
    for (int i = 0; i < 3; ++i) {
      a.write({double(i + 1), 5});
      a.assembly->takePrompt(promptCall(i == 0, i == 2));
    }
    CHECK(a.result() == Numbers{first ? 1.0 : 3.0, 5});
  }
}

TEST_CASE("steps stand on their axis, also between others", "[assembly]") {
  Assembly a(stepsOf({2, 2, 3, 1}, 2, {0, 1, 2})); // [batch, heads, seq, head_dim]
  CHECK(a.outputs["k"].shape == Shape{2, 2, 1, 1});
  for (int64_t step = 0; step < 3; ++step) {
    const double s = double(step);
    a.write({10 + s, 20 + s, 30 + s, 40 + s});
    a.assembly->takeStep(step, ended({false, false}));
  }
  CHECK(a.result() == Numbers{10, 11, 12, 20, 21, 22, 30, 31, 32, 40, 41, 42});
}

TEST_CASE("values without an axis of tokens get one", "[assembly]") {
  Assembly a(stepsOf({2, 2, 3}, 1, {0, 1}, true));
  CHECK(a.outputs["k"].shape == Shape{2, 3});
  a.write({1, 2, 3, 4, 5, 6});
  a.assembly->takeStep(0, ended({false, false}));
  a.write({7, 8, 9, 10, 11, 12});
  a.assembly->takeStep(1, ended({false, false}));
  CHECK(a.result() == Numbers{1, 2, 3, 7, 8, 9, 4, 5, 6, 10, 11, 12});
}

TEST_CASE("steps that are not selected leave no trace", "[assembly]") {
  Assembly a(stepsOf({1, 2, 1}, 1, {1, 4}));
  for (int64_t step = 0; step < 6; ++step) {
    a.write({double(step) + 1});
    a.assembly->takeStep(step, ended({false}));
  }
  CHECK(a.result() == Numbers{2, 5});
}

TEST_CASE("rows that have ended keep zeros, by their number in the batch", "[assembly]") {
  TapLayout layout = stepsOf({2, 2, 1}, 1, {0, 1});
  layout.rows = {2, 0}; // a selection of rows
  Assembly a(layout);
  a.write({1, 2});
  a.assembly->takeStep(0, ended({false, true, false}));
  a.write({3, 4});
  a.assembly->takeStep(1, ended({false, false, true}));
  CHECK(a.result() == Numbers{1, 0, 2, 4});
}

TEST_CASE("scores of chunks hold the mask value where a key comes later", "[assembly]") {
  TapLayout layout = layoutOf({1, 2, 3, 3});
  layout.masked = true;
  layout.queries = {{-1, 0, 1}};
  layout.keys = {{-1, 0, 1}};
  for (DType dtype : {DType::f32, DType::bf16}) {
    const double mask = dtype == DType::f32 ? lowest : double(toFloat(0xff7f, DType::bf16));
    Assembly a(layout, 2, dtype);
    a.write({0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0});
    a.assembly->takePrompt(promptCall(true, false));
    a.write({0, 0, 0, 0, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 9, 1});
    a.assembly->takePrompt(promptCall(false, true));
    a.assembly->finishPrompt();
    CHECK(a.result() == Numbers{0, 0, 0, 0, 5, mask, 0, 7, 8, 0, 0, 0, 0, 6, mask, 0, 9, 1});
  }
}

TEST_CASE("scores of generated tokens hold the mask value for keys that did not exist", "[assembly]") {
  TapLayout layout = stepsOf({2, 1, 2, 4}, 2, {0, 1}); // rows of two and of one prompt token
  layout.masked = true;
  layout.queries = {{2, 3}, {1, 2}};
  layout.keys = {{0, 1, 2, 3}, {-1, 0, 1, 2}};
  Assembly a(layout);
  a.write({1, 2, 3, 0, 0, 4, 5, 0});
  a.assembly->takeStep(0, ended({false, false}));
  a.write({6, 7, 8, 9, 9, 9, 9, 9});
  a.assembly->takeStep(1, ended({false, true}));
  CHECK(a.result() == Numbers{1, 2, 3, lowest, 6, 7, 8, 9, 0, 4, 5, lowest, 0, 0, 0, 0});
}

TEST_CASE("what no row selects is not written", "[assembly]") {
  Assembly a(stepsOf({2, 0, 3}, 1, {}));
  a.assembly->takeStep(0, ended({false, false}));
  CHECK(a.assembly->results().empty());
  Assembly prompt(layoutOf({1, 0, 3}), 2);
  prompt.assembly->takePrompt(promptCall(true, true));
  prompt.assembly->finishPrompt();
  CHECK(prompt.assembly->results().empty());
}
