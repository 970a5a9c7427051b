// Tests of next tokens: they come from each row's last position, over the whole vocabulary, or not at all.
#include "tools/nnterp/NextTokens.h"
#include "RunResults.h"

using namespace nnterp;

static void setLogit(RunResult &result, int64_t row, int64_t entry, int64_t id, float value) {
  Tensor &t = result.outputs[0].second;
  t.as<float>()[(row * t.shape[1] + entry) * t.shape[2] + id] = value;
}

TEST_CASE("the last entry of each row counts, most likely first", "[next]") {
  RunResult result = toyResult({"logits"}, {{1, 2, 3}, {4}});
  setLogit(result, 0, 2, 17, 30);
  setLogit(result, 0, 2, 18, 29);
  setLogit(result, 0, 1, 99, 50);
  setLogit(result, 1, 2, 5, 40);
  const std::vector<NextTokens> next = nextTokens(result, 2);
  REQUIRE(next.size() == 2);
  CHECK(next[0].row == 0);
  REQUIRE(next[0].tokens.size() == 2);
  CHECK(next[0].tokens[0].id == 17);
  CHECK(next[0].tokens[0].probability == Approx(1 / (1 + std::exp(-1.0))).epsilon(1e-6));
  CHECK(next[0].tokens[1].id == 18);
  CHECK(next[1].tokens[0].id == 5);
}

TEST_CASE("equal probabilities come in the order of ids", "[next]") {
  const std::vector<NextTokens> next = nextTokens(toyResult({"logits"}, {{1}}), 3);
  REQUIRE(next.size() == 1);
  CHECK(next[0].tokens[2].id == 2);
  CHECK(next[0].tokens[2].probability == Approx(1.0 / 640));
}

TEST_CASE("a selection must hold the last position", "[next]") {
  CHECK(nextTokens(toyResult({"logits{seq=prompt[-1]}"}, {{1, 2, 3}, {4}})).size() == 2);
  CHECK(nextTokens(toyResult({"logits{seq=1:}"}, {{1, 2, 3}, {4, 5}})).size() == 2);
  const std::vector<NextTokens> one = nextTokens(toyResult({"logits{seq=0}"}, {{1, 2, 3}, {4}}));
  REQUIRE(one.size() == 1); // of a row with one token the first is the last
  CHECK(one[0].row == 1);
}

TEST_CASE("rows keep their number under a selection of rows", "[next]") {
  const std::vector<NextTokens> next = nextTokens(toyResult({"logits{batch=1}"}, {{1, 2, 3}, {4, 5}}));
  REQUIRE(next.size() == 1);
  CHECK(next[0].row == 1);
}

TEST_CASE("a part of the vocabulary says nothing about the rest", "[next]") {
  CHECK(nextTokens(toyResult({"logits{vocab=0:9}"}, {{1}})).empty());
  CHECK(nextTokens(toyResult({"layers[0].layer_output"}, {{1}})).empty());
}

TEST_CASE("probabilities are taken as they are", "[next]") {
  RunResult result = toyResult({"next_token_probs"}, {{1}, {2}});
  result.outputs[0].second.as<float>()[640 + 3] = 0.75f;
  const std::vector<NextTokens> next = nextTokens(result, 1);
  REQUIRE(next.size() == 2);
  CHECK(next[1].tokens[0].id == 3);
  CHECK(next[1].tokens[0].probability == 0.75);
}
