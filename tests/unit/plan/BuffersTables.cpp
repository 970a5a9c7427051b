// Tables of edits and taps, computed by hand: spec/plan.md 4 (selections, ragged rows, per-row indices, patterns,
// places).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("edit: a range that rows fill differently is right-aligned", "[plan4]") {
  Run r = run(members({R"({"at":"layers[2].layer_output","select":{"seq":"1:4"},"do":{"zero":{}}})"}), {3, 5, 1}, 6);
  CHECK(r.messages.empty());
  CHECK(r.rows("e0.seq") == Rows{{-1, 1, 2, -1, -1}, {-1, 0, 1, 2, -1}, {-1, -1, -1, -1, -1}});
  CHECK_FALSE(r.has("e0.hidden"));
  CHECK_FALSE(r.has("e0.batch"));
  CHECK(r.plan->edits[0].ordinals[0].buffer.empty());
  CHECK(r.plan->edits[0].ordinals[1].perRow);
}

TEST_CASE("edit: without a selection every real token is in the region", "[plan4]") {
  Run r = run(members({R"({"at":"layers[0].layer_mid","do":{"zero":{}}})"}), {2, 4});
  CHECK(r.rows("e0.seq") == Rows{{2, 3, -1, -1}, {0, 1, 2, 3}});
}

TEST_CASE("edit: lists keep their order, each index counts once, negative ones count from the row's end", "[plan4]") {
  Run r = run(
      members(
          {R"({"at":"layers[0].layer_mid","select":{"seq":["prompt[-1]",0,0,"prompt[1,-2]"],"hidden":[5,-1,5,2]},"do":{"zero":{}}})"}),
      {2, 4});
  // row 0: -1 is 1, then 0; 1 and -2 are there already. row 1: 3, 0, 1, 2.
  CHECK(r.rows("e0.seq") == Rows{{3, 2, -1, -1}, {1, 2, 3, 0}});
  Row hidden(48, -1);
  hidden[5] = 0, hidden[47] = 1, hidden[2] = 2;
  CHECK(r.row("e0.hidden") == hidden);
}

TEST_CASE("edit: batch rows that are not chosen count for nothing", "[plan4]") {
  Run r =
      run(members({R"({"at":"layers[0].layer_mid","select":{"batch":[2,0],"seq":"2:"},"do":{"zero":{}}})"}), {3, 9, 5});
  CHECK(r.row("e0.batch") == Row{1, -1, 0});
  CHECK(r.rows("e0.seq") == Rows{{-1, -1, 2, -1, -1, -1, -1, -1, -1}, Row(9, -1), {-1, -1, 0, 1, 2, -1, -1, -1, -1}});
}

TEST_CASE("edit: ranges clip where lists may not", "[plan4]") {
  Run r =
      run(members({R"({"at":"layers[0].linear_attn.betas","select":{"heads":"-2:99","seq":"-3:"},"do":{"zero":{}}})"}),
          {2, 4});
  CHECK(r.messages.empty());
  CHECK(r.row("e0.heads") == Row{-1, -1, -1, -1, 0, 1});
  CHECK(r.rows("e0.seq") == Rows{{1, 2, -1, -1}, {-1, 0, 1, 2}});
}

TEST_CASE("edit: indices per row on tokens and on heads, absent ones left out", "[plan4]") {
  std::string where = "\"taps\":[],\"values\":{\"t\":{\"data\":[[0,-1],[2,-9223372036854775808]]},\"h\":{\"data\":[[3,"
                      "1],[-9223372036854775808,2]]}}";
  Run r = run(
      members(
          {R"({"at":"layers[3].self_attn.attention_premix","select":{"seq":{"value":"t"},"heads":{"value":"h"}},"do":{"zero":{}}})"},
          where),
      {2, 4});
  CHECK(r.messages.empty());
  CHECK(r.rows("e0.seq") == Rows{{0, 1, -1, -1}, {-1, -1, 1, -1}});
  CHECK(r.rows("e0.heads") == Rows{{-1, 1, -1, 0}, {-1, -1, 1, -1}});
  CHECK(r.plan->edits[0].ordinals[2].perRow);
}

TEST_CASE("edit: pattern axes are both counted in real tokens", "[plan4]") {
  Run r = run(
      members({R"({"at":"layers[3].self_attn.attention_scores","select":{"query":"-2:","key":0},"do":{"mask":{}}})"}),
      {2, 3});
  CHECK(r.rows("e0.query") == Rows{{0, 1, -1}, {-1, 0, 1}});
  CHECK(r.rows("e0.key") == Rows{{0, -1, -1}, {0, -1, -1}});
}

TEST_CASE("edit: memory has an axis of tokens and a place", "[plan4]") {
  Run r = run(
      members({R"({"at":"layers[3].self_attn.past_keys","select":{"seq":"prompt[-1]","key":[1]},"do":{"zero":{}}})"}),
      {2, 3});
  CHECK(r.rows("e0.key") == Rows{{-1, 0, -1}, {-1, 0, -1}});
  CHECK_FALSE(r.has("e0.seq"));
}

TEST_CASE("tap: without a selection rows stand at the right of the padded length", "[plan4][plan7]") {
  Run r = run(taps("\"layers[1].layer_output\",{\"at\":\"layers[3].self_attn.attention_probabilities\",\"select\":{"
                   "\"query\":\"*\",\"heads\":[2]}}"),
              {2, 4}, 5);
  CHECK(r.rows("t0.seq") == Rows{{-1, -1, -1, 0, 1}, {-1, 0, 1, 2, 3}});
  CHECK(r.rows("t1.query") == r.rows("t0.seq"));
  CHECK(r.rows("t1.key") == r.rows("t0.seq"));
  CHECK(r.row("t1.heads") == Row{2});
  CHECK(r.tap(0) == Shape{2, 5, 48});
  CHECK(r.tap(1) == Shape{2, 1, 5, 5});
}

TEST_CASE("tap: a selection has the extent of its longest chosen row", "[plan4][plan7]") {
  Run r = run(
      taps(
          R"({"at":"layers[1].layer_output","select":{"seq":"prompt[*]"}},{"at":"logits","select":{"batch":[-1,0],"seq":"1:3","vocab":[7,-1]}})"),
      {2, 4, 3}, 6);
  CHECK(r.rows("t0.seq") == Rows{{-1, -1, 0, 1}, {0, 1, 2, 3}, {-1, 0, 1, 2}});
  CHECK(r.tap(0) == Shape{3, 4, 48});
  CHECK(r.row("t1.batch") == Row{2, 0});
  CHECK(r.rows("t1.seq") == Rows{{1, 2}, {-1, 1}});
  CHECK(r.row("t1.vocab") == Row{7, 319});
  CHECK(r.tap(1) == Shape{2, 2, 2});
}

TEST_CASE("tap: indices per row are gathered right-aligned", "[plan4]") {
  std::string text =
      R"({"nnterp_plan":1,"values":{"h":{"data":[[3,1],[-9223372036854775808,2]]}},"taps":[{"at":"layers[3].self_attn.attention_premix","select":{"heads":{"value":"h"},"seq":-1}}]})";
  Run r = run(text, {2, 4});
  CHECK(r.rows("t0.heads") == Rows{{3, 1}, {-1, 2}});
  CHECK(r.rows("t0.seq") == Rows{{1}, {3}});
  CHECK(r.tap(0) == Shape{2, 1, 2, 32});
}

TEST_CASE("tap: a value without tokens needs no table of them", "[plan4]") {
  Run r = run(
      taps(
          R"("next_token_probs","layers[0].linear_attn.state_output",{"at":"layers[0].linear_attn.conv_state","select":{"seq":-1,"window":"1:"}},"input_size")"),
      {2, 4});
  CHECK(r.messages.empty());
  CHECK(r.tap(0) == Shape{2, 320});
  CHECK(r.tap(1) == Shape{2, 6, 16, 24});
  CHECK(r.tap(2) == Shape{2, 208, 3});
  CHECK(r.row("t2.window") == Row{1, 2, 3});
  CHECK(r.tap(3) == Shape{2});
  // What has a place in the sequence is not in every call: its rows are listed.
  CHECK(r.filled.size() == 3);
  CHECK(r.row("t1.batch") == Row{0, 1});
  CHECK(r.row("t2.batch") == Row{0, 1});
}

TEST_CASE("tap: a part in which no row selects anything is empty, with a note", "[plan4]") {
  Run r = run(taps(R"({"at":"layers[1].layer_output","select":{"seq":"5:9"}})"), {2, 4});
  CHECK(r.messages ==
        Messages{"p:2:1: note: this tap of layers[1].layer_output selects nothing in any row and is not written"});
  CHECK(r.tap(0) == Shape{2, 0, 48});
  // Every row lacks something on another axis.
  Run s = run(
      taps(
          R"({"at":"layers[3].self_attn.attention_scores","select":{"query":"3:","key":{"value":"k"}}}],"values":{"k":{"data":[0,-9223372036854775808]}},"edits":[)"),
      {2, 4});
  CHECK(s.tap(0) == Shape{2, 4, 0, 0});
}

TEST_CASE("numbers and expert lists", "[plan5]") {
  Run r = run(members({R"({"at":"layers[1].layer_mid","do":{"affine":{"scale":0.1,"shift":-2}}})",
                       R"({"at":"layers[2].layer_mid","do":{"clamp":{"max":3}}})",
                       R"({"at":"layers[3].layer_mid","do":{"add":4,"scale":0.5}})",
                       R"({"at":"layers[4].mlp.expert_weights","do":{"drop":{"experts":[1,11]}}})",
                       R"({"at":"layers[5].mlp.router_logits","do":{"force":{"experts":[7,2],"logit":"max"}}})"}),
              {2});
  CHECK(r.floats("e0.c0") == std::vector<float>{0.1f});
  CHECK(r.floats("e0.c1") == std::vector<float>{-2});
  CHECK(r.floats("e1.c0") == std::vector<float>{3});
  CHECK(r.plan->edits[1].hasMax);
  CHECK_FALSE(r.plan->edits[1].hasMin);
  CHECK(r.floats("e2.src") == std::vector<float>{4});
  CHECK(r.floats("e2.c0") == std::vector<float>{0.5});
  CHECK(r.row("e3.experts") == Row{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  CHECK(r.row("e4.experts") == Row{7, 2, -1});
  CHECK(r.plan->edits[4].forceMax);
}

TEST_CASE("every buffer of the specification is filled, with its type and extents, and none besides") {
  Run r = run(
      members(
          {R"({"at":"layers[*].layer_output","select":{"seq":[0],"hidden":"0:3"},"do":{"lerp":{"to":{"at":"layers[=].layer_input","scale":2},"t":0.5}}})",
           R"({"at":"layers[1].mlp.router_logits","select":{"batch":0},"do":{"reroute":{"experts":[3]}}})"}),
      {2, 4});
  REQUIRE(r.buffers);
  CHECK(r.filled.size() == r.plan->buffers.size());
  for (const BufferSpec &spec : r.plan->buffers) {
    INFO(spec.name);
    const Tensor &tensor = r[spec.name];
    CHECK(tensor.dtype == spec.dtype);
    REQUIRE(tensor.shape.size() == spec.dims.size());
    for (size_t i = 0; i < spec.dims.size(); ++i)
      CHECK((spec.dims[i] == BufferSpec::dynamic || spec.dims[i] == tensor.shape[i]));
  }
  CHECK(r.messages == Messages{"p:3:1: note: \"reroute\" touches 2 tokens at layers[1].mlp.router_logits"});
}
