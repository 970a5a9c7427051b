// How calls' results make up the tensors of the output file: shapes, calls, steps, masks (spec/plan.md 4 and 7).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("layout: a residual and a state over prompt and generated tokens", "[plan7]") {
  Run r =
      run(taps(R"("layers[1].layer_output","layers[1].linear_attn.state_output","layers[1].linear_attn.state_input",)"
               R"("next_token_probs","layers[3].self_attn.attention_keys","input_size")"),
          Given{{{"main", rowsOf({2, 4}, 6)}}, 4, 0, {}});
  REQUIRE(r.buffers);
  const TapLayout &prompt = r.tap("layers[1].layer_output");
  CHECK(prompt.shape == Shape{2, 6, 48});
  CHECK(prompt.callShape() == Shape{2, 6, 48});
  CHECK(prompt.rows == std::vector<int64_t>{0, 1});
  CHECK_FALSE((prompt.onlyFirst || prompt.onlyLast || prompt.masked));
  CHECK(prompt.stepAxis == -1);
  const TapLayout &gen = r.tap("layers[1].layer_output@gen");
  CHECK(gen.phase == Phase::gen);
  CHECK(gen.shape == Shape{2, 3, 48});
  CHECK(gen.callShape() == Shape{2, 1, 48});
  CHECK((gen.stepAxis == 1 && !gen.newAxis));
  CHECK(gen.steps == std::vector<int64_t>{0, 1, 2});
  const TapLayout &state = r.tap("layers[1].linear_attn.state_output@gen");
  CHECK(state.shape == Shape{2, 3, 6, 16, 24});
  CHECK(state.callShape() == Shape{2, 6, 16, 24});
  CHECK((state.stepAxis == 1 && state.newAxis));
  CHECK(r.tap("layers[1].linear_attn.state_output").onlyLast);
  CHECK(r.tap("layers[1].linear_attn.state_input").onlyFirst);
  CHECK(r.tap("next_token_probs").onlyLast);
  CHECK(r.tap("next_token_probs").shape == Shape{2, 320});
  CHECK(r.tap("next_token_probs@gen").shape == Shape{2, 3, 320});
  CHECK(r.tap("layers[3].self_attn.attention_keys@gen").shape == Shape{2, 2, 3, 32});
  CHECK(r.tap("layers[3].self_attn.attention_keys@gen").stepAxis == 2);
  CHECK(r.tap("input_size").rows.empty());
}

TEST_CASE("layout: selected rows and steps", "[plan4][plan7]") {
  Run r = run(taps(R"({"at":"layers[1].layer_output","select":{"batch":[2,0],"seq":["gen[2,0]","prompt[1:3]"]}},)"
                   R"({"at":"layers[1].linear_attn.conv_state","select":{"seq":"gen[1:]","window":[-1]}})"),
              mainRows({2, 4, 3}, 4));
  CHECK(r.messages.empty());
  CHECK(r.tap("layers[1].layer_output").shape == Shape{2, 2, 48});
  CHECK(r.rows("t0.seq") == Rows{{1, 2}, {-1, 1}});
  CHECK(r.tap("layers[1].layer_output@gen").shape == Shape{2, 2, 48});
  CHECK(r.tap("layers[1].layer_output@gen").steps == std::vector<int64_t>{0, 2}); // in the order of generation
  CHECK(r.tap("layers[1].layer_output@gen").rows == std::vector<int64_t>{2, 0});
  CHECK(r.tap("layers[1].linear_attn.conv_state@gen").shape == Shape{3, 2, 208, 1});
  r.step(0);
  CHECK(r.rows("t0.seq@gen") == Rows{{0}, {0}});
  CHECK(r.row("t1.batch@gen") == Row{-1, -1, -1});
  r.step(1);
  CHECK(r.rows("t0.seq@gen") == Rows{{-1}, {-1}});
  CHECK(r.row("t1.batch@gen") == Row{0, 1, 2});
}

TEST_CASE("layout: patterns have the keys of the whole run", "[plan7]") {
  Run r = run(
      taps(
          R"("layers[3].self_attn.attention_probabilities",)"
          R"({"at":"layers[7].self_attn.attention_probabilities","select":{"key":["gen[1]","prompt[-2:]"],"query":"gen[*]"}})"),
      Given{{{"main", rowsOf({1, 3}, 5)}}, 4, 0, {}});
  CHECK(r.tap("layers[3].self_attn.attention_probabilities").shape == Shape{2, 4, 5, 5});
  // From the longest row's first token on.
  CHECK(r.tap("layers[3].self_attn.attention_probabilities@gen").shape == Shape{2, 4, 3, 6});
  CHECK(r.tap("layers[7].self_attn.attention_probabilities@gen").shape == Shape{2, 4, 3, 3});
  r.step(0);
  CHECK(r.rows("t0.key@gen") == Rows{{-1, -1, 0, 1, -1, -1}, {0, 1, 2, 3, -1, -1}});
  CHECK(r.rows("t1.key@gen") == Rows{{-1, -1, 0}, {-1, 1, 2}});
  r.step(1);
  CHECK(r.rows("t0.key@gen") == Rows{{-1, -1, 0, 1, 2, -1}, {0, 1, 2, 3, 4, -1}});
  CHECK(r.rows("t1.key@gen") == Rows{{-1, 2, 0}, {4, 1, 2}});
  CHECK_FALSE(r.tap("layers[3].self_attn.attention_probabilities").masked);
}

TEST_CASE("layout: scores say where a key comes later than its query", "[plan7]") {
  Given given{{{"main", rowsOf({1, 3}, 4)}}, 3, 0, {}};
  Run r = run(taps(R"("layers[3].self_attn.attention_scores")"), given);
  const TapLayout &prompt = r.tap("layers[3].self_attn.attention_scores");
  CHECK(prompt.masked);
  CHECK(prompt.queries == Rows{{-1, -1, -1, 0}, {-1, 0, 1, 2}});
  CHECK(prompt.keys == prompt.queries);
  const TapLayout &gen = r.tap("layers[3].self_attn.attention_scores@gen");
  CHECK(gen.queries == Rows{{1, 2}, {3, 4}});
  CHECK(gen.keys == Rows{{-1, -1, 0, 1, 2}, {0, 1, 2, 3, 4}});
  // With what was loaded, counted from its first token.
  given.loaded = {{"main", {2, 0}}};
  Run s = run(taps(R"({"at":"layers[3].self_attn.attention_scores","select":{"key":"prompt[0]","query":"*"}})"), given);
  CHECK(s.tap("layers[3].self_attn.attention_scores").queries == Rows{{-1, -1, -1, 2}, {-1, 0, 1, 2}});
  CHECK(s.tap("layers[3].self_attn.attention_scores").keys == Rows{{2}, {0}});
  CHECK(s.tap("layers[3].self_attn.attention_scores@gen").queries == Rows{{3, 4}, {3, 4}});
}

TEST_CASE("layout: caches count from the longest row's first token", "[plan4]") {
  Run r = run(taps(R"("layers[3].self_attn.past_keys",{"at":"layers[3].self_attn.past_values","select":{"key":"1:"}})"),
              Given{{{"main", rowsOf({2, 3}, 6)}}, 3, 0, {}});
  CHECK(r.tap(0) == Shape{2, 2, 3, 32});
  CHECK(r.rows("t0.key") == Rows{{-1, 0, 1}, {0, 1, 2}});
  CHECK(r.tap(1) == Shape{2, 2, 2, 32});
  CHECK(r.rows("t1.key") == Rows{{-1, 1}, {1, 2}});
}

TEST_CASE("layout: a part that selects nothing is not written, and noted only if nothing is", "[plan4]") {
  Run r = run(taps(R"({"at":"logits","select":{"seq":["prompt[7:]","gen[0]"]}},)"
                   R"({"at":"layers[0].layer_mid","select":{"seq":["prompt[0]","gen[9:]"]}},)"
                   R"({"at":"layers[1].layer_mid","select":{"seq":["prompt[7:]","gen[9:]"]}},)"
                   R"({"at":"layers[1].linear_attn.state_output","select":{"seq":"gen[9:]"}})"),
              mainRows({2, 4}, 3));
  CHECK(r.messages ==
        Messages{"p:2:128: note: this tap of layers[1].layer_mid selects nothing in any row and is not written",
                 "p:2:199: note: this tap of layers[1].linear_attn.state_output selects nothing in any row and is not "
                 "written"});
  CHECK(elementCount(r.tap("logits").shape) == 0);
  CHECK(r.tap("logits@gen").shape == Shape{2, 1, 320});
  CHECK(r.tap("layers[0].layer_mid").shape == Shape{2, 1, 48});
  CHECK(r.tap("layers[0].layer_mid@gen").shape == Shape{2, 0, 48});
  CHECK(r.tap("layers[1].linear_attn.state_output@gen").shape == Shape{2, 0, 6, 16, 24});
}
