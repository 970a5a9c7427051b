// Plans with worlds: which edits each has, what is shared by inputs, and keys of outputs (spec/plan.md 2, 5, 7).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

/// Worlds a and b on the input x, c on y; edits from line 2 on.
std::string worlds(const std::vector<std::string> &edits, const std::string &taps = "") {
  return members(edits, R"("worlds":{"a":{"input":"x"},"b":{"input":"x"},"c":{"input":"y"}},"taps":[)" + taps + "]");
}

Given rows(std::vector<int64_t> x, std::vector<int64_t> y, int64_t generate = 0, int64_t chunk = 0) {
  return {{{"x", rowsOf(std::move(x))}, {"y", rowsOf(std::move(y))}}, generate, chunk, {}};
}

/// Names of the buffers of edits.
std::vector<std::string> names(const Run &r) {
  REQUIRE(r.plan);
  std::vector<std::string> result;
  for (const BufferSpec &buffer : r.plan->buffers)
    if (buffer.name[0] == 'e')
      result.push_back(buffer.name);
  std::sort(result.begin(), result.end());
  return result;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("an edit stands once in each of its worlds", "[plan2]") {
  Run r = run(worlds({R"({"world":"*","at":"layers[3].layer_output","do":{"add":1}})",
                      R"({"world":["c","a"],"at":"layers[2].layer_output","do":{"zero":{}}})"}),
              Given());
  REQUIRE(r.plan);
  CHECK(r.plan->declaresWorlds);
  CHECK(r.plan->prefix("b") == "b/");
  std::vector<std::pair<std::string, size_t>> order;
  for (const EditSpec &edit : r.plan->edits)
    order.push_back({edit.world, edit.entry});
  CHECK(order == std::vector<std::pair<std::string, size_t>>{{"a", 1}, {"a", 0}, {"b", 0}, {"c", 1}, {"c", 0}});
}

TEST_CASE("worlds on one input read the same buffers on the prompt, their own afterwards", "[structure]") {
  Run r = run(
      worlds({R"({"world":"*","at":"layers[3].self_attn.attention_premix","select":{"heads":[1]},"do":{"add":1}})"}),
      rows({2}, {3}, 3));
  CHECK(names(r) == Names{"e0.c0", "e0.c0@gen", "e0.heads", "e0.heads@gen", "e0.seq/a@gen", "e0.seq/b@gen",
                          "e0.seq/c@gen", "e0.seq/x", "e0.seq/y", "e0.src", "e0.src@gen"});
  CHECK(r.edit(0, Phase::prompt, "a").ordinals[1].buffer == r.edit(0, Phase::prompt, "b").ordinals[1].buffer);
  CHECK(r.rows("e0.seq/x") == Rows{{0, 1}});
  CHECK(r.rows("e0.seq/y") == Rows{{0, 1, 2}});
}

TEST_CASE("indices per row and chosen rows belong to an input", "[structure]") {
  Run s = run(
      members(
          {R"({"world":"*","at":"layers[3].self_attn.attention_premix","select":{"heads":{"value":"h"},"batch":[0]},"do":{"zero":{}}})"},
          R"("worlds":{"a":{"input":"x"}},"taps":[],"values":{"h":{"data":[1,2]}})"),
      Given());
  CHECK(names(s) == Names{"e0.batch/x", "e0.heads/x", "e0.seq/x"});
}

TEST_CASE("keys begin with the world", "[plan7]") {
  Run r =
      run(worlds({}, R"({"at":"logits","world":["c","a"]},{"at":"layers[0].layer_mid","as":"m","world":"b"},"tokens")"),
          rows({2}, {3}, 2));
  REQUIRE(r.plan);
  std::vector<std::string> keys;
  for (const TapSpec &tap : r.plan->taps)
    keys.push_back(tap.key);
  CHECK(keys == Names{"a/logits", "a/logits@gen", "c/logits", "c/logits@gen", "b/m", "b/m@gen"});
  CHECK(r.plan->tokenKeys ==
        std::map<std::string, std::string>{{"a", "a/tokens"}, {"b", "b/tokens"}, {"c", "c/tokens"}});
  CHECK(r.tap("c/logits").shape == Shape{1, 3, 320});
  CHECK(r.tap("c/logits").world == "c");
  // Two taps of one name in different worlds do not meet.
  CHECK(run(worlds({}, R"({"at":"logits","world":"a"},{"at":"logits","select":{"seq":0},"world":"b"})"), Given())
            .messages.empty());
}

TEST_CASE("sources from another world: tables by both inputs", "[plan5]") {
  Run r = run(
      worlds(
          {R"({"world":["a","b"],"at":"layers[2].layer_output","select":{"seq":"-2:"},"do":{"replace":{"world":"c"}}})",
           R"({"world":"a","at":"layers[4].layer_output","do":{"replace":{"world":"b"}}})"}),
      rows({3, 4}, {5, 2}));
  CHECK(r.messages.empty());
  const SourceSpec &source = r.edit(0, Phase::prompt, "b").sources[0];
  CHECK(source.place.world == "c");
  CHECK(source.place.tables[1].buffer == "e0.src.seq/y");
  CHECK(source.axes[0].table.buffer == "e0.src.at.batch/x"); // another input may have one row
  CHECK(source.axes[1].table.buffer == "e0.src.at.seq/x");
  CHECK(r.rows("e0.src.seq/y") == Rows{{3, 4}, {0, 1}});
  CHECK(r.row("e0.src.at.batch/x") == Row{0, 1});
  CHECK(r.rows("e0.src.at.seq/x") == Rows{{-1, 0, 1, -1}, {-1, -1, 0, 1}});
  // On one input rows are the same, whatever their number.
  CHECK(r.edit(1, Phase::prompt, "a").sources[0].axes[0].table.buffer.empty());
}

TEST_CASE("a source world of one row serves every row", "[plan5]") {
  Run r = run(
      worlds(
          {R"({"world":"a","at":"layers[2].layer_output","select":{"seq":[0,-1]},"do":{"replace":{"world":"c","select":{"seq":1}}}})"}),
      rows({3, 4}, {5}));
  CHECK(r.messages.empty());
  CHECK(r.row("e0.src.at.batch/x") == Row{0, 0});
  CHECK(r.rows("e0.src.at.seq/x") == Rows{{0, -1, 0, -1}, {0, -1, -1, 0}});
}

TEST_CASE("kept sources are shared by the worlds that read them", "[plan5]") {
  Run r = run(
      worlds(
          {R"({"world":["a","b"],"at":"layers[2].layer_output","select":{"seq":"gen[*]"},"do":{"add":{"world":"c","select":{"seq":"prompt[-1]"}}}})"}),
      rows({3, 4}, {5, 2}, 4));
  REQUIRE(r.buffers);
  REQUIRE(r.plan->keeps.size() == 1);
  CHECK(r.plan->keeps[0].name == "e0.kept/c/layers[2].layer_output");
  CHECK(r.plan->keeps[0].gather.world == "c");
  CHECK(r.rows("e0.src.seq/y") == Rows{{4}, {1}});
  CHECK(r.buffers->keeps() == std::map<std::string, Shape>{{"e0.kept/c/layers[2].layer_output", {2, 1, 48}}});
  r.step(1);
  CHECK(r.rows("e0.seq/b@gen") == Rows{{1}, {1}});
  CHECK(r.rows("e0.src.at.seq/b@gen") == Rows{{0}, {0}});
}

TEST_CASE("worlds that read each other are no cycle in the text", "[plan5]") {
  CHECK(run(worlds({R"({"world":"a","at":"layers[2].layer_output","do":{"replace":{"world":"b"}}})"}), Given())
            .messages.empty());
  CHECK(run(worlds({R"({"world":"a","at":"layers[2].layer_output","do":{"replace":{"world":"a"}}})"}), Given())
            .messages.size() == 1);
}

TEST_CASE("NNT0801: edits conflict within a world", "[plan5]") {
  std::string zero = R"(,"at":"layers[2].layer_output","do":{"zero":{}}})";
  CHECK(run(worlds({R"({"world":"a")" + zero, R"({"world":["b","c"])" + zero}), Given()).messages.empty());
  CHECK(run(worlds({R"({"world":"a")" + zero, R"({"world":"*")" + zero}), Given()).messages ==
        Messages{"p:3:1: error NNT0801: edits[1] (\"zero\") and edits[0] (\"zero\") both set layers[2].layer_output "
                 "where their selections overlap\n  p:2:1: note: edits[0] is here"});
}

TEST_CASE("NNT0707: batches of two worlds are equal, or the source has one row") {
  CHECK(run(worlds({R"({"world":"a","at":"layers[2].layer_output","do":{"replace":{"world":"c"}}})"}),
            rows({3, 3}, {3, 3, 3}))
            .messages ==
        Messages{"p:2:60: error NNT0707: the source has shape [3, 3, 48], which does not fit the region [2, 3, 48] of "
                 "layers[2].layer_output in this run"});
}

TEST_CASE("NNT0709, NNT0702: messages name the input") {
  CHECK(run(worlds({R"({"world":"a","at":"layers[2].layer_output","do":{"replace":{"world":"c"}}})"}),
            rows({3, 3}, {3, 4}))
            .messages ==
        Messages{"p:2:60: error NNT0709: row 1 of input \"x\": the source has 4 positions on \"seq\", the region has 3 "
                 "on \"seq\"; as many or one would fit"});
  CHECK(run(worlds({R"({"world":"*","at":"layers[2].layer_output","select":{"seq":3},"do":{"zero":{}}})"}),
            rows({4}, {3}))
            .messages ==
        Messages{"p:2:60: error NNT0702: row 0 of input \"y\": index 3 is outside \"seq\" of layers[2].layer_output, "
                 "which has 3 tokens in this row"});
}

TEST_CASE("NNT0720: worlds on one input start from equally long states") {
  Given given = rows({2, 2}, {3});
  given.loaded = {{"a", {4, 4}}, {"b", {4, 5}}};
  CHECK(run(worlds({}), given).messages ==
        Messages{"p:2:29: error NNT0720: row 1: world \"b\" starts from a state of 5 tokens, world \"a\", on the same "
                 "input, from one of 4"});
}

TEST_CASE("structure: worlds, their inputs and what they read", "[structure]") {
  auto structure = [](const std::string &worlds, const std::string &edit) {
    Run r = run(members({edit}, "\"taps\":[\"logits\"]," + worlds), Given());
    REQUIRE(r.plan);
    return r.plan->structure();
  };
  std::string two = R"("worlds":{"a":{"input":"x"},"b":{"input":"x"}})";
  auto from = [](const std::string &world, const std::string &source) {
    return R"({"world":")" + world + R"(","at":"layers[2].layer_output","do":{"replace":{"world":")" + source +
           R"(","at":"layers[1].layer_output"}}})";
  };
  std::vector<std::string> all = {
      structure(two, from("a", "b")),
      structure(two, from("a", "a")),
      structure(two, from("b", "b")),
      structure(R"("worlds":{"a":{"input":"x"},"b":{"input":"y"}})", from("a", "b")),
      structure(R"("worlds":{"a":{"input":"x"},"b":{"input":"x"},"c":{"input":"x"}})", from("a", "b")),
      structure(R"("worlds":{"main":{"input":"main"}})", from("main", "main")),
      structure(R"("values":{})",
                R"({"at":"layers[2].layer_output","do":{"replace":{"at":"layers[1].layer_output"}}})")};
  std::sort(all.begin(), all.end());
  CHECK(std::unique(all.begin(), all.end()) == all.end());
}
