// Tests of what a run goes on from: pending tokens before prompts, and positions that go on.
#include "tools/nnterp/Continuation.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

using Numbers = std::vector<double>;

namespace {

SavedSequence saved(bool pending) {
  SavedSequence state;
  state.lengths = {3, 1};
  state.tokens = {{5, 6, 7}, {8}};
  state.next = {{3, 4, 5}, {10, 10, 10}};
  state.pending = pending;
  if (pending) {
    state.tokens[0].push_back(40);
    state.tokens[1].push_back(41);
  }
  return state;
}

Batch batchOf(const std::vector<std::vector<int64_t>> &rows) {
  Diagnostics diags;
  std::optional<Batch> batch = batchFromIds(rows, {100, {}}, {}, diags);
  REQUIRE(batch);
  return *batch;
}

const std::vector<PlanWorld> one = {{"main", "main", {}}};

Batch join(bool pending, const Batches &inputs) {
  Diagnostics diags;
  std::optional<Batches> joined = continueFrom({{"main", saved(pending)}}, one, inputs, "s", diags);
  INFO(text(diags));
  REQUIRE(joined);
  return joined->at("main");
}

std::string errors(const SavedStates &states, const std::vector<PlanWorld> &worlds, const Batches &inputs) {
  Diagnostics diags;
  CHECK_FALSE(continueFrom(states, worlds, inputs, "s.safetensors", diags));
  return text(diags);
}

} // namespace

TEST_CASE("a pending token alone is a prompt", "[continue]") {
  const Batch batch = join(true, {});
  CHECK(valuesOf(batch.ids) == Numbers{40, 41});
  CHECK(batch.rowLengths() == std::vector<int64_t>{1, 1});
  CHECK(valuesOf(batch.positions) == Numbers{3, 10, 4, 10, 5, 10});
}

TEST_CASE("a prompt follows the pending token", "[continue]") {
  const Batch batch = join(true, {{"main", batchOf({{1, 2}, {3}})}});
  CHECK(valuesOf(batch.ids) == Numbers{40, 1, 2, 41, 3, 0});
  CHECK(batch.rowLengths() == std::vector<int64_t>{3, 2});
  CHECK(batch.position(0, 0) == Position{3, 4, 5});
  CHECK(batch.position(0, 2) == Position{5, 6, 7});
  CHECK(batch.position(1, 1) == Position{11, 11, 11});
}

TEST_CASE("without one the prompt goes on where the state stopped", "[continue]") {
  const Batch batch = join(false, {{"main", batchOf({{1, 2}, {3}})}});
  CHECK(valuesOf(batch.ids) == Numbers{1, 2, 3, 0});
  CHECK(batch.position(0, 1) == Position{4, 5, 6});
  CHECK(batch.position(1, 0) == Position{10, 10, 10});
}

TEST_CASE("positions that an input gives are its own", "[continue]") {
  Batch given = batchOf({{1, 2}, {3}});
  given.ownPositions = true;
  const Batch batch = join(true, {{"main", given}});
  CHECK(batch.position(0, 0) == Position{3, 4, 5}); // the pending token's
  CHECK(batch.position(0, 2) == Position{1, 1, 1});
}

TEST_CASE("worlds may share an input when they continue alike", "[continue]") {
  Diagnostics diags;
  const std::vector<PlanWorld> two = {{"a", "x", {}}, {"b", "x", {}}};
  std::optional<Batches> joined = continueFrom({{"a", saved(true)}, {"b", saved(true)}}, two, {}, "s", diags);
  REQUIRE(joined);
  CHECK(joined->size() == 1);
}

TEST_CASE("NNT1211: worlds continue differently", "[continue]") {
  SavedSequence other = saved(true);
  other.tokens[1].back() = 50;
  CHECK(errors({{"a", saved(true)}, {"b", other}}, {{"a", "x", {}}, {"b", "x", {}}}, {}) ==
        "s.safetensors: error NNT1211: the worlds \"a\" and \"b\" read the input \"x\", but their saved states hold "
        "different tokens; give each world an input of its own\n");
  Diagnostics diags;
  CHECK(continueFrom({{"a", saved(true)}, {"b", other}}, {{"a", "x", {}}, {"b", "y", {}}}, {}, "s", diags));
}

TEST_CASE("NNT1210: nothing to continue with", "[continue]") {
  CHECK(
      errors({{"main", saved(false)}}, one, {}) ==
      "s.safetensors: error NNT1210: the saved state has no generated token that was not read yet, and the run has no "
      "input \"main\"; expected --prompt, --chat, --ids or --input\n");
}

TEST_CASE("NNT1209: state of another batch", "[continue]") {
  CHECK(errors({{"main", saved(true)}}, one, {{"main", batchOf({{1}, {2}, {3}})}}) ==
        "s.safetensors: error NNT1209: the saved state has 2 rows, the input \"main\" has 3\n");
}

TEST_CASE("NNT1012: generated tokens beyond the last position", "[continue]") {
  Batch batch = batchOf({{1, 2}, {3}});
  batch.positions.as<int64_t>()[3] = maxPosition - 10; // row 1, behind its end: not a token
  Diagnostics diags;
  CHECK(checkPositions({{"main", batch}}, 100, diags));
  batch.positions.as<int64_t>()[1] = maxPosition - 10;
  CHECK(checkPositions({{"main", batch}}, 9, diags));
  CHECK_FALSE(checkPositions({{"main", batch}}, 10, diags));
  CHECK(text(diags) == "error NNT1012: input \"main\", row 0: 10 generated tokens behind position 1048566 go beyond "
                       "position 1048575\n");
}
