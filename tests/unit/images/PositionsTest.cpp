// Positions of prompts with images: the reference's, and a computation of their own.
#include "runtime/images/Positions.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace nnterp {

static const ImageTokenRules rules{300, 301, 2};

static std::vector<int64_t> rowOf(const ImagePositions &result, int64_t axis, int64_t row, size_t length) {
  const Shape &shape = result.positions.shape;
  const int64_t *first = result.positions.as<int64_t>() + (axis * shape[1] + row) * shape[2];
  return {first, first + length};
}

static TokenRows rowsWith(const std::vector<std::vector<int64_t>> &runs) {
  TokenRows rows;
  for (const std::vector<int64_t> &row : runs) { // a negative number: so many image tokens
    rows.emplace_back();
    for (const int64_t id : row)
      rows.back().insert(rows.back().end(), id < 0 ? size_t(-id) : 1, id < 0 ? 300 : id);
  }
  return rows;
}

TEST_CASE("Positions are those of the reference's get_rope_index", "[images]") {
  const TokenRows rows = rowsWith({{1, 2, -6, 3, -4, 4}, {-8, 9}, {5, 6, 7}, {1, -3}});
  const ImagePositions result = imagePositions(rows, {{1, 4, 6}, {1, 8, 2}, {1, 4, 8}, {1, 2, 6}}, rules);
  // Written by transformers 5.17.
  const std::vector<std::vector<std::vector<int64_t>>> expected = {
      {{0, 1, 2, 2, 2, 2, 2, 2, 5, 6, 6, 6, 6, 10},
       {0, 1, 2, 2, 2, 3, 3, 3, 5, 6, 7, 8, 9, 10},
       {0, 1, 2, 3, 4, 2, 3, 4, 5, 6, 6, 6, 6, 10}},
      {{0, 0, 0, 0, 0, 0, 0, 0, 4}, {0, 0, 0, 0, 1, 1, 1, 1, 4}, {0, 1, 2, 3, 0, 1, 2, 3, 4}},
      {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}},
      {{0, 1, 1, 1}, {0, 1, 1, 1}, {0, 1, 2, 3}}};
  REQUIRE(result.positions.shape == Shape{3, 4, 14});
  for (size_t b = 0; b < 4; ++b)
    for (size_t axis = 0; axis < 3; ++axis)
      CHECK(rowOf(result, int64_t(axis), int64_t(b), rows[b].size()) == expected[b][axis]);
  const std::vector<int64_t> delta = {-3, -4, 0, 0};
  CHECK(std::equal(delta.begin(), delta.end(), result.ropeDelta.as<int64_t>()));
}

TEST_CASE("What is behind a row's end is 0, as far as asked for", "[images]") {
  const ImagePositions result = imagePositions(rowsWith({{1, 2}, {3, 4, 5}}), {}, rules, 6);
  CHECK(result.positions.shape == Shape{3, 2, 6});
  CHECK(rowOf(result, 1, 0, 6) == std::vector<int64_t>{0, 1, 0, 0, 0, 0});
  CHECK(rowOf(result, 2, 1, 6) == std::vector<int64_t>{0, 1, 2, 0, 0, 0});
}

/// A token's place by its definition: what came before it, counted anew for every token.
static std::array<int64_t, 3> placeOf(const std::vector<int64_t> &row, const ImageGrid *grids, int64_t token) {
  int64_t place = 0;
  for (int64_t i = 0; i < token;) {
    if (row[size_t(i)] != 300) {
      ++place;
      ++i;
      continue;
    }
    const int64_t tokens = grids->h * grids->w / 4;
    if (token < i + tokens)
      return {place, place + (token - i) / (grids->w / 2), place + (token - i) % (grids->w / 2)};
    place += std::max(grids->h, grids->w) / 2;
    i += tokens;
    ++grids;
  }
  return {place, place, place};
}

TEST_CASE("Every token stands where its definition says", "[images]") {
  const std::vector<ImageGrid> grids = {{1, 2, 2}, {1, 12, 4}, {1, 4, 20}, {1, 6, 6}, {1, 2, 26}};
  const TokenRows rows = rowsWith({{-1, 7, -12, 7, 7, -20, 8}, {9, 9, 9, -9, 5, -13}});
  const ImagePositions result = imagePositions(rows, grids, rules);
  for (size_t b = 0; b < 2; ++b) {
    const ImageGrid *own = grids.data() + (b == 0 ? 0 : 3);
    int64_t largest = 0;
    for (size_t token = 0; token < rows[b].size(); ++token) {
      INFO("row " << b << ", token " << token);
      const std::array<int64_t, 3> place = placeOf(rows[b], own, int64_t(token));
      for (int64_t axis = 0; axis < 3; ++axis) {
        CHECK(rowOf(result, axis, int64_t(b), token + 1).back() == place[size_t(axis)]);
        largest = std::max(largest, place[size_t(axis)]);
      }
    }
    CHECK(result.ropeDelta.as<int64_t>()[b] == largest + 1 - int64_t(rows[b].size()));
  }
}

} // namespace nnterp
