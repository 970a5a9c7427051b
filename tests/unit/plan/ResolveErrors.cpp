// Errors that a plan's text and the model decide, one per code with its exact message, and where errors must not be.
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static Messages messages(const std::vector<std::string> &edits, const std::string &rest = "\"taps\":[]") {
  return run(members(edits, rest)).messages;
}

TEST_CASE("NNT0701: an axis the layout does not have") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"heads":0},"do":{"zero":{}}})"}) ==
        Messages{"p:2:50: error NNT0701: layers[2].layer_output (Residual) has no axis \"heads\"; its axes are batch, "
                 "seq, hidden"});
  CHECK(run(taps(R"({"at":"next_token_probs","select":{"seq":0}})")).messages ==
        Messages{
            "p:2:42: error NNT0701: next_token_probs (NextTokenProbs) has no axis \"seq\"; its axes are batch, vocab"});
  CHECK(
      messages({R"({"at":"layers[2].layer_output","do":{"add":{"at":"layers[1].layer_output","mean":["heads"]}}})"}) ==
      Messages{"p:2:44: error NNT0701: layers[1].layer_output (Residual) has no axis \"heads\" to average; its axes "
               "are batch, seq, hidden"});
}

TEST_CASE("NNT0702: an index beyond a static axis") {
  CHECK(messages({R"({"at":"layers[1].linear_attn.betas","select":{"heads":[0,6]},"do":{"zero":{}}})"}) ==
        Messages{
            "p:2:55: error NNT0702: index 6 is outside \"heads\" of layers[1].linear_attn.betas, which has 6 entries"});
  CHECK(run(taps(R"({"at":"logits","select":{"vocab":-321}})")).messages ==
        Messages{"p:2:34: error NNT0702: index -321 is outside \"vocab\" of logits, which has 320 entries"});
  // The source inherits the selection, and its place lacks the head.
  CHECK(
      messages(
          {R"({"at":"layers[3].self_attn.attention_queries","select":{"heads":3},"do":{"replace":{"at":"layers[3].self_attn.attention_keys"}}})"}) ==
      Messages{"p:2:65: error NNT0702: index 3 is outside \"heads\" of layers[3].self_attn.attention_keys, which has 2 "
               "entries"});
}

TEST_CASE("NNT0703: an edit that selects nothing of a static axis; a tap may") {
  CHECK(messages({R"({"at":"layers[1].linear_attn.betas","select":{"heads":"6:9"},"do":{"zero":{}}})"}) ==
        Messages{"p:2:55: error NNT0703: this selects nothing of \"heads\" of layers[1].linear_attn.betas, which has 6 "
                 "entries"});
  CHECK(run(taps(R"({"at":"layers[1].linear_attn.betas","select":{"heads":"6:9"}})")).messages.empty());
}

TEST_CASE("NNT0704: a selection beside the value's place") {
  CHECK(messages({R"({"at":"layers[1].linear_attn.state_output","select":{"seq":"0:-1"},"do":{"zero":{}}})"}) ==
        Messages{"p:2:60: error NNT0704: layers[1].linear_attn.state_output stands at prompt[-1], which this selection "
                 "lacks"});
  CHECK(
      run(taps(R"({"at":"layers[1].linear_attn.state_input","select":{"seq":"1:"}})")).messages ==
      Messages{
          "p:2:59: error NNT0704: layers[1].linear_attn.state_input stands at prompt[0], which this selection lacks"});
  CHECK(messages({R"({"at":"layers[1].linear_attn.state_output","select":{"seq":["prompt[0]",-1]},"do":{"zero":{}}})",
                  R"({"at":"layers[1].linear_attn.state_input","select":{"seq":"*"},"do":{"zero":{}}})",
                  R"({"at":"layers[2].linear_attn.state_input","select":{"seq":"0:1"},"do":{"zero":{}}})"})
            .empty());
}

TEST_CASE("NNT0705: the state of one token") {
  CHECK(run(taps(R"("layers[0].linear_attn.state")")).messages ==
        Messages{"p:2:1: error NNT0705: \"state\" is the state after one token: select exactly one index of \"seq\" "
                 "(\"states\" has all)"});
  CHECK(messages({R"({"at":"layers[0].linear_attn.state","select":{"seq":[1,2]},"do":{"zero":{}}})"}) ==
        Messages{"p:2:53: error NNT0705: \"state\" is the state after one token: select exactly one index of \"seq\" "
                 "(\"states\" has all)"});
  CHECK(
      messages(
          {R"({"at":"layers[0].linear_attn.state_output","do":{"replace":{"at":"layers[0].linear_attn.states","select":{"seq":"1:2"}}}})"}) ==
      Messages{"p:2:60: error NNT0705: a State comes from the states of one token: select exactly one index of \"seq\" "
               "of layers[0].linear_attn.states"});
  Run fine = run(taps(R"({"at":"layers[0].linear_attn.state","select":{"seq":[2,2]}})"), {3});
  CHECK(fine.plan->taps[0].key == "layers[0].linear_attn.states");
  CHECK(fine.tap(0) == Shape{1, 1, 6, 16, 24});
}

TEST_CASE("NNT0706: values that are no indices per row") {
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":{"value":"v"}},"do":{"zero":{}}})"},
                 R"("taps":[],"values":{"v":{"data":[0.5]}})") ==
        Messages{"p:2:48: error NNT0706: indices per row are an int64 tensor [B] or [B, k]; value \"v\" is float32 "
                 "[1]\n  p:3:25: note: the value"});
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"seq":{"value":"v"}},"do":{"zero":{}}})"},
                 R"("taps":[],"values":{"v":{"data":[[[1]]]}})") ==
        Messages{"p:2:48: error NNT0706: indices per row are an int64 tensor [B] or [B, k]; value \"v\" is int64 [1, "
                 "1, 1]\n  p:3:25: note: the value"});
}

TEST_CASE("NNT0707: sources that do not fit, whatever the input") {
  std::string v = R"("taps":[],"values":{"v":{"data":[1,2,3]},"d":{"data":[[[[1]]]]}})";
  CHECK(messages({R"({"at":"layers[2].layer_output","do":{"add":{"value":"v"}}})"}, v) ==
        Messages{"p:2:44: error NNT0707: the source has shape [3], which does not fit the region [batch, seq, 48] of "
                 "layers[2].layer_output"});
  CHECK(messages({R"({"at":"layers[2].layer_output","do":{"add":{"value":"d"}}})"}, v) ==
        Messages{"p:2:44: error NNT0707: the source has shape [1, 1, 1, 1], which does not fit the region [batch, seq, "
                 "48] of layers[2].layer_output"});
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"hidden":"0:4"},"do":{"add":{"value":"v"}}})"}, v) ==
        Messages{"p:2:70: error NNT0707: the source has shape [3], which does not fit the region [batch, seq, 4] of "
                 "layers[2].layer_output"});
  CHECK(messages({R"({"at":"layers[2].layer_output","do":{"replace":{"at":"layers[1].linear_attn.betas"}}})"}) ==
        Messages{"p:2:48: error NNT0707: the source has shape [batch, seq, 6], which does not fit the region [batch, "
                 "seq, 48] of layers[2].layer_output"});
  CHECK(messages({R"({"at":"layers[2].layer_output","select":{"hidden":[3,4,5]},"do":{"add":{"value":"v"}}})"}, v)
            .empty());
}

TEST_CASE("NNT0708: a source that stands for several values") {
  CHECK(messages({R"({"at":"layers[2].layer_output","do":{"replace":{"at":"layers[0:2].layer_input"}}})"}) ==
        Messages{"p:2:48: error NNT0708: \"layers[0:2].layer_input\" stands for 2 values, a source is one; [=] is the "
                 "block that the edit matched"});
}

TEST_CASE("NNT0710: read-only values") {
  CHECK(messages({R"({"at":"next_token_probs","do":{"zero":{}}})", R"({"at":"input_ids","do":{"zero":{}}})",
                  R"({"at":"input_size","do":{"zero":{}}})"}) ==
        Messages{"p:2:7: error NNT0710: next_token_probs can be tapped but not edited",
                 "p:3:7: error NNT0710: input_ids can be tapped but not edited",
                 "p:4:7: error NNT0710: input_size can be tapped but not edited"});
}

TEST_CASE("NNT0710: the encoder's output has a place where edits reach something") {
  PointInfo tower;
  tower.name = "vision.tower_output";
  tower.layout = Layout::Residual;
  tower.shape = {{Dim::batch, 0}, {Dim::seq, 0}, {Dim::fixed, 4}};
  tower.access = Access::readOnly;
  TinyModel seen{model().config, PointTable({tower}, {}, "test", 1)};
  CHECK(run(members({R"({"at":"vision.tower_output","do":{"zero":{}}})"}, R"("taps":["vision.tower_output"])"), Given(),
            seen)
            .messages ==
        Messages{"p:2:7: error NNT0710: vision.tower_output can be tapped but not edited\n"
                 "  note: nothing reads it: edit the last vision.layers[j].layer_output or projector.input instead"});
}

TEST_CASE("NNT0711: operations where they cannot stand") {
  CHECK(messages({R"({"at":"layers[3].self_attn.attention_probabilities","do":{"mask":{}}})",
                  R"({"at":"layers[1].mlp.router_logits","do":{"drop":{"experts":[1]}}})",
                  R"({"at":"layers[1].mlp.expert_weights","do":{"force":{"experts":[1]}}})"}) ==
        Messages{"p:2:58: error NNT0711: \"mask\" belongs at attention_scores, not at "
                 "layers[3].self_attn.attention_probabilities",
                 "p:3:42: error NNT0711: \"drop\" belongs at expert_weights, not at layers[1].mlp.router_logits",
                 "p:4:43: error NNT0711: \"force\" belongs at router_logits, not at layers[1].mlp.expert_weights"});
  CHECK(messages({R"({"at":"layers[1].mlp.expert_indices","do":{"add":1}})"}) ==
        Messages{"p:2:43: error NNT0711: layers[1].mlp.expert_indices holds expert numbers and takes \"replace\", "
                 "\"fill\" or \"zero\", not \"add\""});
}

TEST_CASE("NNT0712, NNT0713, NNT0714: lists of experts") {
  CHECK(messages({R"({"at":"layers[1].mlp.expert_weights","do":{"drop":{"experts":[11,12]}}})"}) ==
        Messages{"p:2:43: error NNT0712: \"drop\": there is no expert 12; this model has experts 0 to 11"});
  CHECK(
      messages({R"({"at":"layers[1].mlp.router_logits","do":{"force":{"experts":[0,1,2,3]}}})",
                R"({"at":"layers[2].mlp.router_logits","do":{"reroute":{"experts":[0,1,2,3,4,5,6,7,8,9]}}})"}) ==
      Messages{
          "p:2:42: error NNT0713: \"force\" lists 4 experts, at most 3 are possible: of 12 experts each token takes 3",
          "p:3:42: error NNT0713: \"reroute\" lists 10 experts, at most 9 are possible: of 12 experts each token takes "
          "3"});
  CHECK(
      messages(
          {R"({"at":"layers[1].mlp.expert_weights","select":{"slots":0},"do":{"drop_renorm":{"experts":[1]}}})"}) ==
      Messages{"p:2:56: error NNT0714: \"drop_renorm\" lists its experts itself; it takes no \"slots\" in \"select\""});
}

TEST_CASE("NNT0713: lists together, where every token is meant") {
  CHECK(messages({R"({"id":"a","at":"layers[1].mlp.router_logits","do":{"force":{"experts":[0,1]}}})",
                  R"({"at":"layers[1].mlp.router_logits","select":{"seq":-1},"do":{"force":{"experts":[2,3]}}})"}) ==
        Messages{"p:3:62: error NNT0713: \"force\" edits of layers[1].mlp.router_logits list 4 experts together, at "
                 "most 3 are possible: of 12 experts each token takes 3\n"
                 "  p:2:51: note: \"a\" is here"});
}

TEST_CASE("NNT0715: what is no expert number") {
  std::string v = R"("taps":[],"values":{"v":{"data":[3,11,12]}})";
  CHECK(
      messages({R"({"at":"layers[1].mlp.expert_indices","do":{"fill":1.5}})",
                R"({"at":"layers[2].mlp.expert_indices","do":{"replace":-1}})",
                R"({"at":"layers[4].mlp.expert_indices","do":{"replace":{"value":"v"}}})",
                R"({"at":"layers[5].mlp.expert_indices","do":{"replace":{"at":"layers[4].mlp.expert_weights"}}})"},
               v) ==
      Messages{
          "p:2:43: error NNT0715: layers[1].mlp.expert_indices holds expert numbers, integers from 0 to 11, found 1.5",
          "p:3:54: error NNT0715: layers[2].mlp.expert_indices holds expert numbers, integers from 0 to 11, found -1.0",
          "p:4:54: error NNT0715: layers[4].mlp.expert_indices holds expert numbers, integers from 0 to 11, found 12.0",
          "p:5:54: error NNT0715: layers[5].mlp.expert_indices holds expert numbers; it takes other expert_indices as "
          "they are, without \"scale\" and \"mean\""});
  CHECK(messages({R"({"at":"layers[1].mlp.expert_indices","select":{"slots":[0,1,2]},"do":{"replace":{"value":"v"}}})",
                  R"({"at":"layers[2].mlp.expert_indices","do":{"replace":{"at":"layers[1].mlp.expert_indices"}}})"},
                 R"("taps":[],"values":{"v":{"data":[3,11,0]}})")
            .empty());
}

TEST_CASE("NNT0716: a direction without length") {
  CHECK(messages({R"({"at":"layers[1].linear_attn.betas","do":{"project_out":{"value":"v"}}})"},
                 R"("taps":[],"values":{"v":{"data":[[[1,0,0,0,0,0]],[[0,0,0,0,0,0]]]}})") ==
        Messages{"p:2:57: error NNT0716: \"project_out\" of a zero direction: vector 1 of the source is zero"});
  CHECK(messages({R"({"at":"layers[1].linear_attn.betas","do":{"project_out":0}})"}) ==
        Messages{"p:2:57: error NNT0716: \"project_out\" of a zero direction"});
}

TEST_CASE("NNT0801: absolute edits that overlap whatever the input") {
  CHECK(messages({R"({"id":"p9","at":"layers[*].layer_output","do":{"zero":{}}})",
                  R"({"at":"layers[3].output","select":{"seq":-1},"do":{"scale":2}})"}) ==
        Messages{"p:3:1: error NNT0801: edits[1] (\"scale\") and \"p9\" (\"zero\") both set layers[3].layer_output "
                 "where their selections overlap\n  p:2:1: note: \"p9\" is here"});
  auto conflict = [](const std::string &a, const std::string &b,
                     const std::string &at = "layers[1].linear_attn.betas") {
    auto edit = [&](const std::string &select) {
      return R"({"at":")" + at + R"(","select":)" + select + R"(,"do":{"zero":{}}})";
    };
    return messages({edit(a), edit(b)}).size() == 1;
  };
  CHECK(conflict(R"({"seq":-1})", R"({"seq":"-3:"})"));
  CHECK(conflict(R"({"seq":[0,5]})", R"({"seq":"2:9"})"));
  CHECK(conflict(R"({"seq":"2:9"})", R"({"seq":"2:9","heads":[1]})"));
  CHECK(conflict(R"({"seq":3,"heads":"2:4"})", R"({"seq":[3,4],"heads":[-3]})"));
  CHECK(conflict(R"({"batch":[0]})", R"({"batch":"0:2"})"));
  CHECK_FALSE(conflict(R"({"seq":3,"heads":"2:4"})", R"({"seq":3,"heads":[-1]})"));
  CHECK_FALSE(conflict(R"({"seq":-1})", R"({"seq":3})")); // a run decides
  CHECK_FALSE(conflict(R"({"seq":"1:5"})", R"({"seq":"5:"})"));
  CHECK_FALSE(conflict(R"({"batch":0})", R"({"batch":1})"));
  CHECK_FALSE(conflict(R"({"query":0})", R"({"key":3})",
                       "layers[3].self_attn.attention_scores")); // key 3 is later than query 0
  CHECK(conflict(R"({"heads":0})", R"({"key":3})", "layers[3].self_attn.attention_scores"));
}

TEST_CASE("NNT0801: sums and points that stand one behind the other do not conflict") {
  CHECK(messages(
            {R"({"at":"layers[1].layer_output","do":{"zero":{}}})", R"({"at":"layers[1].layer_output","do":{"add":1}})",
             R"({"at":"layers[1].layer_output","do":{"add":2}})", R"({"at":"layers[2].layer_input","do":{"scale":2}})"})
            .empty());
}

TEST_CASE("NNT0802: routing edits conflict only among themselves, where their lists meet") {
  CHECK(messages({R"({"at":"layers[1].mlp.router_logits","do":{"reroute":{"experts":[4,5]}}})",
                  R"({"at":"layers[1].mlp.router_logits","select":{"seq":0},"do":{"force":{"experts":[1,5]}}})"}) ==
        Messages{"p:3:1: error NNT0802: edits[1] (\"force\") and edits[0] (\"reroute\") both list expert 5 at "
                 "layers[1].mlp.router_logits where their selections overlap\n"
                 "  p:2:1: note: edits[0] is here"});
  CHECK(messages({R"({"at":"layers[1].mlp.router_logits","do":{"reroute":{"experts":[4]}}})",
                  R"({"at":"layers[1].mlp.router_logits","do":{"force":{"experts":[5]}}})",
                  R"({"at":"layers[1].mlp.router_logits","do":{"zero":{}}})"})
            .empty());
}

TEST_CASE("NNT0803: an edit that reads what it makes") {
  CHECK(messages({R"({"at":"layers[1].layer_output","do":{"add":{"at":"layers[=].output"}}})"}) ==
        Messages{"p:2:44: error NNT0803: a cycle: this edit of layers[1].layer_output reads the value that it makes; "
                 "\"when\": \"before\" reads it unedited\n"
                 "  p:2:7: note: layers[1].layer_output after edits needs this source, which is layers[1].layer_output "
                 "after edits"});
}

TEST_CASE("NNT0804: keys of taps") {
  CHECK(run(taps(R"("layers[1].layer_output",{"at":"layers[1].output","select":{"seq":0}})")).messages ==
        Messages{"p:2:26: error NNT0804: two different taps write the key \"layers[1].layer_output\"; name one of them "
                 "with \"as\"\n  p:2:1: note: the other tap"});
  CHECK(run(taps(R"({"at":"logits","as":"x"},{"at":"layers[0].layer_mid","as":"x"})")).messages ==
        Messages{"p:2:26: error NNT0804: two different taps write the key \"x\"; name one of them with \"as\"\n  "
                 "p:2:1: note: the other tap"});
}

TEST_CASE("names are looked up, and every error of a plan is reported in one go") {
  Messages all = messages(
      {R"({"at":"layers[1].layer_outptu","do":{"zero":{}}})",
       R"({"at":"layers[1].layer_mid","select":{"seqq":0},"do":{"replace":{"at":"layers[=].self_attn.attention_output"}}})"},
      R"("taps":["logitz"])");
  REQUIRE(all.size() == 3);
  CHECK(all[0].substr(0, 21) == "p:2:7: error NNT0601:");
  CHECK(all[1].substr(0, 22) == "p:3:46: error NNT0701:");
  CHECK(all[2].substr(0, 22) == "p:4:9: error NNT0601: ");
}
