// tests/data/text/toy.json: ids and next-token probabilities of the toy model from the text prompt alone.
#include "tests/e2e/Runs.h"

#include "runtime/text/Tokenizer.h"
#include "tools/nnterp/GeneratedText.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

TEST_CASE("the toy model's ids and next-token probabilities follow from the text prompt alone", "[toy]") {
  Diagnostics diags;
  std::optional<Json> cases = readJsonFile(std::string(NNTERP_TEST_DATA) + "/text/toy.json", diags);
  std::optional<Tokenizer> tokenizer = Tokenizer::load(checkpointPath("toy"), diags);
  REQUIRE((cases && tokenizer));
  REQUIRE(!cases->array.empty());
  for (const Json &entry : cases->array) {
    INFO(entry.find("prompt")->string);
    RunOptions options;
    options.checkpoint = checkpointPath("toy");
    options.plan.flags.taps = {"next_token_probs"};
    options.inputs = {{InputKind::prompt, entry.find("prompt")->string}};
    options.dtype = DType::f32;
    options.cacheDir = testCache();
    std::optional<RunResult> result = runModel(options, diags);
    INFO(text(diags));
    REQUIRE(result);

    std::vector<int64_t> ids, expected;
    const Tensor &fed = result->batchOf("main").ids;
    for (int64_t i = 0; i < elementCount(fed.shape); ++i)
      ids.push_back(int64_t(fed.at(i)));
    for (const Json &id : entry.find("ids")->array)
      expected.push_back(id.integer);
    CHECK(ids == expected);

    const Tensor probabilities = outputsOf(*result).at("next_token_probs");
    REQUIRE(!entry.find("next")->array.empty());
    for (const Json &next : entry.find("next")->array) {
      const std::string &token = next.array[0].string;
      std::vector<int64_t> id = tokenizer->encodeIds(token, diags);
      INFO(token);
      REQUIRE(id.size() == 1);
      CHECK(std::abs(probabilities.at(id[0]) - next.array[1].number) <= 1e-4);
    }
  }
}

TEST_CASE("the toy model goes on token for token, in one batch and row by row", "[toy]") {
  Diagnostics diags;
  std::optional<Json> cases = readJsonFile(std::string(NNTERP_TEST_DATA) + "/text/toy.json", diags);
  std::optional<Tokenizer> tokenizer = Tokenizer::load(checkpointPath("toy"), diags);
  REQUIRE((cases && tokenizer));
  RunOptions options;
  options.checkpoint = checkpointPath("toy");
  options.plan.flags.taps = {"tokens"};
  options.dtype = DType::f32;
  options.cacheDir = testCache();
  options.generation = greedily(int64_t(cases->array[0].find("tokens")->array.size()));
  for (const Json &entry : cases->array)
    options.inputs.push_back({InputKind::prompt, entry.find("prompt")->string});
  std::optional<RunResult> batch = runModel(options, diags);
  INFO(text(diags));
  REQUIRE(batch);
  const std::vector<InputArgument> prompts = options.inputs;
  for (size_t b = 0; b < prompts.size(); ++b) {
    const Json &entry = cases->array[b];
    INFO(entry.find("prompt")->string);
    std::vector<int64_t> expected;
    for (const Json &id : entry.find("tokens")->array)
      expected.push_back(id.integer);
    CHECK(batch->generated.at(b).tokens == expected);
    CHECK(textOf(batch->generated[b], &*tokenizer) == entry.find("text")->string);
    options.inputs = {prompts[b]};
    std::optional<RunResult> alone = runModel(options, diags);
    REQUIRE(alone);
    CHECK(alone->generated.at(0).tokens == expected);
    CHECK(alone->costs.stepAllocations == 0);
  }
}

TEST_CASE("a batch of texts gives each text its own probabilities", "[toy]") {
  Diagnostics diags;
  std::optional<Json> cases = readJsonFile(std::string(NNTERP_TEST_DATA) + "/text/toy.json", diags);
  REQUIRE(cases);
  RunOptions options;
  options.checkpoint = checkpointPath("toy");
  options.plan.flags.taps = {"next_token_probs"};
  options.dtype = DType::f32;
  options.cacheDir = testCache();
  for (const Json &entry : cases->array)
    options.inputs.push_back({InputKind::prompt, entry.find("prompt")->string});
  std::optional<RunResult> batch = runModel(options, diags);
  INFO(text(diags));
  REQUIRE(batch);
  const Tensor together = outputsOf(*batch).at("next_token_probs");
  REQUIRE(together.shape[0] == int64_t(cases->array.size()));
  const std::vector<InputArgument> prompts = options.inputs;
  for (size_t b = 0; b < prompts.size(); ++b) {
    options.inputs = {prompts[b]};
    std::optional<RunResult> alone = runModel(options, diags);
    REQUIRE(alone);
    CHECK(
        sameBits(rowAlone(together, Layout::NextTokenProbs, int64_t(b), 0), outputsOf(*alone).at("next_token_probs")));
  }
}
