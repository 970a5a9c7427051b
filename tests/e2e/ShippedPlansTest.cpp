// The plans of tests/data/plans/README.md: each does to the toy model what its paragraph says, in numbers.
#include "tests/e2e/Runs.h"

#include "runtime/text/Tokenizer.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// A shipped plan, run on the prompts it brings along.
class Shipped {
public:
  explicit Shipped(const std::string &name, int64_t generate = 0) {
    Diagnostics diags;
    RunOptions options;
    options.checkpoint = checkpointPath("toy");
    options.plan.path = std::string(NNTERP_TEST_DATA) + "/plans/" + name + ".json";
    options.dtype = DType::f32;
    options.cacheDir = testCache();
    options.generation.tokens = generate;
    options.generation.greedy = true;
    std::optional<RunResult> result = runModel(options, diags);
    INFO(text(diags));
    REQUIRE(result);
    tokenizer = Tokenizer::load(options.checkpoint, diags);
    REQUIRE(tokenizer);
    outputs = outputsOf(*result);
    rows = std::move(result->generated);
  }

  const Tensor &output(const std::string &key) const {
    INFO(key);
    REQUIRE(outputs.count(key) == 1);
    return outputs.at(key);
  }

  /// How likely a world thinks `token` is behind a row of the prompt, or behind generated token number `step`.
  double chance(const std::string &world, const std::string &token, int64_t row = 0, int64_t step = -1) const {
    INFO(token);
    Diagnostics diags;
    const std::vector<int64_t> ids = tokenizer->encodeIds(token, diags);
    REQUIRE(ids.size() == 1);
    const auto [probabilities, begin, end] = next(world, row, step);
    REQUIRE(begin + ids[0] < end);
    return probabilities->at(begin + ids[0]);
  }

  /// The likeliest next token.
  std::string answer(const std::string &world, int64_t row = 0) const {
    const auto [probabilities, begin, end] = next(world, row, -1);
    int64_t best = begin;
    for (int64_t i = begin; i < end; ++i)
      if (probabilities->at(i) > probabilities->at(best))
        best = i;
    return tokenizer->decode({best - begin});
  }

  /// What a row of a world generated.
  std::string said(const std::string &world, int64_t row = 0) const {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const GeneratedRow &r) { return r.world == world && r.row == row; });
    REQUIRE(found != rows.end());
    return tokenizer->decode(found->tokens);
  }

private:
  struct Next {
    const Tensor *probabilities;
    int64_t begin, end; ///< the entries of one row and step
  };
  Next next(const std::string &world, int64_t row, int64_t step) const {
    const Tensor &t = output(world + "/next_token_probs" + (step < 0 ? "" : "@gen"));
    const int64_t steps = step < 0 ? 1 : t.shape[1], vocab = t.shape.back();
    REQUIRE((row < t.shape[0] && step < steps));
    const int64_t begin = (row * steps + std::max<int64_t>(step, 0)) * vocab;
    return {&t, begin, begin + vocab};
  }

  std::optional<Tokenizer> tokenizer;
  Outputs outputs;
  std::vector<GeneratedRow> rows;
};

std::vector<int64_t> integers(const Tensor &t) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < elementCount(t.shape); ++i)
    all.push_back(int64_t(t.at(i)));
  return all;
}

double mean(const Tensor &t) {
  double sum = 0;
  for (int64_t i = 0; i < elementCount(t.shape); ++i)
    sum += t.at(i);
  return sum / double(elementCount(t.shape));
}

} // namespace

TEST_CASE("two heads of block 3 carry the recipient's name, one for each place in the sentence", "[shipped]") {
  const Shipped run("who-receives-heads");
  CHECK(run.chance("clean", " Anna", 0) > 0.99);
  CHECK(run.chance("clean", " Ben", 1) > 0.99);
  CHECK(run.chance("corrupt", " Leo", 0) > 0.99);
  CHECK(run.chance("corrupt", " Ida", 1) > 0.99);
  // The recipient stands first: head 1 alone brings the other text's first name, no other head does.
  CHECK(run.chance("head1", " Leo", 0) > 0.95);
  CHECK(run.chance("head1", " Ben", 1) > 0.9);
  // The recipient stands second: head 0.
  CHECK(run.chance("head0", " Ida", 1) > 0.95);
  CHECK(run.chance("head0", " Anna", 0) > 0.8);
  for (const char *head : {"head2", "head3"}) {
    CHECK(run.chance(head, " Anna", 0) > 0.99);
    CHECK(run.chance(head, " Ben", 1) > 0.99);
  }
}

TEST_CASE("recurrent memory holds who gave, the cache holds the names", "[shipped]") {
  const Shipped run("swap-memory", 3);
  CHECK(run.said("anna") == " to Anna.");
  CHECK(run.said("leo") == " to Ida.");
  CHECK(run.said("recurrent") == " to Ben.");
  CHECK(run.said("cache") == " to Leo.");
  CHECK(run.said("both") == " to Ida.");
  // Generated token 0, " to", is the one that reads the memory for the name.
  CHECK(run.chance("anna", " Anna", 0, 0) > 0.99);
  CHECK(run.chance("recurrent", " Ben", 0, 0) > 0.8);
  CHECK(run.chance("cache", " Leo", 0, 0) > 0.7);
  CHECK(run.chance("both", " Ida", 0, 0) > 0.99);
}

TEST_CASE("a direction added to every generated token moves the capital and nothing else", "[shipped]") {
  const Shipped run("steer-capital", 12);
  const char *const capitals[] = {" Rome", " Paris", " Cairo", " Oslo"};
  for (int64_t row = 0; row < 4; ++row) {
    const std::string capital = capitals[row];
    CHECK(run.said("plain", row).rfind(" is" + capital + ". ", 0) == 0);
    CHECK(run.said("steered", row) == " is Tokyo. 7 plus 7 is 14");
    CHECK(run.chance("plain", capital, row, 0) > 0.99);
    CHECK(run.chance("plain", " Tokyo", row, 0) < 0.01);
    CHECK(run.chance("steered", " Tokyo", row, 0) > 0.85);
    CHECK(run.chance("steered", capital, row, 0) < 0.1);
  }
}

TEST_CASE("knocking an expert out means four things", "[shipped]") {
  const Shipped run("knock-out-expert");
  using Slots = std::vector<int64_t>;
  CHECK(run.chance("plain", " candle") > 0.99);
  CHECK(integers(run.output("plain/experts")) == Slots{4, 1});
  // Its slot counts nothing, and nothing makes up for it.
  CHECK(run.answer("drop") == " wheel");
  CHECK(run.chance("drop", " candle") < 0.5);
  CHECK(integers(run.output("drop/experts")) == Slots{4, 1});
  CHECK(run.output("drop/weights").at(0) == 0);
  CHECK(run.output("drop/weights").at(1) == run.output("plain/weights").at(1));
  // The other slot makes up for it.
  CHECK(run.chance("drop_renorm", " candle") > 0.95);
  CHECK(integers(run.output("drop_renorm/experts")) == Slots{4, 1});
  CHECK(run.output("drop_renorm/weights").at(0) == 0);
  CHECK(run.output("drop_renorm/weights").at(1) == 1);
  // The next best expert takes the slot.
  CHECK(run.chance("reroute", " candle") > 0.9);
  CHECK(integers(run.output("reroute/experts")) == Slots{1, 6});
  CHECK(mean(run.output("reroute/weights")) == Approx(0.5));
  // Two experts that we name take both slots.
  CHECK(run.chance("force", " wheel") > 0.95);
  CHECK(run.chance("force", " candle") < 0.05);
  CHECK(integers(run.output("force/experts")) == Slots{2, 3});
}

TEST_CASE("expert 2 of block 0 reads the name Anna", "[shipped]") {
  const Shipped run("force-expert");
  using Slots = std::vector<int64_t>;
  CHECK(integers(run.output("plain/experts")) == Slots{2, 4});
  CHECK(run.output("plain/weights").at(0) > 0.9);
  CHECK(run.chance("plain", " Anna") > 0.99);
  CHECK(integers(run.output("with2/experts")) == Slots{2, 0});
  CHECK(run.output("with2/weights").at(0) == Approx(0.5));
  CHECK(run.chance("with2", " Anna") > 0.99);
  CHECK(integers(run.output("without2/experts")) == Slots{1, 0});
  CHECK(run.output("without2/weights").at(0) == Approx(0.5));
  CHECK(run.chance("without2", " Carla") > 0.95);
  CHECK(run.chance("without2", " Anna") < 0.05);
}

TEST_CASE("block 0 must forget, block 1 need not", "[shipped]") {
  const Shipped run("freeze-decays");
  const std::string decays0 = "/decays/layers[0].linear_attn.decays", decays1 = "/decays/layers[1].linear_attn.decays";
  CHECK(mean(run.output("plain" + decays0)) < 2 * mean(run.output("plain" + decays1)));
  CHECK(mean(run.output("block0" + decays0)) == 0);
  CHECK(mean(run.output("block1" + decays1)) == 0);
  CHECK(run.chance("plain", " Hugo") > 0.95);
  CHECK(run.chance("block0", " Carla") > 0.95);
  CHECK(run.chance("block0", " Hugo") < 0.01);
  CHECK(run.chance("block1", " Hugo") > 0.95);
}

TEST_CASE("an owner whose sentence is not written into recurrent memory is not found", "[shipped]") {
  const Shipped run("unwritten-sentence");
  CHECK(run.chance("plain", " Hugo") > 0.95);
  CHECK(run.answer("first") == " Hugo");
  CHECK(run.chance("first", " Hugo") > 0.5);
  CHECK(run.chance("second", " Felix") > 0.85);
  CHECK(run.chance("second", " Hugo") < 0.1);
}

TEST_CASE("a recipient who may not be looked at is not named", "[shipped]") {
  const Shipped run("mask-position");
  CHECK(run.chance("plain", " Anna") > 0.99);
  CHECK(run.chance("without_anna", " Ben") > 0.95);
  CHECK(run.chance("without_anna", " Anna") < 0.01);
  CHECK(run.chance("without_ben", " Anna") > 0.95);
  // [1, 4, 1, 2]: four heads look at Anna and Ben.
  const Tensor &both = run.output("plain/looks"), &noAnna = run.output("without_anna/looks"),
               &noBen = run.output("without_ben/looks");
  REQUIRE(both.shape == Shape{1, 4, 1, 2});
  for (int64_t head = 0; head < 4; ++head) {
    CHECK(noAnna.at(head * 2) == 0);
    CHECK(noBen.at(head * 2 + 1) == 0);
    CHECK(noAnna.at(head * 2 + 1) >= both.at(head * 2 + 1));
    CHECK(noBen.at(head * 2) >= both.at(head * 2));
  }
}

TEST_CASE("who gave is in the state of block 0 at one token", "[shipped]") {
  const Shipped run("erase-fact");
  for (const char *world : {"plain", "comma", "verb"})
    CHECK(run.chance(world, " Anna") > 0.98);
  CHECK(run.chance("giver", " Ben") > 0.98);
  CHECK(run.chance("giver", " Anna") < 0.01);
}

TEST_CASE("a name needs block 3, a list needs block 6", "[shipped]") {
  const Shipped run("skip-layer");
  CHECK(run.chance("plain", " Anna", 0) > 0.99);
  CHECK(run.chance("plain", " candle", 1) > 0.99);
  CHECK(run.chance("skip3", " Anna", 0) < 0.05);
  CHECK(run.chance("skip3", " candle", 1) > 0.99);
  CHECK(run.chance("skip6", " Anna", 0) > 0.99);
  CHECK(run.chance("skip6", " candle", 1) < 0.2);
}
