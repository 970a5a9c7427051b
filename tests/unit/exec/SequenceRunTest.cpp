// Tests of the run loop on a program whose next token depends on everything in memory: chunks, ends, states, samples,
// and that a step allocates nothing.
#include "SequenceHelp.h"

#include <cstdlib>
#include <new>

using namespace nnterp;
using namespace nnterp::test;

/// Counts what the whole process asks for.
static int64_t news = 0;
void *operator new(size_t bytes) {
  ++news;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++news;
  return std::malloc(bytes ? bytes : 1);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

TEST_CASE("generated tokens are fed back through memory, row by row", "[sequence]") {
  Sequence run;
  run.generate = 10;
  const Rows rows = {{3, 1, 4, 1, 5}, {9, 2}};
  REQUIRE(run.run(rows));
  REQUIRE(run.generated.size() == 2);
  for (size_t b = 0; b < 2; ++b) {
    CHECK(run.generated[b].tokens == continuation(rows[b], 10));
    CHECK_FALSE(run.generated[b].ended);
  }
  const Tensor &tokens = run.outputs.at("tokens");
  CHECK(tokens.shape == Shape{2, 10});
  CHECK(tokens.at(13) == double(continuation(rows[1], 10)[3]));
  CHECK(run.costs.steps == 9);
  CHECK(run.fractions.back() == Approx(1));
  CHECK(std::is_sorted(run.fractions.begin(), run.fractions.end()));
}

TEST_CASE("chunks of any size, of pads only included, change nothing", "[sequence]") {
  const Rows rows = {{3, 1, 4, 1, 5, 9, 2}, {9, 2}, {7}};
  Sequence whole;
  whole.generate = 4;
  whole.width = 9;
  REQUIRE(whole.run(rows));
  for (int64_t chunk : {1, 2, 3, 8, 20}) {
    Sequence run;
    run.generate = 4;
    run.width = 9;
    run.chunk = chunk;
    REQUIRE(run.run(rows));
    CHECK(same(run.outputs.at("tokens"), whole.outputs.at("tokens")));
    CHECK(run.states.at("main").tokens == whole.states.at("main").tokens);
    CHECK(same(run.states.at("main").parts.begin()->second, whole.states.at("main").parts.begin()->second));
  }
}

TEST_CASE("a row ends at an end token, and pads follow", "[sequence]") {
  const Rows rows = {{3, 1, 4}, {9, 5}};
  const Ids first = continuation(rows[0], 6), second = continuation(rows[1], 6);
  Sequence run;
  run.generate = 6;
  run.eos = {first[2]};
  REQUIRE(std::find(second.begin(), second.end(), first[2]) == second.end());
  REQUIRE(run.run(rows));
  CHECK(run.generated[0].tokens == Ids(first.begin(), first.begin() + 3));
  CHECK(run.generated[0].ended);
  CHECK(run.generated[1].tokens == second);
  CHECK(valuesOf(run.outputs.at("tokens")) == std::vector<double>{double(first[0]), double(first[1]), double(first[2]),
                                                                  96, 96, 96, double(second[0]), double(second[1]),
                                                                  double(second[2]), double(second[3]),
                                                                  double(second[4]), double(second[5])});
  // The end token was never fed: it is pending, as the last token of the other row is.
  CHECK(run.states.at("main").lengths == Ids{5, 7});
  CHECK(run.states.at("main").pending);
}

TEST_CASE("when every row has ended, the run stops", "[sequence]") {
  Sequence run;
  run.generate = 50;
  run.eos = continuation({3, 1, 4}, 2);
  REQUIRE(run.run({{3, 1, 4}}));
  CHECK(run.costs.steps == 0); // the first token is an end token
  CHECK(run.outputs.at("tokens").shape == Shape{1, 50});
  CHECK(run.outputs.at("tokens").at(49) == 96);
}

TEST_CASE("a saved state continues as if the run had not stopped", "[sequence]") {
  const Rows rows = {{3, 1, 4, 1, 5}, {9, 2}};
  Sequence whole;
  whole.generate = 100;
  whole.sampling = {true, 1, 0, 1, 5};
  REQUIRE(whole.run(rows));
  Sequence first = Sequence();
  first.generate = 70;
  first.sampling = whole.sampling;
  REQUIRE(first.run(rows));
  Sequence second;
  second.loaded = first.states;
  second.generate = 30;
  second.sampling = whole.sampling;
  const bool good = second.run({});
  INFO(text(second.diags));
  REQUIRE(good);
  for (size_t b = 0; b < 2; ++b) {
    Ids joined = first.generated[b].tokens;
    joined.insert(joined.end(), second.generated[b].tokens.begin(), second.generated[b].tokens.end());
    CHECK(joined == whole.generated[b].tokens);
  }
  CHECK(second.states.at("main").tokens == whole.states.at("main").tokens);
  CHECK(second.states.at("main").next == whole.states.at("main").next);
  CHECK(same(second.states.at("main").parts.begin()->second, whole.states.at("main").parts.begin()->second));
}

TEST_CASE("a prompt continues a state, with and without a pending token", "[sequence]") {
  const Rows rows = {{3, 1, 4}, {9, 2}}, more = {{5, 6}, {7, 8, 10}};
  for (int64_t before : {0, 1, 3}) {
    Sequence first;
    first.generate = std::max<int64_t>(1, before);
    REQUIRE(first.run(rows));
    if (before == 0) { // as if nothing had been generated
      first.states["main"].pending = false;
      for (Ids &tokens : first.states["main"].tokens)
        tokens.pop_back();
    }
    for (int64_t chunk : {0, 2}) {
      Sequence second;
      second.loaded = first.states;
      second.generate = 3;
      second.chunk = chunk;
      REQUIRE(second.run(more));
      for (size_t b = 0; b < 2; ++b) {
        Ids all = rows[b];
        const Ids generated = before ? first.generated[b].tokens : Ids();
        all.insert(all.end(), generated.begin(), generated.end());
        all.insert(all.end(), more[b].begin(), more[b].end());
        CHECK(second.generated[b].tokens == continuation(all, 3));
      }
    }
  }
}

TEST_CASE("the same seed draws the same tokens, whatever the batch and the padding", "[sequence]") {
  const Ids row = {3, 1, 4, 1, 5};
  Sequence alone;
  alone.generate = 12;
  alone.sampling = {true, 3, 0, 1, 7};
  REQUIRE(alone.run({row}));
  Sequence batch;
  batch.generate = 12;
  batch.sampling = alone.sampling;
  batch.width = 11;
  REQUIRE(batch.run({{9, 2, 2, 2, 2, 2, 2}, row}));
  CHECK(batch.generated[1].tokens == alone.generated[0].tokens);
  Sequence other;
  other.generate = 12;
  other.sampling = {true, 3, 0, 1, 8};
  REQUIRE(other.run({row}));
  CHECK(other.generated[0].tokens != alone.generated[0].tokens);
}

TEST_CASE("a step allocates nothing once memory has grown", "[sequence]") {
  Sequence run;
  run.generate = 60;
  run.sampling = {true, 1, 5, 0.9, 1};
  std::vector<int64_t> newsAtToken;
  newsAtToken.reserve(1000);
  run.atToken = [&] { newsAtToken.push_back(news); };
  REQUIRE(run.run({{3, 1, 4}}));
  CHECK(run.costs.stepAllocations == 0);
  REQUIRE(newsAtToken.size() == 60);
  for (size_t i = 3; i < 60; ++i)
    CHECK(newsAtToken[i] == newsAtToken[2]);
  CHECK(run.costs.growths == 1);

  Sequence longer;
  longer.generate = 140;
  REQUIRE(longer.run({{3, 1, 4}}));
  CHECK(longer.costs.growths == 3); // at 64 and at 128 tokens
  CHECK(longer.costs.stateBytes == 256 * 4);
}

TEST_CASE("NNT1020: a program that cannot generate", "[sequence]") {
  Sequence none;
  none.generate = 2;
  none.manifest.steps = false;
  CHECK_FALSE(none.run({{1}}));
  CHECK(text(none.diags) == "error NNT1020: the program has no entry for generated tokens\n");
  Sequence next;
  next.generate = 2;
  next.manifest.slots.erase(next.manifest.slots.begin() + 5);
  CHECK_FALSE(next.run({{1}}));
  CHECK(text(next.diags) ==
        "error NNT1020: the program has no output \"next\" [rows, vocabulary] to choose tokens from\n");
}
