// Tests of batches: left-padded inputs become left-aligned rows.
#include "runtime/exec/Batch.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static const InputRules rules{100, {}};

static Batch fromFile(const std::vector<std::pair<std::string, Tensor>> &tensors) {
  TempDir dir;
  Diagnostics diags;
  REQUIRE(writeSafetensors(dir / "in.safetensors", tensors, {}, diags));
  std::optional<Batch> batch = batchFromFile(dir / "in.safetensors", rules, diags);
  INFO(text(diags));
  REQUIRE(batch);
  return std::move(*batch);
}

static Tensor ints(Shape shape, const std::vector<double> &values) { return tensorOf(DType::i64, shape, values); }

TEST_CASE("rows of ids become a batch, zeros behind the shorter ones", "[batch]") {
  Diagnostics diags;
  std::optional<Batch> batch = batchFromIds({{5, 6, 7}, {8}}, rules, {"--ids", 0, 0}, diags);
  REQUIRE(batch);
  CHECK(batch->rows() == 2);
  CHECK(batch->seq() == 3);
  CHECK(batch->rowLengths() == std::vector<int64_t>{3, 1});
  CHECK(valuesOf(batch->ids) == std::vector<double>{5, 6, 7, 8, 0, 0});
  CHECK(batch->positions.shape == Shape{3, 2, 3});
  CHECK(valuesOf(batch->positions) == std::vector<double>{0, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0});
}

TEST_CASE("an input file without a mask has no pads", "[batch]") {
  const Batch batch = fromFile({{"input_ids", ints({2, 2}, {1, 2, 3, 4})}});
  CHECK(valuesOf(batch.ids) == std::vector<double>{1, 2, 3, 4});
  CHECK(batch.rowLengths() == std::vector<int64_t>{2, 2});
}

TEST_CASE("left pads move behind the row, whatever ids they have", "[batch]") {
  const Batch batch = fromFile(
      {{"input_ids", ints({2, 3}, {99999, -1, 3, 4, 5, 6})}, {"attention_mask", ints({2, 3}, {0, 0, 1, 1, 1, 1})}});
  CHECK(valuesOf(batch.ids) == std::vector<double>{3, 0, 0, 4, 5, 6});
  CHECK(batch.rowLengths() == std::vector<int64_t>{1, 3});
  CHECK(valuesOf(batch.positions) == std::vector<double>{0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2});
}

TEST_CASE("S is the padded length, also when every row is padded", "[batch]") {
  const Batch batch =
      fromFile({{"input_ids", ints({1, 4}, {0, 0, 3, 4})}, {"attention_mask", ints({1, 4}, {0, 0, 1, 1})}});
  CHECK(batch.seq() == 4);
  CHECK(valuesOf(batch.ids) == std::vector<double>{3, 4, 0, 0});
}

TEST_CASE("positions of a file are aligned with the ids; pads get 0", "[batch]") {
  const std::vector<std::pair<std::string, Tensor>> input = {{"input_ids", ints({1, 3}, {0, 3, 4})},
                                                             {"attention_mask", ints({1, 3}, {0, 1, 1})}};
  auto plain = input;
  plain.emplace_back("position_ids", ints({1, 3}, {-7, 10, 12}));
  CHECK(valuesOf(fromFile(plain).positions) == std::vector<double>{10, 12, 0, 10, 12, 0, 10, 12, 0});
  CHECK(fromFile(plain).ownPositions);
  CHECK_FALSE(fromFile(input).ownPositions);
  auto planes = input;
  planes.emplace_back("position_ids", ints({3, 1, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK(valuesOf(fromFile(planes).positions) == std::vector<double>{2, 3, 0, 5, 6, 0, 8, 9, 0});
  CHECK(fromFile(planes).position(0, 1) == Position{3, 6, 9});
}

TEST_CASE("three rows are no planes of positions", "[batch]") {
  const Batch batch =
      fromFile({{"input_ids", ints({3, 2}, {1, 1, 1, 1, 1, 1})}, {"position_ids", ints({3, 2}, {0, 1, 2, 3, 4, 5})}});
  CHECK(valuesOf(batch.positions) == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
}

TEST_CASE("a text-only model has no picture tokens", "[batch]") {
  Diagnostics diags;
  CHECK(batchFromIds({{50}}, {100, {}}, {}, diags));
  CHECK_FALSE(batchFromIds({{50}}, {100, {50}}, {}, diags));
}
