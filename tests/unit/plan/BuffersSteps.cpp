// Tables of calls on generated tokens, computed by hand: positions over the whole run, growing keys, rows that end.
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <new>

using namespace nnterp;

namespace {
int64_t allocations = 0; ///< by operator new; tensors are counted by their memory staying where it is
}
void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t bytes, const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }

TEST_CASE("edit: the prompt and generated tokens are one region", "[plan4][plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[2].layer_output","select":{"seq":["prompt[-2:]","gen[1:3]"]},"do":{"zero":{}}})",
           R"({"at":"layers[2].linear_attn.betas","select":{"seq":["gen[-1]","prompt[*]","gen[0]"]},"do":{"add":{"value":"v"}}})"},
          R"("taps":["logits"],"values":{"v":{"data":[[1],[2],[3],[4],[5]]}})"),
      mainRows({1, 3}, 5));
  CHECK(r.messages.empty());
  CHECK(r.rows("e0.seq") == Rows{{1, -1, -1}, {-1, 0, 1}}); // extent 4: two of the prompt, two generated
  // A value counts the prompt's tokens first, then the generated ones, rows at the right.
  CHECK(r.rows("e1.seq") == Rows{{2, -1, -1}, {0, 1, 2}});
  std::vector<Rows> steps, values;
  for (int64_t step = 0; step < 4; ++step) {
    r.step(step);
    steps.push_back(r.rows("e0.seq@gen"));
    values.push_back(r.rows("e1.seq@gen"));
  }
  CHECK(steps == std::vector<Rows>{{{-1}, {-1}}, {{2}, {2}}, {{3}, {3}}, {{-1}, {-1}}});
  CHECK(values == std::vector<Rows>{{{3}, {3}}, {{-1}, {-1}}, {{-1}, {-1}}, {{4}, {4}}});
}

TEST_CASE("edit: keys grow with every call", "[plan4]") {
  Run r = run(
      members(
          {R"({"at":"layers[3].self_attn.attention_scores","select":{"query":["prompt[1]","gen[0:2]"],"key":["prompt[0]","gen[0,1]"]},"do":{"zero":{}}})",
           R"({"at":"layers[7].self_attn.attention_scores","select":{"query":"gen[*]","key":"*"},"do":{"zero":{}}})",
           R"({"at":"layers[7].self_attn.attention_scores","select":{"query":"prompt[*]"},"do":{"zero":{}}})"}),
      mainRows({2, 3}, 4));
  CHECK(r.messages.empty());
  CHECK(r.rows("e0.query") == Rows{{-1, 0, -1}, {-1, 0, -1}});
  CHECK(r.rows("e0.key") == Rows{{0, -1, -1}, {0, -1, -1}});
  CHECK(r.rows("e2.key") == Rows{{1, 2, -1}, {0, 1, 2}}); // no query of the prompt has a generated key
  r.step(0);
  CHECK(r.rows("e0.query@gen") == Rows{{1}, {1}});
  CHECK(r.rows("e0.key@gen") == Rows{{0, -1, 1, -1}, {0, -1, -1, 1}});
  CHECK(r.rows("e1.key@gen") == Rows{{1, 2, 3, -1}, {0, 1, 2, 3}});
  r.step(1);
  CHECK(r.rows("e0.query@gen") == Rows{{2}, {2}});
  CHECK(r.rows("e0.key@gen") == Rows{{0, -1, 1, 2, -1}, {0, -1, -1, 1, 2}});
  r.step(2);
  CHECK(r.rows("e0.query@gen") == Rows{{-1}, {-1}});
}

TEST_CASE("edit: places of states", "[plan4]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].linear_attn.state_output","select":{"seq":"gen[1:]"},"do":{"zero":{}}})",
           R"({"at":"layers[2].linear_attn.state_output","select":{"seq":["prompt[3]","gen[0]"],"batch":[1,0]},"do":{"zero":{}}})",
           R"({"at":"layers[4].linear_attn.state_input","do":{"zero":{}}})"}),
      mainRows({3, 4, 2}, 3));
  CHECK(r.messages.size() == 1); // row 0 has no token 3
  r = run(
      members(
          {R"({"at":"layers[1].linear_attn.state_output","select":{"seq":"gen[1:]"},"do":{"zero":{}}})",
           R"({"at":"layers[2].linear_attn.state_output","select":{"seq":["prompt[3:]","gen[0]"],"batch":[1,0]},"do":{"zero":{}}})",
           R"({"at":"layers[4].linear_attn.state_input","do":{"zero":{}}})"}),
      mainRows({3, 4, 2}, 3));
  CHECK(r.messages.empty());
  CHECK_FALSE(r.has("e0.batch"));
  CHECK(r.row("e1.batch") == Row{-1, 0, -1}); // only row 1 has its place selected
  CHECK(r.row("e2.batch") == Row{0, 1, 2});
  r.step(0);
  CHECK(r.row("e0.batch@gen") == Row{-1, -1, -1});
  CHECK(r.row("e1.batch@gen") == Row{1, 0, -1});
  CHECK(r.row("e2.batch@gen") == Row{0, 1, 2});
  r.step(1);
  CHECK(r.row("e0.batch@gen") == Row{0, 1, 2});
  CHECK(r.row("e1.batch@gen") == Row{-1, -1, -1});
}

TEST_CASE("loaded tokens stand before the prompt's keys, and only \"*\" means them", "[plan4]") {
  Given given = mainRows({2, 1}, 3);
  given.loaded = {{"main", {1, 3}}};
  Run r = run(
      members(
          {R"({"at":"layers[3].self_attn.attention_scores","select":{"query":"*","key":"prompt[0]"},"do":{"zero":{}}})",
           R"({"at":"layers[7].self_attn.attention_scores","do":{"zero":{}}})"},
          R"("taps":["layers[3].self_attn.past_keys","layers[3].self_attn.attention_probabilities"])"),
      given);
  CHECK(r.messages.empty());
  CHECK(r.rows("e0.query") == Rows{{0, 1}, {1, -1}}); // then two generated ones
  CHECK(r.rows("e0.key") == Rows{{-1, 0, -1, -1}, {-1, -1, -1, 0}});
  CHECK(r.rows("e1.key") == Rows{{1, 2, 3, -1}, {0, 1, 2, 3}});
  CHECK(r.rows("t0.key") == Rows{{-1, 0, 1, 2}, {0, 1, 2, 3}});
  CHECK(r.rows("t1.key") == Rows{{-1, -1, 0, 1, 2}, {-1, 0, 1, 2, 3}});
  CHECK(r.tap(0) == Shape{2, 2, 4, 32});
  CHECK(r.tap(1) == Shape{2, 4, 2, 5});
  CHECK(r.tap(2) == Shape{2, 4, 2, 6});
  r.step(1);
  CHECK(r.rows("e0.key@gen") == Rows{{-1, 0, -1, -1, -1, -1}, {-1, -1, -1, 0, -1, -1}});
  CHECK(r.rows("t1.key@gen") == Rows{{-1, 0, 1, 2, 3, 4}, {0, 1, 2, 3, 4, 5}});
}

TEST_CASE("place: the same generated token elsewhere", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[7].self_attn.attention_probabilities","select":{"query":"gen[1:]","heads":[0]},"do":{"replace":{"at":"layers[3].self_attn.attention_probabilities","select":{"heads":2}}}})",
           R"({"at":"layers[7].self_attn.attention_probabilities","select":{"query":"gen[0]","key":["gen[0]","prompt[1]"],"heads":[0]},"do":{"replace":{"at":"layers[3].self_attn.attention_probabilities","select":{"key":["prompt[0]","gen[*]"]}}}})"}),
      mainRows({2, 3}, 3));
  CHECK(r.messages.empty());
  r.step(0);
  CHECK(r.rows("e0.src.query@gen") == Rows{{-1}, {-1}});
  CHECK(r.rows("e0.src.at.query@gen") == Rows{{-1}, {-1}});
  // Whole lists: prompt[0], gen[0], gen[1]; the last is not there yet.
  CHECK(r.rows("e1.src.key@gen") == Rows{{0, 2, -1}, {0, 3, -1}});
  CHECK(r.rows("e1.src.at.key@gen") == Rows{{-1, 1, 0, -1}, {-1, 1, -1, 0}}); // in the order written
  r.step(1);
  CHECK(r.rows("e0.src.query@gen") == Rows{{0}, {0}});
  CHECK(r.rows("e0.src.at.query@gen") == Rows{{0}, {0}});
  CHECK(r.rows("e0.src.key@gen") == Rows{{-1, 0, 1, 2, 3}, {0, 1, 2, 3, 4}});
  CHECK(r.rows("e0.src.at.key@gen") == Rows{{1, 2, 3, 4, -1}, {0, 1, 2, 3, 4}});
}

TEST_CASE("place: rows that ended", "[plan5][plan7]") {
  std::string text = members(
      {R"({"world":"b","at":"layers[*].layer_output","do":{"replace":{"world":"a"}}})",
       R"({"world":"b","at":"layers[1].linear_attn.state_output","select":{"seq":"gen[*]"},"do":{"replace":{"world":"a"}}})",
       R"({"world":"b","at":"layers[1].layer_mid","select":{"seq":"gen[*]"},"do":{"replace":{"world":"a","select":{"seq":0}}}})",
       R"({"world":"b","at":"layers[2].layer_mid","select":{"seq":"gen[*]"},"do":{"replace":{"world":"a","mean":["batch"]}}})"},
      R"("worlds":{"a":{"input":"x"},"b":{"input":"x"}},"taps":["logits",{"at":"layers[3].self_attn.attention_scores"}])");
  Run r = run(text, Given{{{"x", rowsOf({2, 5})}}, 5, 0, {}});
  CHECK(r.messages.empty());
  r.step(0, {{"a", {false, false}}, {"b", {false, false}}});
  CHECK(r.rows("e0.seq/b@gen") == Rows{{5}, {5}}); // the whole region: five of the prompt, then the generated ones
  CHECK(r.rows("t1.key/a@gen").size() == 2);
  CHECK(r.buffers->unedited() == 0);
  r.step(1, {{"a", {false, true}}, {"b", {false, false}}});
  CHECK(r.rows("e0.seq/b@gen") == Rows{{6}, {-1}});
  CHECK(r.row("e1.batch/b@gen") == Row{0, -1});
  CHECK(r.rows("e2.seq/b@gen") == Rows{{1}, {1}}); // a kept value ends never
  CHECK(r.rows("e3.seq/b@gen") == Rows{{1}, {1}}); // of a mean something is left
  CHECK(r.rows("e0.src.seq/a@gen") == Rows{{0}, {-1}});
  CHECK(r.buffers->unedited() == 2); // blocks of an entry count once
  CHECK(r.rows("t0.seq/a@gen") == Rows{{0}, {-1}});
  CHECK(r.rows("t0.seq/b@gen") == Rows{{0}, {0}});
  r.step(2, {{"a", {true, true}}, {"b", {true, false}}});
  CHECK(r.rows("e0.seq/b@gen") == Rows{{-1}, {-1}});
  CHECK(r.rows("e3.seq/b@gen") == Rows{{-1}, {-1}});
  CHECK(r.buffers->unedited() == 5); // an edited row that ended itself is none
  // A row keeps the keys it had when it ended: row 1 of world a had five and one generated.
  CHECK(r["t1.key/a@gen"].shape == Shape{2, 9});
}

TEST_CASE("decoding fills its tables in place", "[plan4]") {
  Run r = run(
      members(
          {R"({"at":"layers[7].self_attn.attention_probabilities","do":{"lerp":{"to":{"at":"layers[3].self_attn.attention_probabilities"},"t":0.5}}})",
           R"({"at":"layers[2].layer_output","select":{"seq":["prompt[0]","gen[2:5]"]},"do":{"add":1}})"},
          R"("taps":["layers[1].linear_attn.state_output","layers[3].self_attn.attention_scores"])"),
      mainRows({4, 6}, 40));
  REQUIRE(r.buffers);
  r.step(0);
  std::map<std::string, void *> memory;
  for (const auto &[name, tensor] : r.filled)
    memory[name] = tensor.data;
  Call call;
  call.phase = Phase::gen;
  const std::map<std::string, std::vector<bool>> ended = {{"main", {false, true}}};
  int64_t before = allocations;
  for (call.step = 1; call.step < 39; ++call.step)
    r.buffers->fill(call, ended, r.filled);
  CHECK(allocations == before);
  for (const auto &[name, tensor] : r.filled)
    CHECK(tensor.data == memory[name]);
}

// -- errors --

static Messages messages(const std::vector<std::string> &edits, std::vector<int64_t> lengths, int64_t generate) {
  Run r = run(members(edits), mainRows(std::move(lengths), generate));
  CHECK(r.plan);
  CHECK_FALSE(r.buffers);
  return r.messages;
}

TEST_CASE("NNT0702: generated tokens beyond the run") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":"gen[3]"},"do":{"zero":{}}})"}, {4}, 4) ==
        Messages{"p:2:48: error NNT0702: gen[3] is outside \"seq\" of layers[2].layer_output: this run feeds 3 "
                 "generated tokens back"});
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":["prompt[0]","gen[0]"]},"do":{"zero":{}}})"}, {4},
                 1) ==
        Messages{"p:2:48: error NNT0702: gen[0] is outside \"seq\" of layers[2].layer_output: this run feeds 0 "
                 "generated tokens back"});
  CHECK(messages({R"({"at":"layers[2].linear_attn.state_output","select":{"seq":"gen[-3]"},"do":{"zero":{}}})"}, {4},
                 3) ==
        Messages{"p:2:60: error NNT0702: gen[-3] is outside \"seq\" of layers[2].linear_attn.state_output: this run "
                 "feeds 2 generated tokens back"});
  CHECK(
      run(members({R"({"at":"layers[2].layer_output","select":{"seq":"gen[-3]"},"do":{"zero":{}}})"}), mainRows({4}, 4))
          .messages.empty());
}

TEST_CASE("NNT0703: an edit at generated tokens that this run lacks") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":"gen[5:]"},"do":{"zero":{}}})"}, {4}, 4) ==
        Messages{"p:2:41: error NNT0703: this edit of layers[2].layer_output selects nothing in any row of this run"});
  CHECK(
      messages(
          {R"({"at":"layers[3].self_attn.attention_scores","select":{"query":"prompt[*]","key":"gen[0]"},"do":{"zero":{}}})"},
          {4}, 4)
          .size() == 1);
  // One part may be empty.
  CHECK(run(members({R"({"at":"layers[2].layer_output","select":{"seq":["prompt[9:]","gen[0]"]},"do":{"zero":{}}})"}),
            mainRows({4}, 4))
            .messages.empty());
}

TEST_CASE("NNT0709: a source that lacks a generated token, or keys") {
  CHECK(
      messages(
          {R"({"at":"layers[2].layer_output","select":{"seq":"gen[*]"},"do":{"replace":{"at":"layers[1].layer_output","select":{"seq":["prompt[0]","gen[0:2]"]}}}})"},
          {4}, 4) == Messages{"p:2:74: error NNT0709: row 0, gen[2]: the region has this token, the source selects "
                              "none of layers[1].layer_output there"});
  CHECK(
      messages(
          {R"({"at":"layers[2].layer_output","select":{"seq":"gen[*]"},"do":{"replace":{"at":"layers[1].layer_output","select":{"seq":"1:3"}}}})"},
          {4}, 4) == Messages{"p:2:74: error NNT0709: row 0: the source has 2 positions on \"seq\", the region has 1 "
                              "on \"seq\"; as many or one would fit"});
  CHECK(
      messages(
          {R"({"at":"layers[7].self_attn.attention_probabilities","select":{"query":"gen[*]"},"do":{"replace":{"at":"layers[3].self_attn.attention_probabilities","select":{"key":"prompt[*]"}}}})"},
          {4}, 4) == Messages{"p:2:97: error NNT0709: row 0, gen[0]: the source has 4 positions on \"key\", the region "
                              "has 5 on \"key\"; as many or one would fit"});
}

TEST_CASE("NNT0707: a value is aligned with the region over the whole run") {
  std::string values = R"("taps":[],"values":{"v":{"data":[[1],[2],[3],[4]]}})";
  std::string edit = R"({"at":"layers[2].linear_attn.betas","do":{"add":{"value":"v"}}})";
  CHECK(run(members({edit}, values), mainRows({2}, 3)).messages.empty());
  CHECK(run(members({edit}, values), mainRows({4}, 3)).messages ==
        Messages{"p:2:49: error NNT0707: the source has shape [4, 1], which does not fit the region [1, 6, 6] of "
                 "layers[2].linear_attn.betas in this run"});
}

TEST_CASE("NNT0717: a mean over keys that are not there yet") {
  CHECK(
      messages(
          {R"({"at":"layers[7].self_attn.attention_probabilities","select":{"query":"gen[*]"},"do":{"replace":{"at":"layers[3].self_attn.attention_probabilities","select":{"key":"gen[1:]"},"mean":["key"]}}})"},
          {4}, 4) == Messages{"p:2:97: error NNT0717: row 0: \"mean\" has nothing to average, the source selects "
                              "nothing of layers[3].self_attn.attention_probabilities"});
}

TEST_CASE("NNT0801: generated tokens that meet in this run only") {
  auto edits = [](const std::string &a, const std::string &b, const std::string &at) {
    auto edit = [&](const std::string &select) {
      return R"({"at":")" + at + R"(","select":)" + select + R"(,"do":{"zero":{}}})";
    };
    return std::vector<std::string>{edit(a), edit(b)};
  };
  auto conflict = [&](const std::string &a, const std::string &b, int64_t generate,
                      const std::string &at = "layers[1].layer_mid") {
    return run(members(edits(a, b, at)), mainRows({3}, generate)).messages.size() == 1;
  };
  CHECK(messages(edits(R"({"seq":"gen[-1]"})", R"({"seq":"gen[1]"})", "layers[1].layer_mid"), {3}, 3) ==
        Messages{"p:3:1: error NNT0801: edits[1] (\"zero\") and edits[0] (\"zero\") both set layers[1].layer_mid where "
                 "their selections overlap\n  p:2:1: note: edits[0] is here"});
  CHECK_FALSE(conflict(R"({"seq":"gen[-1]"})", R"({"seq":"gen[1]"})", 4));
  CHECK_FALSE(conflict(R"({"seq":["prompt[-1]","gen[0]"]})", R"({"seq":["prompt[0]","gen[1]"]})", 3));
  const std::string state = "layers[1].linear_attn.state_output", scores = "layers[3].self_attn.attention_scores";
  CHECK(conflict(R"({"seq":"gen[1:]"})", R"({"seq":"gen[0:2]"})", 4, state));
  CHECK_FALSE(conflict(R"({"seq":"gen[1:]"})", R"({"seq":"prompt[-1]"})", 4, state));
  CHECK_FALSE(conflict(R"({"seq":["prompt[0:]","gen[0]"]})", R"({"seq":"gen[1:]"})", 4, state));
  CHECK(conflict(R"({"query":"gen[2:]"})", R"({"key":"gen[2]"})", 4, scores));
  CHECK_FALSE(conflict(R"({"query":"gen[0:2]"})", R"({"key":"gen[2]"})", 4, scores));
}

TEST_CASE("NNT0713: routing at generated tokens; how many tokens are touched at most") {
  auto force = [](const std::string &seq, const std::string &experts) {
    return R"({"at":"layers[1].mlp.router_logits","select":{"seq":)" + seq + R"(},"do":{"force":{"experts":)" +
           experts + "}}}";
  };
  CHECK(messages({force(R"("gen[-1]")", "[1,2]"), force(R"("gen[1:]")", "[3,4]")}, {3}, 3).size() == 1);
  CHECK(run(members({force(R"("gen[0]")", "[1,2]"), force(R"(["prompt[*]","gen[1:]"])", "[3,4]")}), mainRows({2, 3}, 3))
            .messages == Messages{"p:2:1: note: \"force\" touches up to 2 tokens at layers[1].mlp.router_logits",
                                  "p:3:1: note: \"force\" touches up to 7 tokens at layers[1].mlp.router_logits"});
}
