// Errors that depend on lengths, reported before anything is computed: spec/plan.md 4 (Ragged rows) and 5 (Conflicts).
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static Messages messages(const std::vector<std::string> &edits, std::vector<int64_t> lengths,
                         const std::string &rest = "\"taps\":[]") {
  Run r = run(members(edits, rest), std::move(lengths));
  CHECK(r.plan);
  CHECK_FALSE(r.buffers);
  return r.messages;
}

TEST_CASE("NNT0702: indices beyond a row or the batch") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":[0,-4]},"do":{"zero":{}}})"}, {4, 3}) ==
        Messages{"p:2:48: error NNT0702: row 1: index -4 is outside \"seq\" of layers[2].layer_output, which has 3 "
                 "tokens in this row"});
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"batch":2},"do":{"zero":{}}})"}, {4, 3}) ==
        Messages{"p:2:50: error NNT0702: index 2 is outside \"batch\", which has 2 rows"});
  CHECK(messages({R"({"at":"layers[3].self_attn.attention_premix","select":{"heads":{"value":"h"}},"do":{"zero":{}}})"},
                 {4, 1}, R"("taps":[],"values":{"h":{"data":[3,-5]}})") ==
        Messages{"p:2:64: error NNT0702: row 1: index -5 is outside \"heads\" of layers[3].self_attn.attention_premix, "
                 "which has 4 entries"});
}

TEST_CASE("NNT0702: only chosen rows must have an index") {
  CHECK(run(members({R"({"at":"layers[2].layer_output","select":{"seq":3,"batch":0},"do":{"zero":{}}})"}), {4, 3})
            .messages.empty());
}

TEST_CASE("NNT0703: an edit that selects nothing in any row") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":"5:"},"do":{"zero":{}}})"}, {4, 3}) ==
        Messages{"p:2:41: error NNT0703: this edit of layers[2].layer_output selects nothing in any row of this run"});
}

TEST_CASE("NNT0704: a row whose place is missed") {
  CHECK(messages({R"({"at":"layers[2].linear_attn.state_output","select":{"seq":2},"do":{"zero":{}}})"}, {3, 4}) ==
        Messages{"p:2:60: error NNT0704: row 1: layers[2].linear_attn.state_output stands at prompt[-1], which this "
                 "selection lacks"});
  CHECK(messages({R"({"at":"layers[2].linear_attn.state_input","select":{"seq":-3},"do":{"zero":{}}})"}, {3, 4}) ==
        Messages{"p:2:59: error NNT0704: row 1: layers[2].linear_attn.state_input stands at prompt[0], which this "
                 "selection lacks"});
  CHECK(messages({R"({"at":"layers[2].linear_attn.state_input","select":{"seq":-3},"do":{"zero":{}}})"}, {3, 2}) ==
        Messages{"p:2:59: error NNT0702: row 1: index -3 is outside \"seq\" of layers[2].linear_attn.state_input, "
                 "which has 2 tokens in this row"});
}

TEST_CASE("NNT0706: indices for another batch") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":{"value":"v"}},"do":{"zero":{}}})"}, {4, 3},
                 R"("taps":[],"values":{"v":{"data":[0]}})") ==
        Messages{"p:2:48: error NNT0706: value \"v\" has indices for 1 row, the batch has 2 rows"});
}

TEST_CASE("NNT0707: extents of a run that do not fit") {
  std::string v = R"("taps":[],"values":{"v":{"data":[[1,2,3,4,5,6],[1,2,3,4,5,6]]}})";
  CHECK(messages({R"({"at":"layers[2].linear_attn.betas","select":{"seq":"1:"},"do":{"add":{"value":"v"}}})"}, {4, 3},
                 v) == Messages{"p:2:71: error NNT0707: the source has shape [2, 6], which does not fit the region [2, "
                                "3, 6] of layers[2].linear_attn.betas in this run"});
  CHECK(
      messages(
          {R"({"at":"layers[2].layer_output","select":{"batch":"0:2"},"do":{"replace":{"at":"layers[1].layer_output","select":{"batch":"*","seq":0}}}})"},
          {4, 3, 2}) == Messages{"p:2:73: error NNT0707: the source has shape [3, 1, 48], which does not fit the "
                                 "region [2, 4, 48] of layers[2].layer_output in this run"});
}

TEST_CASE("NNT0709: a row with another number of tokens") {
  CHECK(
      messages(
          {R"({"at":"layers[2].layer_output","select":{"seq":"-3:"},"do":{"replace":{"at":"layers[1].layer_output","select":{"seq":"1:4"}}}})"},
          {4, 3}) == Messages{"p:2:71: error NNT0709: row 1: the source has 2 positions on \"seq\", the region has 3 "
                              "on \"seq\"; as many or one would fit"});
  CHECK(
      messages(
          {R"({"at":"layers[1].linear_attn.state_output","do":{"replace":{"at":"layers[0].linear_attn.states","select":{"seq":{"value":"v"}}}}})"},
          {4, 3}, R"("taps":[],"values":{"v":{"data":[1,-9223372036854775808]}})") ==
      Messages{
          "p:2:60: error NNT0709: row 1: the source has 0 tokens of layers[0].linear_attn.states, a State needs one"});
}

TEST_CASE("NNT0717: a row with nothing to average") {
  CHECK(
      messages(
          {R"({"at":"layers[2].layer_output","do":{"replace":{"at":"layers[1].layer_output","select":{"seq":"3:"},"mean":["seq"]}}})"},
          {4, 3}) == Messages{"p:2:48: error NNT0717: row 1: \"mean\" has nothing to average, the source selects "
                              "nothing of layers[1].layer_output"});
}

TEST_CASE("NNT0801: positions that meet in this run only") {
  std::vector<std::string> edits = {R"({"at":"layers[1].layer_mid","select":{"seq":-1},"do":{"zero":{}}})",
                                    R"({"at":"layers[1].layer_mid","select":{"seq":3},"do":{"scale":2}})"};
  CHECK(messages(edits, {5, 4}) ==
        Messages{"p:3:1: error NNT0801: edits[1] (\"scale\") and edits[0] (\"zero\") both set layers[1].layer_mid "
                 "where their selections overlap\n  p:2:1: note: edits[0] is here"});
  CHECK(run(members(edits), {5, 6}).messages.empty());
  // Rows chosen by one edit alone cannot clash.
  CHECK(
      run(members({R"({"at":"layers[1].layer_mid","select":{"batch":0,"seq":-1},"do":{"zero":{}}})", edits[1]}), {5, 4})
          .messages.empty());
}

TEST_CASE("NNT0801: pattern entries meet only up to the query") {
  auto edits = [](const std::string &query, const std::string &key) {
    return members(
        {R"({"at":"layers[3].self_attn.attention_scores","select":{"query":)" + query + R"(},"do":{"zero":{}}})",
         R"({"at":"layers[3].self_attn.attention_scores","select":{"key":)" + key + R"(},"do":{"mask":{}}})"});
  };
  CHECK(run(edits("[0,1]", "[2,3]"), {4}).messages.empty());
  CHECK(run(edits("[0,2]", "[2,3]"), {4}).messages.size() == 1);
}

TEST_CASE("NNT0802, NNT0713: routing in this run") {
  auto force = [](const std::string &seq, const std::string &experts) {
    return R"({"at":"layers[1].mlp.router_logits","select":{"seq":)" + seq + R"(},"do":{"force":{"experts":)" +
           experts + "}}}";
  };
  CHECK(messages({force("[0,-1]", "[1,2]"), force("2", "[2]")}, {3}) ==
        Messages{"p:3:1: error NNT0802: edits[1] (\"force\") and edits[0] (\"force\") both list expert 2 at "
                 "layers[1].mlp.router_logits where their selections overlap\n"
                 "  p:2:1: note: edits[0] is here"});
  CHECK(messages({force("[0,-1]", "[1,2]"), force("2", "[3,4]")}, {3, 5}) ==
        Messages{"p:3:61: error NNT0713: \"force\" edits of layers[1].mlp.router_logits list 4 experts together, at "
                 "most 3 are possible: of 12 experts each token takes 3\n"
                 "  p:2:66: note: edits[0] is here"});
  CHECK(run(members({force("[0,-1]", "[1,2]"), force("2", "[3,4]")}), {4, 5}).messages ==
        Messages{"p:2:1: note: \"force\" touches 4 tokens at layers[1].mlp.router_logits",
                 "p:3:1: note: \"force\" touches 2 tokens at layers[1].mlp.router_logits"});
}

TEST_CASE("routing edits say how many tokens they touch, each entry once") {
  CHECK(run(members({R"({"at":"layers[*].mlp.router_logits","select":{"seq":"2:"},"do":{"reroute":{"experts":[1]}}})"}),
            {3, 5})
            .messages == Messages{"p:2:1: note: \"reroute\" touches 4 tokens in each of 8 blocks"});
}

TEST_CASE("errors of all entries are reported in one go, taps included") {
  Messages all = messages({R"({"at":"layers[2].layer_output","select":{"seq":7},"do":{"zero":{}}})",
                           R"({"at":"layers[4].layer_output","select":{"seq":"7:"},"do":{"zero":{}}})"},
                          {4}, R"("taps":[{"at":"logits","select":{"seq":-9}}])");
  REQUIRE(all.size() == 3);
  CHECK(all[0].find("NNT0702") != std::string::npos);
  CHECK(all[1].find("NNT0703") != std::string::npos);
  CHECK(all[2] ==
        "p:4:40: error NNT0702: row 0: index -9 is outside \"seq\" of logits, which has 4 tokens in this row");
}
