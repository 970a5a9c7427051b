// Tests of what calls read: rows cut into chunks, and generated tokens written in place.
#include "runtime/exec/CallInputs.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

using Numbers = std::vector<double>;

static Batch batchOf(const std::vector<std::vector<int64_t>> &rows, int64_t width = 0) {
  Diagnostics diags;
  std::optional<Batch> batch = batchFromIds(rows, {100, {}}, {}, diags, width);
  REQUIRE(batch);
  return *batch;
}

TEST_CASE("a whole batch is one call", "[calls]") {
  TensorMap inputs;
  setPromptInputs(batchOf({{5, 6, 7}, {8}}, 4), {{0, 0, 3}, {0, 0, 1}}, true, "", inputs);
  CHECK(inputs.size() == 7);
  CHECK(inputs["ids"].shape == Shape{2, 3}); // no wider than the longest row
  CHECK(valuesOf(inputs["ids"]) == Numbers{5, 6, 7, 8, 0, 0});
  CHECK(valuesOf(inputs["lengths"]) == Numbers{3, 1});
  CHECK(inputs["positions"].shape == Shape{3, 2, 3});
  CHECK(valuesOf(inputs["positions"]) == Numbers{0, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0});
  CHECK(valuesOf(inputs["pads"]) == Numbers{1, 3});
  CHECK(valuesOf(inputs["past"]) == Numbers{0, 0});
  CHECK(valuesOf(inputs["total"]) == Numbers{3});
}

TEST_CASE("chunks take their part of each row", "[calls]") {
  const Batch batch = batchOf({{5, 6, 7}, {8}});
  TensorMap inputs;
  setPromptInputs(batch, {{0, 0, 2}, {0, 0, 0}}, true, "clean/", inputs); // the second row has only pads there
  CHECK(valuesOf(inputs["clean/ids"]) == Numbers{5, 6, 0, 0});
  CHECK(valuesOf(inputs["clean/lengths"]) == Numbers{2, 0});
  CHECK(valuesOf(inputs["clean/pads"]) == Numbers{0, 2});
  setPromptInputs(batch, {{2, 2, 1}, {0, 0, 1}}, false, "clean/", inputs);
  CHECK(valuesOf(inputs["clean/ids"]) == Numbers{7, 8});
  CHECK(valuesOf(inputs["clean/positions"]) == Numbers{2, 0, 2, 0, 2, 0});
  CHECK(valuesOf(inputs["clean/pads"]) == Numbers{0, 0});
  CHECK(valuesOf(inputs["clean/past"]) == Numbers{2, 0});
  CHECK(valuesOf(inputs["clean/total"]) == Numbers{3});
}

TEST_CASE("memory of earlier runs comes before the rows", "[calls]") {
  TensorMap inputs;
  setPromptInputs(batchOf({{5, 6}, {7, 8}}), {{10, 0, 2}, {3, 0, 2}}, false, "", inputs);
  CHECK(valuesOf(inputs["past"]) == Numbers{10, 3});
  CHECK(valuesOf(inputs["total"]) == Numbers{12});
}

TEST_CASE("a call of pads only has one column and no token", "[calls]") {
  TensorMap inputs;
  setPromptInputs(batchOf({{5}}), {{0, 0, 0}}, true, "", inputs);
  CHECK(inputs["ids"].shape == Shape{1, 1});
  CHECK(valuesOf(inputs["ids"]) == Numbers{0});
  CHECK(valuesOf(inputs["lengths"]) == Numbers{0});
  CHECK(valuesOf(inputs["total"]) == Numbers{1});
}

TEST_CASE("steps are written where they were", "[calls]") {
  TensorMap inputs;
  StepInputs step(2, "w/", inputs);
  const void *ids = inputs["w/ids@gen"].data;
  step.set(0, 42, {7, 8, 9}, 5, false);
  step.set(1, 43, {1, 1, 1}, 9, true);
  step.finish();
  CHECK(inputs["w/ids@gen"].shape == Shape{2, 1});
  CHECK(valuesOf(inputs["w/ids@gen"]) == Numbers{42, 0});
  CHECK(valuesOf(inputs["w/lengths@gen"]) == Numbers{1, 0});
  CHECK(valuesOf(inputs["w/positions@gen"]) == Numbers{7, 0, 8, 0, 9, 0});
  CHECK(valuesOf(inputs["w/past@gen"]) == Numbers{5, 9});
  CHECK(valuesOf(inputs["w/pads@gen"]) == Numbers{0, 0});
  CHECK(valuesOf(inputs["w/total@gen"]) == Numbers{9}); // the row that has ended still has nine
  step.set(0, 44, {8, 9, 10}, 6, false);
  CHECK(inputs["w/ids@gen"].data == ids);
  CHECK(inputs["w/ids@gen"].at(0) == 44);
}
