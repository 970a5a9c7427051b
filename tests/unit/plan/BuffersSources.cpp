// How an edit's positions find the entries of its source, computed by hand: spec/plan.md 5 (SRC).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static const SourceSpec &source(const Run &r, size_t edit = 0) { return r.plan->edits[edit].sources.at(0); }

TEST_CASE("value: a vector broadcasts, scaled in float32", "[plan5]") {
  Run r = run(members({R"({"at":"layers[2].linear_attn.betas","do":{"add":{"value":"v","scale":0.1}}})"},
                      R"("taps":[],"values":{"v":{"data":[1,2,3,4,5,6]}})"),
              {2});
  CHECK(r.floats("e0.src") == std::vector<float>{0.1f * 1, 0.1f * 2, 0.1f * 3, 0.1f * 4, 0.1f * 5, 0.1f * 6});
  CHECK(source(r).axes.size() == 1);
  CHECK_FALSE(source(r).axes[0].broadcast);
  CHECK(source(r).axes[0].table.buffer.empty());
  CHECK(source(r).scale.empty());
}

TEST_CASE("value: an axis of tokens is aligned as the region is", "[plan4][plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[2].linear_attn.betas","select":{"seq":"1:4","heads":[4,2]},"do":{"replace":{"value":"v"}}})"},
          R"("taps":[],"values":{"v":{"data":[[1,2],[3,4],[5,6]]}})"),
      {3, 5});
  // A short row takes the value's last entries: the edit's own ordinals are the indices.
  CHECK(source(r).axes[0].table.buffer == "e0.seq");
  CHECK(source(r).axes[0].table.perRow);
  CHECK(source(r).axes[1].table.buffer == "e0.heads");
  CHECK(r.rows("e0.seq") == Rows{{-1, 1, 2, -1, -1}, {-1, 0, 1, 2, -1}});
  CHECK(r.row("e0.heads") == Row{-1, -1, 1, -1, 0, -1});
}

TEST_CASE("value: axes of size 1 broadcast", "[plan5]") {
  Run r = run(members({R"({"at":"layers[2].linear_attn.betas","select":{"heads":[4,2]},"do":{"scale":{"value":"v"}}})"},
                      R"("taps":[],"values":{"v":{"data":[[[1],[2]]]}})"),
              {2});
  CHECK(source(r).axes[0].broadcast);
  CHECK(source(r).axes[1].table.buffer == "e0.seq");
  CHECK(source(r).axes[2].broadcast);
}

TEST_CASE("place: the same region elsewhere", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[4:6].layer_output","select":{"seq":"1:3"},"do":{"replace":{"at":"layers[=].layer_input","scale":3}}})"}),
      {2, 4});
  CHECK(r.plan->edits.size() == 2);
  CHECK(source(r, 0).place.point == "layers[4].layer_input");
  CHECK(source(r, 1).place.point == "layers[5].layer_input");
  CHECK(source(r, 0).place.tables[1].buffer == "e0.src.seq");
  CHECK(source(r, 1).place.tables[1].buffer == "e0.src.seq");
  CHECK(r.rows("e0.src.seq") == Rows{{-1, 1}, {1, 2}});
  CHECK(r.rows("e0.src.at.seq") == Rows{{-1, 1, -1, -1}, {-1, 0, 1, -1}});
  CHECK(source(r).axes[0].table.buffer.empty());
  CHECK(source(r).axes[1].table.buffer == "e0.src.at.seq");
  CHECK(source(r).axes[2].table.buffer.empty());
  CHECK(r.floats("e0.scale") == std::vector<float>{3});
}

TEST_CASE("place: one position serves all, row by row", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].layer_output","select":{"seq":"2:"},"do":{"replace":{"at":"layers[1].layer_output","when":"before","select":{"seq":[0]}}}})"}),
      {3, 4});
  CHECK(r.rows("e0.src.seq") == Rows{{0}, {0}});
  CHECK(r.rows("e0.src.at.seq") == Rows{{-1, -1, 0, -1}, {-1, -1, 0, 0}});
  CHECK(source(r).place.when == When::before);
  // Rows may differ in how they fit: one entry in the first, as many as wanted in the second.
  Run s = run(
      members(
          {R"({"at":"layers[1].layer_output","select":{"seq":"2:5"},"do":{"replace":{"at":"layers[0].layer_output","select":{"seq":"3:6"}}}})"}),
      {4, 6});
  CHECK(s.rows("e0.src.seq") == Rows{{-1, -1, 3}, {3, 4, 5}});
  CHECK(s.rows("e0.src.at.seq") == Rows{{-1, -1, 2, 2, -1, -1}, {-1, -1, 0, 1, 2, -1}});
}

TEST_CASE("place: \"*\" undoes an inherited key", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].linear_attn.betas","select":{"seq":[1,3],"heads":[2]},"do":{"replace":{"at":"layers[0].linear_attn.betas","select":{"heads":"*","seq":-1},"mean":["heads"]}}})"}),
      {4, 5});
  CHECK(source(r).place.tables[2].buffer.empty());
  CHECK(source(r).place.meanAxes == std::vector<int64_t>{2});
  CHECK(source(r).axes[2].broadcast);
  CHECK(r.rows("e0.src.seq") == Rows{{3}, {4}});
}

TEST_CASE("place: the source of one batch row, and of rows in another order", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].layer_output","select":{"seq":0},"do":{"replace":{"at":"layers[0].layer_output","select":{"batch":1}}}})"}),
      {2, 3, 4});
  CHECK(r.row("e0.src.batch") == Row{1});
  CHECK(r.row("e0.src.at.batch") == Row{0, 0, 0});
  CHECK(r.rows("e0.src.seq") == Rows{{0}});
  CHECK(r.rows("e0.src.at.seq") == Rows{{0, -1, -1, -1}, {0, -1, -1, -1}, {0, -1, -1, -1}});
  Run s = run(
      members(
          {R"({"at":"layers[1].layer_output","select":{"batch":[0,2],"seq":-1},"do":{"replace":{"at":"layers[0].layer_output","select":{"batch":[2,1]}}}})"}),
      {2, 3, 4});
  CHECK(s.row("e0.batch") == Row{0, -1, 1});
  CHECK(s.row("e0.src.batch") == Row{2, 1});
  CHECK(s.row("e0.src.at.batch") == Row{0, -1, 1});
  CHECK(s.rows("e0.src.seq") == Rows{{3}, {2}});
  CHECK(s.rows("e0.src.at.seq") == Rows{{-1, 0, -1, -1}, Row(4, -1), {-1, -1, -1, 0}});
}

TEST_CASE("place: means over tokens, rows and both", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[3].layer_output","select":{"seq":"1:"},"do":{"replace":{"at":"layers[3].layer_output","when":"before","select":{"seq":"prompt[*]"},"mean":["seq"]}}})",
           R"({"at":"layers[4].layer_output","select":{"seq":"-2:"},"do":{"replace":{"at":"layers[3].layer_output","mean":["batch"]}}})",
           R"({"at":"layers[5].layer_output","do":{"replace":{"at":"layers[3].layer_output","mean":["seq","batch"]}}})"}),
      {1, 3});
  CHECK(r.messages.empty());
  CHECK(r.rows("e0.src.seq") == Rows{{-1, -1, 0}, {0, 1, 2}});
  CHECK(source(r, 0).axes[1].broadcast);
  CHECK_FALSE(r.has("e0.src.at.seq"));
  // Averaged over the batch, places count from the right, as the rows were aligned when they were averaged.
  CHECK(source(r, 1).axes[0].broadcast);
  CHECK(r.rows("e1.src.seq") == Rows{{-1, 0}, {1, 2}});
  CHECK(r.rows("e1.src.at.seq") == Rows{{1, -1, -1}, {-1, 0, 1}});
  CHECK(source(r, 2).place.meanAxes == std::vector<int64_t>{0, 1});
}

TEST_CASE("place: a pattern from another block", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[7].self_attn.attention_probabilities","select":{"heads":[0,1],"query":-1},"do":{"replace":{"at":"layers[3].self_attn.attention_probabilities","select":{"heads":2}}}})"}),
      {2, 3});
  CHECK(r.rows("e0.src.query") == Rows{{1}, {2}});
  CHECK(r.rows("e0.src.key") == Rows{{-1, 0, 1}, {0, 1, 2}});
  CHECK(r.row("e0.src.heads") == Row{2});
  CHECK(r.row("e0.src.at.heads") == Row{0, 0, -1, -1});
  CHECK(r.rows("e0.src.at.query") == Rows{{-1, 0, -1}, {-1, -1, 0}});
  CHECK(r.rows("e0.src.at.key") == Rows{{1, 2, -1}, {0, 1, 2}});
}

TEST_CASE("place: a State from the states of one token", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].linear_attn.state_output","select":{"heads":[1,4]},"do":{"replace":{"at":"layers[0].linear_attn.state","select":{"seq":-2}}}})"}),
      {2, 3});
  CHECK(r.messages.empty());
  CHECK(source(r).squeezeSeq);
  CHECK(source(r).place.point == "layers[0].linear_attn.states");
  CHECK(source(r).axes.size() == 4);
  CHECK(r.rows("e0.src.seq") == Rows{{0}, {1}});
  CHECK(r.row("e0.src.heads") == Row{1, 4});
  CHECK(source(r).axes[1].table.buffer == "e0.src.at.heads");
  CHECK(r.row("e0.src.at.heads") == Row{-1, 0, -1, -1, 1, -1});
  CHECK_FALSE(r.has("e0.src.at.seq"));
}

TEST_CASE("place: every entry of an axis from one listed, and the other way round", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].linear_attn.betas","do":{"replace":{"at":"layers[0].linear_attn.betas","select":{"heads":3}}}})",
           R"({"at":"layers[2].linear_attn.betas","select":{"heads":[5,0,1,2,3,4]},"do":{"replace":{"at":"layers[0].linear_attn.betas","select":{"heads":"*"}}}})"}),
      {1});
  CHECK(r.row("e0.src.at.heads") == Row{0, 0, 0, 0, 0, 0});
  CHECK(source(r, 1).axes[2].table.buffer == "e1.heads");
  CHECK(r.row("e1.heads") == Row{1, 2, 3, 4, 5, 0});
}
