// Tests of choosing tokens: ties, cuts, seeds, and that draws follow the probabilities.
#include "runtime/exec/Sampling.h"
#include "../weights/Fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <set>

using namespace nnterp;

namespace {

Tensor logits(const std::vector<double> &values) { return tensorOf(DType::f32, {1, int64_t(values.size())}, values); }

TokenHash hashOf(const std::vector<int64_t> &tokens) {
  TokenHash hash;
  for (int64_t token : tokens)
    hash.add(token);
  return hash;
}

/// How often each id comes in `count` draws behind different texts.
std::vector<int64_t> counts(const SamplingSettings &settings, const std::vector<double> &values, int64_t count) {
  Sampler sampler(settings);
  std::vector<int64_t> seen(values.size(), 0);
  const Tensor tensor = logits(values);
  for (int64_t i = 0; i < count; ++i)
    ++seen[size_t(sampler.choose(tensor, 0, hashOf({i, 7})))];
  return seen;
}

std::set<int64_t> possible(SamplingSettings settings, const std::vector<double> &values) {
  settings.sample = true;
  std::set<int64_t> ids;
  const std::vector<int64_t> seen = counts(settings, values, 4000);
  for (size_t id = 0; id < seen.size(); ++id)
    if (seen[id] > 0)
      ids.insert(int64_t(id));
  return ids;
}

SamplingSettings settingsOf(double temperature, int64_t topK, double topP, uint64_t seed = 0) {
  return {true, temperature, topK, topP, seed};
}

} // namespace

TEST_CASE("greedy takes the largest, the first of equals", "[sampling]") {
  CHECK(largest(logits({1, 3, 2}), 0) == 1);
  CHECK(largest(logits({1, 3, 3}), 0) == 1);
  CHECK(largest(logits({-5, -5}), 0) == 0);
  CHECK(largest(logits({NAN, -1, NAN, 4}), 0) == 3);
  CHECK(largest(logits({NAN, NAN}), 0) == 0);
  CHECK(largest(tensorOf(DType::f32, {2, 2}, {1, 2, 4, 3}), 1) == 0);
  CHECK(largest(tensorOf(DType::bf16, {1, 3}, {1, 2, 0}), 0) == 1);
  CHECK(Sampler({}).choose(logits({1, 3, 3}), 0, {}) == 1);
}

TEST_CASE("draws follow the probabilities", "[sampling]") {
  // Probabilities 1/2, 1/3, 1/6 up to a constant.
  const std::vector<double> values = {std::log(3.0) + 5, std::log(2.0) + 5, 5};
  const int64_t n = 60000;
  const std::vector<int64_t> seen = counts(settingsOf(1, 0, 1), values, n);
  const double expected[] = {1.0 / 2, 1.0 / 3, 1.0 / 6};
  for (size_t i = 0; i < 3; ++i) // five standard deviations
    CHECK(std::abs(double(seen[i]) / double(n) - expected[i]) <
          5 * std::sqrt(expected[i] * (1 - expected[i]) / double(n)));
}

TEST_CASE("a temperature divides the logits", "[sampling]") {
  const int64_t n = 60000;
  const std::vector<int64_t> seen = counts(settingsOf(2, 0, 1), {std::log(9.0), 0}, n); // odds 9:1 become 3:1
  CHECK(double(seen[0]) / double(n) == Approx(0.75).margin(0.01));
  CHECK(counts(settingsOf(0.01, 0, 1), {1.0, 0.5}, 1000)[0] == 1000);
}

TEST_CASE("top-k keeps the k largest and equals of the last", "[sampling]") {
  CHECK(possible(settingsOf(1, 2, 1), {1, 2, 3, 0}) == std::set<int64_t>{1, 2});
  CHECK(possible(settingsOf(1, 2, 1), {2, 2, 3, 0}) == std::set<int64_t>{0, 1, 2});
  CHECK(possible(settingsOf(1, 0, 1), {1, 1, 1}) == std::set<int64_t>{0, 1, 2});
  CHECK(possible(settingsOf(1, 9, 1), {1, 1, 1}) == std::set<int64_t>{0, 1, 2});
  CHECK(possible(settingsOf(1, 1, 1), {1, 1.5, 1}) == std::set<int64_t>{1});
}

TEST_CASE("top-p keeps the likeliest up to the probability, the one that reaches it included", "[sampling]") {
  const std::vector<double> values = {std::log(0.1), std::log(0.5), std::log(0.4)};
  CHECK(possible(settingsOf(1, 0, 0.4), values) == std::set<int64_t>{1});
  CHECK(possible(settingsOf(1, 0, 0.6), values) == std::set<int64_t>{1, 2});
  CHECK(possible(settingsOf(1, 0, 0.95), values) == std::set<int64_t>{0, 1, 2});
  CHECK(possible(settingsOf(1, 0, 1e-9), values) == std::set<int64_t>{1});
  // The probabilities are those after temperature and top-k: of 0.5 and 0.4 alone, the first has 0.56.
  CHECK(possible(settingsOf(1, 2, 0.55), values) == std::set<int64_t>{1});
  CHECK(possible(settingsOf(1, 3, 0.55), values) == std::set<int64_t>{1, 2});
}

TEST_CASE("a masked token never comes", "[sampling]") {
  CHECK(possible(settingsOf(1, 0, 1), {0, -3.4e38, NAN, -INFINITY, 0}) == std::set<int64_t>{0, 4});
}

TEST_CASE("the seed and the tokens before decide, and nothing else", "[sampling]") {
  const std::vector<double> flat(50, 0.0);
  Tensor two = Tensor::make(DType::f32, {2, 50});
  auto draw = [&](uint64_t seed, const Tensor &tensor, int64_t row, const TokenHash &hash) {
    return Sampler(settingsOf(1, 0, 1, seed)).choose(tensor, row, hash);
  };
  int64_t sameSeeds = 0, sameTexts = 0;
  for (int64_t i = 0; i < 100; ++i) {
    const TokenHash hash = hashOf({1, 2, i});
    CHECK(draw(3, two, 1, hash) == draw(3, logits(flat), 0, hash));
    sameSeeds += draw(3, two, 0, hash) == draw(4, two, 0, hash);
    sameTexts += draw(3, two, 0, hash) == draw(3, two, 0, hashOf({1, 2, i + 1}));
  }
  CHECK(sameSeeds < 15);
  CHECK(sameTexts < 15);
  CHECK(hashOf({1, 2}).value() != hashOf({2, 1}).value());
  CHECK(hashOf({0}).value() != hashOf({0, 0}).value());
}

TEST_CASE("numbers are uniform and below one", "[sampling]") {
  double sum = 0, most = 0;
  for (int64_t i = 0; i < 10000; ++i) {
    const double u = uniform(1, hashOf({i}));
    sum += u;
    most = std::max(most, u);
    CHECK(u >= 0);
  }
  CHECK(most < 1);
  CHECK(sum / 10000 == Approx(0.5).margin(0.015));
}

TEST_CASE("NNT1302: unfit sampling", "[sampling]") {
  auto errors = [](const SamplingSettings &settings) {
    Diagnostics diags;
    CHECK_FALSE(checkSampling(settings, {"sampling", 0, 0}, diags));
    return text(diags);
  };
  CHECK(errors(settingsOf(0, 0, 1)) == "sampling: error NNT1302: the temperature is 0; expected a number above 0 (the "
                                       "likeliest token always: --greedy)\n");
  CHECK(errors(settingsOf(-1.5, 0, 1)).find("the temperature is -1.5; expected") != std::string::npos);
  CHECK(errors(settingsOf(NAN, 0, 1)).find("expected a number above 0") != std::string::npos);
  CHECK(errors(settingsOf(1, -2, 1)) ==
        "sampling: error NNT1302: top-k is -2; expected a number of tokens, 0 for all\n");
  CHECK(errors(settingsOf(1, 0, 1.25)) ==
        "sampling: error NNT1302: top-p is 1.25; expected a probability above 0, at most 1\n");
  CHECK(errors(settingsOf(1, 0, 0)).find("top-p is 0;") != std::string::npos);
  Diagnostics diags;
  CHECK(checkSampling(settingsOf(0.7, 20, 0.95), {}, diags));
}
