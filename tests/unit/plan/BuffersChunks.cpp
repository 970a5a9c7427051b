// A prompt in several calls: columns of the padded input, tables of each call, and plans that need one call.
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

/// "past+length" of a row in every call.
std::string windows(const RunInfo &run, const std::string &input, int64_t row) {
  std::string text;
  for (const Call &call : promptCalls(run)) {
    RowWindow window = rowWindow(run, input, row, call);
    text += (text.empty() ? "" : " ") + std::to_string(window.past) + "+" + std::to_string(window.length);
  }
  return text;
}

size_t calls(const Run &r) { return r.buffers->promptCalls().size(); }

} // namespace

TEST_CASE("calls: columns of the widest input, seen as padded on the left", "[plan1]") {
  RunInfo run{{{"x", rowsOf({5, 1}, 7)}, {"y", rowsOf({3, 4})}}, 0, 3, {}};
  std::vector<Call> all = promptCalls(run);
  REQUIRE(all.size() == 3);
  CHECK((all[0].begin == 0 && all[0].end == 3 && all[0].first && !all[0].last));
  CHECK((all[2].begin == 6 && all[2].end == 7 && !all[2].first && all[2].last));
  CHECK(windows(run, "x", 0) == "0+1 1+3 4+1");
  CHECK(windows(run, "x", 1) == "0+0 0+0 0+1");
  CHECK(windows(run, "y", 0) == "0+0 0+2 2+1");
  CHECK(windows(run, "y", 1) == "0+0 0+3 3+1");
  run.chunk = 0;
  CHECK(windows(run, "y", 1) == "0+4");
  Call step;
  step.phase = Phase::gen;
  step.step = 2;
  CHECK(rowWindow(run, "y", 0, step).past == 5);
  CHECK(rowWindow(run, "y", 0, step).length == 1);
}

TEST_CASE("chunks: every call has the positions that are in it", "[plan1]") {
  Run r = run(
      members(
          {R"({"at":"layers[2].layer_output","select":{"seq":[0,-1]},"do":{"add":{"value":"v"}}})",
           R"({"at":"layers[3].self_attn.attention_scores","select":{"key":[0,-1]},"do":{"mask":{}}})",
           R"({"at":"layers[1].linear_attn.state_input","do":{"zero":{}}})",
           R"({"at":"layers[1].linear_attn.state_output","do":{"zero":{}}})",
           R"({"at":"layers[3].self_attn.past_keys","select":{"key":"1:"},"do":{"zero":{}}})"},
          R"("taps":["layers[4].layer_output","layers[7].self_attn.attention_scores","layers[1].linear_attn.state_output"],"values":{"v":{"data":[[1],[2]]}})"),
      mainRows({3, 5}, 0, 2));
  CHECK(r.messages.empty());
  REQUIRE(calls(r) == 3);
  // Columns 0 1 | 2 3 | 4: row 0 has its tokens in 2, 3 and 4.
  CHECK(r.rows("e0.seq") == Rows{{-1, -1}, {0, -1}});
  CHECK(r.rows("e1.key") == Rows{{-1, -1}, {0, -1}});
  CHECK(r.row("e2.batch") == Row{0, 1});
  CHECK(r.row("e3.batch") == Row{-1, -1});
  CHECK(r.rows("t0.seq") == Rows{{-1, -1, -1, -1, -1}, {0, 1, -1, -1, -1}});
  CHECK(r.rows("t1.key") == Rows{{-1, -1, -1, -1, -1}, {0, 1, -1, -1, -1}});
  r.chunk(1);
  CHECK(r.rows("e0.seq") == Rows{{0, -1}, {-1, -1}});
  CHECK(r.rows("e1.key") == Rows{{0, -1, -1, -1}, {0, -1, -1, -1}});
  CHECK(r.rows("e1.query") == Rows{{2, 3}, {2, 3}});
  CHECK(r.row("e2.batch") == Row{-1, -1});
  CHECK(r.rows("t0.seq") == Rows{{-1, -1, 0, 1, -1}, {-1, -1, 0, 1, -1}});
  CHECK(r.rows("t1.query") == r.rows("t0.seq"));
  CHECK(r.rows("t1.key") == Rows{{-1, -1, 0, 1, -1}, {0, 1, 2, 3, -1}});
  CHECK(r.row("t2.batch") == Row{-1, -1});
  r.chunk(2);
  CHECK(r.rows("e0.seq") == Rows{{1}, {1}});
  CHECK(r.rows("e1.key") == Rows{{0, -1, 1, -1, -1}, {0, -1, -1, -1, 1}});
  CHECK(r.row("e3.batch") == Row{0, 1});
  CHECK(r.rows("e4.key") == Rows{{-1, 2, 3, -1, -1}, {-1, 0, 1, 2, 3}});
  CHECK(r.rows("t0.seq") == Rows{{-1, -1, -1, -1, 0}, {-1, -1, -1, -1, 0}});
  CHECK(r.row("t2.batch") == Row{0, 1});
  CHECK(r.tap(0) == Shape{2, 5, 48});
}

TEST_CASE("chunks: behind a loaded state", "[plan1]") {
  Given given = mainRows({1, 3}, 0, 2);
  given.loaded = {{"main", {4, 1}}};
  Run r =
      run(members({R"({"at":"layers[3].self_attn.attention_scores","select":{"key":["prompt[0]"]},"do":{"mask":{}}})",
                   R"({"at":"layers[7].self_attn.attention_scores","do":{"zero":{}}})"}),
          given);
  CHECK(r.rows("e0.query") == Rows{{-1, -1}, {0, 1}}); // columns 1 and 2 of row 1's three
  CHECK(r.rows("e0.key") == Rows{{-1, -1, -1, -1}, {-1, 0, -1, -1}});
  CHECK(r.rows("e1.key") == Rows{{0, 1, 2, 3}, {1, 2, 3, -1}});
  r.chunk(1);
  CHECK(r.rows("e0.query") == Rows{{2}, {2}});
  CHECK(r.rows("e0.key") == Rows{{-1, -1, -1, -1, 0}, {-1, 0, -1, -1, -1}});
  CHECK(r.rows("e1.key") == Rows{{0, 1, 2, 3, 4}, {1, 2, 3, 4, -1}});
}

TEST_CASE("chunks: sources of the same tokens stay in their calls", "[plan1][plan5]") {
  auto chunks = [](const std::string &edit, std::vector<int64_t> lengths = {3, 5}, int64_t generate = 0) {
    Run r = run(members({edit}), mainRows(std::move(lengths), generate, 2));
    REQUIRE(r.buffers);
    CHECK((calls(r) == 3) == r.messages.empty());
    return calls(r);
  };
  auto edit = [](const std::string &seq, const std::string &source, const std::string &at = "layers[2].layer_output") {
    return R"({"at":")" + at + R"(","select":{"seq":)" + seq + R"(},"do":{"add":)" + source + "}}";
  };
  CHECK(chunks(edit(R"("*")", R"({"at":"layers[1].layer_output"})")) == 3);
  CHECK(chunks(edit(R"("*")", R"({"at":"layers[1].layer_output","mean":["batch"]})")) == 3);
  CHECK(chunks(edit(R"("*")", R"({"at":"layers[1].layer_output","mean":["hidden"]})")) == 3);
  CHECK(chunks(edit("[0]", R"({"at":"layers[1].layer_output","mean":["batch"]})")) == 1); // first tokens of two columns
  CHECK(chunks(edit(R"("*")", R"({"at":"layers[1].layer_output","mean":["seq"]})")) == 1);
  CHECK(chunks(edit("-1", R"({"at":"layers[1].layer_output","select":{"seq":-2}})")) == 1);
  CHECK(chunks(edit("-2", R"({"at":"layers[1].layer_output","select":{"seq":-3}})")) == 3); // columns 2 and 3
  CHECK(chunks(edit("-1", R"({"at":"layers[1].layer_output","mean":["seq"]})")) == 3);      // all in the last call
  const std::string state = "layers[1].linear_attn.state_output";
  CHECK(chunks(edit("-1", R"({"at":"layers[0].linear_attn.state_output"})", state)) == 3);
  CHECK(chunks(edit("-1", R"({"at":"layers[0].linear_attn.state_input"})", state)) == 1);
  CHECK(chunks(edit("-1", R"({"at":"layers[0].linear_attn.states","select":{"seq":-1}})", state)) == 3);
  CHECK(chunks(edit("-1", R"({"at":"layers[0].linear_attn.states","select":{"seq":0}})", state)) == 1);
  const std::string cache = "layers[7].self_attn.past_keys";
  CHECK(chunks(edit("-1", R"({"at":"layers[3].self_attn.past_keys"})", cache)) == 3);
  auto pattern = [](const std::string &source) {
    return R"({"at":"layers[7].self_attn.attention_probabilities","select":{"key":[0,-1]},"do":{"replace":{"at":"layers[3].self_attn.attention_probabilities")" +
           source + "}}}";
  };
  CHECK(chunks(pattern("")) == 3);
  CHECK(chunks(pattern(R"(,"select":{"key":"*"},"mean":["key"])")) == 1);
  CHECK(chunks(pattern(R"(,"select":{"key":[-1,0]})")) == 1);
  // What generated tokens read has to be left by the last call.
  CHECK(chunks(edit(R"("gen[*]")", R"({"at":"layers[1].layer_output","select":{"seq":-1}})"), {3, 5}, 3) == 3);
  CHECK(chunks(edit(R"("gen[*]")", R"({"at":"layers[1].layer_output","select":{"seq":-2}})"), {3, 5}, 3) == 1);
}

TEST_CASE("chunks: why a prompt runs as one call", "[plan1]") {
  CHECK(run(members(
                {R"({"at":"layers[2].layer_output","do":{"add":{"at":"layers[1].layer_output","select":{"seq":0}}}})"}),
            mainRows({3, 5}, 0, 2))
            .messages == Messages{"p:2:44: note: this source is read across chunks: the prompt runs as one call"});
  CHECK(
      run(members(
              {R"({"at":"layers[2].layer_output","select":{"seq":"gen[*]"},"do":{"add":{"at":"layers[1].layer_output","select":{"seq":0}}}})"}),
          mainRows({3, 5}, 2, 2))
          .messages == Messages{"p:2:70: note: this source is read by generated tokens and lies before the last "
                                "chunk: the prompt runs as one call"});
  CHECK(run(taps(R"("input_size")"), mainRows({3, 5}, 0, 2)).messages ==
        Messages{"p:2:1: note: input_size is of the whole prompt: the prompt runs as one call"});
}

TEST_CASE("chunks: worlds on inputs of different width", "[plan1]") {
  Run r = run(
      members({R"({"world":"b","at":"layers[2].layer_output","select":{"seq":"-2:"},"do":{"replace":{"world":"a"}}})"},
              R"("worlds":{"a":{"input":"x"},"b":{"input":"y"}},"taps":["logits"])"),
      Given{{{"x", rowsOf({5})}, {"y", rowsOf({3})}}, 0, 3, {}});
  CHECK(r.messages.empty());
  REQUIRE(calls(r) == 2);
  CHECK(r.rows("t0.seq/y") == Rows{{0, -1, -1}}); // columns 2 | 3 4
  CHECK(r.rows("e0.seq/y") == Rows{{-1}});
  r.chunk(1);
  CHECK(r.rows("e0.seq/y") == Rows{{0, 1}});
  CHECK(r.rows("e0.src.seq/x") == Rows{{0, 1}});
  CHECK(r.rows("t0.seq/y") == Rows{{-1, 0, 1}});
  CHECK(r.rows("t0.seq/x") == Rows{{-1, -1, -1, 0, 1}});
}
