// What resolving makes of sound plans: order of application, keys of taps, structure against numbers.
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("edits stand by point in forward order, then as they are applied", "[plan5]") {
  Run r = run(members({R"({"id":"b","at":"layers[1].layer_output","do":{"add":1}})",
                       R"({"at":"layers[1].mlp.router_logits","do":{"force":{"experts":[1]}}})",
                       R"({"at":"layers[1].mlp.router_logits","do":{"reroute":{"experts":[2]}}})",
                       R"({"id":"z","at":"layers[1].mlp.router_logits","do":{"force":{"experts":[3]}}})",
                       R"({"at":"layers[1].layer_output","do":{"add":2}})",
                       R"({"id":"a","at":"layers[1].layer_output","do":{"add":3}})",
                       R"({"id":"y","at":"layers[1].layer_output","select":{"seq":2},"do":{"zero":{}}})",
                       R"({"at":"layers[0:2].output","select":{"seq":0},"do":{"scale":2}})",
                       R"({"at":"layers[1].mlp.router_logits","do":{"add":3}})",
                       R"({"at":"layers[1].mlp.router_logits","do":{"scale":3}})"}));
  REQUIRE(r.plan);
  std::vector<std::pair<std::string, size_t>> order;
  for (const EditSpec &edit : r.plan->edits)
    order.push_back({edit.point, edit.entry});
  const std::string router = "layers[1].mlp.router_logits", output = "layers[1].layer_output";
  CHECK(order == std::vector<std::pair<std::string, size_t>>{{"layers[0].layer_output", 7},
                                                             {router, 9},
                                                             {router, 8},
                                                             {router, 2},
                                                             {router, 3},
                                                             {router, 1},
                                                             {output, 6},
                                                             {output, 7},
                                                             {output, 5},
                                                             {output, 0},
                                                             {output, 4}});
  CHECK(r.plan->edits[0].layer == 0);
}

static std::vector<std::string> keys(const std::string &list) {
  Run r = run(taps(list));
  std::vector<std::string> result;
  if (r.plan)
    for (const TapSpec &tap : r.plan->taps)
      result.push_back(tap.key);
  return result;
}

TEST_CASE("keys of taps: standard names, before, as, and the same tap again", "[plan7]") {
  using Keys = std::vector<std::string>;
  CHECK(keys(R"("layers[3].self_attn.o_proj.output","embed_tokens.output")") ==
        Keys{"layers[3].self_attn.attention_output", "token_embeddings"});
  CHECK(keys(R"({"at":"layers[-1].gate.output","when":"before"})").empty()); // no such name: the router is below mlp
  CHECK(keys(R"({"at":"layers[-1].mlp.gate.output","when":"before"},"layers[7].mlp.router_logits")") ==
        Keys{"layers[7].mlp.router_logits@before", "layers[7].mlp.router_logits"});
  CHECK(keys(R"({"at":"layers[3].layer_mid","as":"x"},{"at":"layers[full].layer_mid","as":"x","when":"before"})") ==
        Keys{"x", "x/layers[3].layer_mid@before", "x/layers[7].layer_mid@before"});
  CHECK(keys(R"("layers[2].layer_mid","layers[1:4].layer_mid",{"at":"layers[2].layer_mid","select":{"seq":"*"}})") ==
        Keys{"layers[2].layer_mid", "layers[1].layer_mid", "layers[3].layer_mid"});
  CHECK(
      keys(
          R"({"at":"logits","select":{"seq":[-1]}},{"at":"lm_head.output","select":{"seq":[-1]}},{"at":"logits","select":{"seq":"prompt[-1]"}})") ==
      Keys{"logits", "lm_head_output"});
}

TEST_CASE("structure: numbers, indices, vectors and expert lists are not in it", "[structure]") {
  auto plan = [](const std::string &seq, const std::string &heads, const std::string &number,
                 const std::string &experts, const std::string &vector, const std::string &where) {
    Run r =
        run(members({R"({"at":"layers[2].linear_attn.betas","select":{"seq":)" + seq + R"(,"heads":)" + heads +
                         R"(},"do":{"add":{"value":"v","scale":)" + number + R"(},"scale":)" + number + "}}",
                     R"({"at":"layers[4].layer_output","select":{"seq":)" + seq +
                         R"(},"do":{"replace":{"at":"layers[4].layer_input","select":{"seq":)" + seq + R"(},"scale":)" +
                         number + "}}}",
                     R"({"at":"layers[1].mlp.router_logits","do":{"reroute":{"experts":)" + experts + "}}}",
                     R"({"at":"layers[1].layer_mid","do":{"clamp":{"min":)" + number + "}}}"},
                    R"("taps":[{"at":"layers[3].self_attn.attention_premix","select":{"heads":{"value":"w"},"seq":)" +
                        seq + R"(}},"logits"],"values":{"v":{"data":)" + vector + R"(},"w":{"data":)" + where + "}}"));
    REQUIRE(r.plan);
    return r.plan->structure();
  };
  std::string base = plan("3", "[1]", "0.5", "[1]", "[2.5]", "[1]");
  CHECK(plan("[0,1,\"prompt[-1]\"]", "\"0:4\"", "-7", "[1,2,3]", "[-1]", "[[2,3],[0,1]]") == base);
  CHECK(base.find("0.5") == std::string::npos);
  CHECK(base.find("2.5") == std::string::npos);
}

TEST_CASE("structure: what is compiled is in it", "[structure]") {
  auto structure =
      [](const std::string &edit,
         const std::string &rest =
             R"("taps":["logits"],"values":{"v":{"data":[1,2,3,4,5,6]},"w":{"data":[2]},"h":{"data":[1,2]}})") {
        Run r = run(members({edit}, rest));
        REQUIRE(r.plan);
        return r.plan->structure();
      };
  std::vector<std::string> all = {
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"zero":{}}})"),
      structure(R"({"at":"layers[1].linear_attn.betas","do":{"zero":{}}})"),
      structure(R"({"at":"layers[1:3].linear_attn.betas","do":{"zero":{}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"fill":0}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","select":{"heads":0},"do":{"zero":{}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","select":{"heads":{"value":"h"}},"do":{"zero":{}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","select":{"batch":0},"do":{"zero":{}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"add":1}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"scale":1}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"add":{"value":"v"}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"add":{"value":"w"}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"add":{"at":"layers[1].linear_attn.betas"}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"add":{"at":"layers[0].linear_attn.betas"}}})"),
      structure(
          R"({"at":"layers[2].linear_attn.betas","do":{"add":{"at":"layers[1].linear_attn.betas","when":"before"}}})"),
      structure(
          R"({"at":"layers[2].linear_attn.betas","do":{"add":{"at":"layers[1].linear_attn.betas","mean":["seq"]}}})"),
      structure(
          R"({"at":"layers[2].linear_attn.betas","do":{"add":{"at":"layers[1].linear_attn.betas","select":{"heads":2}}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"clamp":{"min":0}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"clamp":{"max":0}}})"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"zero":{}}})", R"("taps":[{"at":"logits","as":"x"}])"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"zero":{}}})",
                R"("taps":[{"at":"logits","when":"before","as":"logits"}])"),
      structure(R"({"at":"layers[2].linear_attn.betas","do":{"zero":{}}})",
                R"("taps":[{"at":"logits","select":{"vocab":3}}])"),
      structure(R"({"at":"layers[2].mlp.router_logits","do":{"force":{"experts":[3]}}})"),
      structure(R"({"at":"layers[2].mlp.router_logits","do":{"force":{"experts":[3],"logit":"max"}}})"),
  };
  std::vector<std::string> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::unique(sorted.begin(), sorted.end()) == sorted.end());
}

TEST_CASE("equal blocks share the buffers of their entry", "[structure]") {
  Run one = run(members({R"({"at":"layers[2].layer_output","select":{"seq":0},"do":{"add":1}})"},
                        R"("taps":["layers[1].layer_mid"])"));
  Run all = run(members({R"({"at":"layers[*].layer_output","select":{"seq":0},"do":{"add":1}})"},
                        R"("taps":["layers[*].layer_mid"])"));
  CHECK(all.plan->edits.size() == 8);
  CHECK(all.plan->taps.size() == 8);
  CHECK(all.plan->buffers.size() == one.plan->buffers.size());
}
