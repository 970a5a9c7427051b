// In which programs an entry stands, what it is called there, and what the prompt leaves to generated tokens:
// spec/plan.md 4, 5, 7.
#include "ResolveHelp.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

/// "prompt", "gen" or both, of an entry.
std::string phasesOf(const Run &r, size_t entry) {
  std::string result;
  REQUIRE(r.plan);
  for (const EditSpec &edit : r.plan->edits)
    if (edit.entry == entry)
      result += (result.empty() ? "" : " ") + std::string(edit.phase == Phase::prompt ? "prompt" : "gen");
  return result;
}

std::string phasesOf(const std::string &at, const std::string &select, int64_t generate = 4) {
  return phasesOf(
      run(members({R"({"at":")" + at + "\"," + select + R"("do":{"zero":{}}})"}), Given{{}, generate, 0, {}}), 0);
}

std::vector<std::string> keys(const std::string &list, int64_t generate) {
  Run r = run(taps(list), Given{{}, generate, 0, {}});
  REQUIRE(r.plan);
  std::vector<std::string> result;
  for (const TapSpec &tap : r.plan->taps)
    result.push_back(tap.key);
  return result;
}

using Keys = std::vector<std::string>;

} // namespace

TEST_CASE("an edit stands in the program of every phase that its selection names", "[plan4]") {
  const std::string at = "layers[2].layer_output";
  CHECK(phasesOf(at, "") == "prompt gen");
  CHECK(phasesOf(at, "", 1) == "prompt");
  CHECK(phasesOf(at, R"("select":{"seq":"*"},)") == "prompt gen");
  CHECK(phasesOf(at, R"("select":{"seq":3},)") == "prompt");
  CHECK(phasesOf(at, R"("select":{"seq":"1:"},)") == "prompt");
  CHECK(phasesOf(at, R"("select":{"seq":"gen[1:3]"},)") == "gen");
  CHECK(phasesOf(at, R"("select":{"seq":["prompt[-1]","gen[*]"]},)") == "prompt gen");
  CHECK(phasesOf(at, R"("select":{"seq":["prompt[-1]","gen[0:]"]},)", 0) == "prompt");
  const std::string pattern = "layers[3].self_attn.attention_scores";
  CHECK(phasesOf(pattern, R"("select":{"query":"gen[*]","key":0},)") == "gen");
  CHECK(phasesOf(pattern, R"("select":{"key":"gen[0]"},)") == "prompt gen");
}

TEST_CASE("values with a place stand at it, and at every generated token; caches at prompt[-1] alone", "[plan4]") {
  for (std::string at : {"layers[1].linear_attn.state_input", "layers[1].linear_attn.state_output",
                         "layers[1].linear_attn.conv_state"}) {
    INFO(at);
    CHECK(phasesOf(at, "") == "prompt gen");
    CHECK(phasesOf(at, R"("select":{"seq":"gen[2:5]"},)") == "gen");
  }
  CHECK(phasesOf("layers[1].linear_attn.state_input", R"("select":{"seq":"prompt[0]"},)") == "prompt");
  CHECK(phasesOf("layers[1].linear_attn.state_output", R"("select":{"seq":"prompt[-1]"},)") == "prompt");
  CHECK(phasesOf("layers[3].self_attn.past_keys", "") == "prompt");
  CHECK(run(members({R"({"at":"layers[3].self_attn.past_keys","select":{"seq":"gen[0]"},"do":{"zero":{}}})"}),
            Given{{}, 4, 0, {}})
            .messages == Messages{"p:2:55: error NNT0704: layers[3].self_attn.past_keys stands at prompt[-1], which "
                                  "this selection lacks"});
}

TEST_CASE("buffers of either program have names of their own", "[structure]") {
  Run s = run(
      members(
          {R"({"at":"layers[2].linear_attn.betas","select":{"heads":[1]},"do":{"add":{"at":"layers[1].linear_attn.betas"},"scale":2}})"},
          R"("taps":["logits"])"),
      Given{{}, 4, 0, {}});
  REQUIRE(s.plan);
  std::vector<std::string> prompt, gen;
  for (const BufferSpec &buffer : s.plan->buffers)
    (buffer.phase == Phase::prompt ? prompt : gen).push_back(buffer.name);
  Keys names = {"e0.seq",   "e0.heads",      "e0.c0",           "e0.src.seq", "e0.src.heads",
                "e0.scale", "e0.src.at.seq", "e0.src.at.heads", "t0.seq"};
  CHECK(prompt == names);
  for (std::string &name : names)
    name += "@gen";
  CHECK(gen == names);
  CHECK(s.edit(0, Phase::gen).ordinals[1].buffer == "e0.seq@gen");
  CHECK(s.edit(0, Phase::gen).sources[0].place.tables[1].buffer == "e0.src.seq@gen");
}

TEST_CASE("edits and gathers of values with a place list their rows", "[plan4]") {
  Run r = run(
      members(
          {R"({"at":"layers[1].linear_attn.state_output","do":{"add":{"at":"layers[2].linear_attn.state_output","when":"before"}}})"},
          R"("taps":["layers[1].linear_attn.conv_state","next_token_probs"])"),
      Given{{}, 3, 0, {}});
  REQUIRE(r.plan);
  CHECK(r.edit(0).ordinals[0].buffer == "e0.batch");
  CHECK_FALSE(r.edit(0).ordinals[0].perRow);
  CHECK(r.edit(0, Phase::gen).ordinals[0].buffer == "e0.batch@gen");
  CHECK(r.edit(0).sources[0].place.tables[0].buffer == "e0.src.batch");
  CHECK(r.edit(0).sources[0].axes[0].table.buffer == "e0.src.at.batch");
  CHECK(r.plan->taps[0].gather.tables[0].buffer == "t0.batch");
  CHECK(r.plan->taps[2].gather.tables[0].buffer.empty());
}

TEST_CASE("keys of generated tokens", "[plan7]") {
  CHECK(keys(R"("logits","layers[0].linear_attn.state_output","next_token_probs","input_size")", 3) ==
        Keys{"logits", "logits@gen", "layers[0].linear_attn.state_output", "layers[0].linear_attn.state_output@gen",
             "next_token_probs", "next_token_probs@gen", "input_size"});
  CHECK(keys(R"({"at":"logits","when":"before","select":{"seq":"gen[0]"},"as":"x"})", 3) == Keys{"x@before@gen"});
  CHECK(keys(R"({"at":"layers[2:4].output","as":"x"})", 2) ==
        Keys{"x/layers[2].layer_output", "x/layers[2].layer_output@gen", "x/layers[3].layer_output",
             "x/layers[3].layer_output@gen"});
  CHECK(keys(R"("logits","layers[3].self_attn.past_values")", 1) == Keys{"logits", "layers[3].self_attn.past_values"});
  // The prompt's part from one tap, the generated tokens' from another.
  CHECK(keys(R"({"at":"logits","select":{"seq":-1}},{"at":"logits","select":{"seq":"gen[*]"}})", 3) ==
        Keys{"logits", "logits@gen"});
}

TEST_CASE("tokens are written by the run, under the name a tap gives them", "[plan7]") {
  auto named = [](const std::string &list, int64_t generate) {
    Run r = run(taps(list), Given{{}, generate, 0, {}});
    REQUIRE(r.plan);
    return r.plan->tokenKeys;
  };
  using Named = std::map<std::string, std::string>;
  CHECK(named(R"("logits")", 0).empty());
  CHECK(named(R"("logits")", 1) == Named{{"main", "tokens"}});
  CHECK(named(R"("tokens","tokens",{"at":"tokens","select":{"seq":"*"}})", 3) == Named{{"main", "tokens"}});
  CHECK(named(R"({"at":"tokens","as":"said"})", 3) == Named{{"main", "said"}});
  CHECK(run(taps(R"("tokens")")).messages ==
        Messages{"p:2:1: error NNT0608: \"tokens\" exists only when tokens are generated (--generate N)"});
}

TEST_CASE("a source on the prompt is kept for generated tokens", "[plan5]") {
  Run r = run(
      members(
          {R"({"at":"layers[4:6].layer_output","select":{"seq":["prompt[0]","gen[*]"]},"do":{"add":{"at":"layers[2].layer_output","select":{"seq":"prompt[-1]"},"scale":2}}})",
           R"({"at":"layers[1].linear_attn.state_output","do":{"replace":{"at":"layers[0].linear_attn.states","select":{"seq":1},"mean":["batch"]}}})"}),
      Given{{}, 3, 0, {}});
  REQUIRE(r.plan);
  CHECK(r.edit(0).sources[0].kind == SourceSpec::Kind::place);
  const SourceSpec &kept = r.edit(0, Phase::gen).sources[0];
  CHECK(kept.kind == SourceSpec::Kind::kept);
  CHECK(kept.buffer == "e0.kept/layers[2].layer_output");
  CHECK(kept.scale == "e0.scale@gen");
  CHECK(kept.axes[1].table.buffer == "e0.src.at.seq@gen");
  REQUIRE(r.plan->keeps.size() == 2); // both blocks read one value
  CHECK(r.plan->keeps[0].name == kept.buffer);
  CHECK(r.plan->keeps[0].gather.tables[1].buffer == "e0.src.seq"); // a table of the prompt's program
  CHECK(r.plan->keeps[1].gather.meanAxes == std::vector<int64_t>{0});
  CHECK(r.edit(1, Phase::gen).sources[0].squeezeSeq);
  size_t found = 0;
  for (const BufferSpec &buffer : r.plan->buffers)
    if (buffer.kept) {
      ++found;
      CHECK(buffer.phase == Phase::gen);
      CHECK(buffer.dtype == DType::f32);
      CHECK(buffer.dims == (buffer.name == kept.buffer ? Shape{-1, -1, 48} : Shape{1, -1, 6, 16, 24}));
    }
  CHECK(found == 2);
}

TEST_CASE("a source at the same token is read in the same call, never twice in a circle", "[plan5]") {
  auto kind = [](const std::string &source, const std::string &select = R"("gen[*]")") {
    Run r = run(
        members({R"({"at":"layers[4].layer_output","select":{"seq":)" + select + R"(},"do":{"add":)" + source + "}}"}),
        Given{{}, 3, 0, {}});
    return r.plan ? std::string(r.edit(0, Phase::gen).sources[0].kind == SourceSpec::Kind::kept ? "kept" : "place")
                  : r.messages.at(0).substr(0, r.messages[0].find(": ", r.messages[0].find("NNT")));
  };
  CHECK(kind(R"({"at":"layers[2].layer_output"})") == "place");
  CHECK(kind(R"({"at":"layers[2].layer_output","select":{"seq":["prompt[0]","gen[*]"]}})") == "place");
  CHECK(kind(R"({"at":"layers[2].layer_output","select":{"seq":0}})") == "kept");
  CHECK(kind(R"({"select":{"seq":0},"at":"layers[4].layer_output"})") == "kept"); // the prompt's own value is no cycle
  CHECK(kind(R"({"at":"layers[4].layer_output"})") == "p:2:70: error NNT0803");
  CHECK(kind(R"({"at":"layers[4].layer_output","when":"before"})") == "place");
  CHECK(kind(R"({"at":"layers[4].layer_output","select":{"seq":0}})", R"("*")") == "p:2:65: error NNT0803");
}

TEST_CASE("structure: neither the number of tokens nor which of them", "[structure]") {
  auto plan = [](const std::string &gen, const std::string &prompt, int64_t generate) {
    Run r =
        run(members({R"({"at":"layers[2].linear_attn.betas","select":{"seq":["prompt[)" + prompt + R"(]","gen[)" + gen +
                         R"(]"]},"do":{"replace":{"at":"layers[1].linear_attn.betas","select":{"seq":"prompt[)" +
                         prompt + R"(]"}}}})",
                     R"({"at":"layers[1].linear_attn.state_output","select":{"seq":["prompt[)" + prompt +
                         R"(]","gen[)" + gen + R"(]"]},"do":{"zero":{}}})",
                     R"({"at":"layers[3].self_attn.attention_scores","select":{"key":"gen[)" + gen +
                         R"(]"},"do":{"mask":{}}})"},
                    R"("taps":["tokens",{"at":"layers[3].layer_output","select":{"seq":"gen[)" + gen + R"(]"}}])"),
            Given{{}, generate, 0, {}});
    REQUIRE(r.plan);
    return r.plan->structure();
  };
  std::string base = plan("0", "-1", 2);
  CHECK(plan("1:5", "0", 9) == base);
  CHECK(plan("*", "0,1", 70) == base);
  CHECK(base.find("gen[") == std::string::npos);
}

TEST_CASE("structure: programs, phases and memory", "[structure]") {
  auto structure = [](const std::string &seq, RunShape shape) {
    Diagnostics diags;
    std::optional<Plan> plan =
        readPlan(*parseJson(R"({"nnterp_plan":1,"taps":[{"at":"logits","select":{"seq":)" + seq + "}}]}", "p", diags),
                 "", diags);
    return resolvePlan(std::make_shared<const Plan>(std::move(*plan)), model().points, model().config, shape, diags)
        ->structure();
  };
  std::vector<std::string> all = {
      structure("\"*\"", {}),
      structure("\"*\"", {true, false, false, false, false}),
      structure("\"*\"", {true, true, true, false, false}),
      structure("\"*\"", {true, true, true, true, false}),
      structure("\"*\"", {true, true, true, false, true}),
      structure("\"gen[*]\"", {true, true, true, false, false}),
      structure("\"prompt[*]\"", {true, true, true, false, false}),
  };
  std::sort(all.begin(), all.end());
  CHECK(std::unique(all.begin(), all.end()) == all.end());
}

// -- errors --

static Messages messages(const std::vector<std::string> &edits, int64_t generate,
                         const std::string &rest = "\"taps\":[]") {
  return run(members(edits, rest), Given{{}, generate, 0, {}}).messages;
}

TEST_CASE("NNT0718: generated tokens of a run that feeds none back") {
  std::string edit = R"({"at":"layers[2].layer_output","select":{"seq":"gen[*]"},"do":{"zero":{}}})";
  CHECK(messages({edit}, 1) ==
        Messages{"p:2:41: error NNT0718: this selects generated tokens, and this run feeds none back: --generate N "
                 "with N of at least 2"});
  CHECK(messages({edit}, 2).empty());
  CHECK(messages({R"({"at":"layers[1].linear_attn.state_input","select":{"seq":"gen[0]"},"do":{"zero":{}}})"}, 0) ==
        Messages{"p:2:52: error NNT0718: this selects generated tokens, and this run feeds none back: --generate N "
                 "with N of at least 2"});
  // A tap's range clips, its index does not.
  CHECK(run(taps(R"({"at":"logits","select":{"seq":"gen[1:]"}})")).messages ==
        Messages{"p:2:1: note: this tap of logits selects nothing in any row and is not written"});
  CHECK(run(taps(R"({"at":"logits","select":{"seq":"gen[1]"}})")).messages ==
        Messages{"p:2:25: error NNT0718: this selects generated tokens, and this run feeds none back: --generate N "
                 "with N of at least 2"});
}

TEST_CASE("NNT0719: a source that comes after the edit") {
  CHECK(
      messages(
          {R"({"at":"layers[2].layer_output","do":{"add":{"at":"layers[1].layer_output","select":{"seq":"gen[0]"}}}})"},
          4) == Messages{"p:2:44: error NNT0719: this edit of layers[2].layer_output reaches the prompt, but its "
                         "source selects generated tokens only"});
}

TEST_CASE("NNT0705: a State from the states of a call that has one token") {
  auto edit = [](const std::string &select, const std::string &source) {
    return R"({"at":"layers[1].linear_attn.state_output",)" + select +
           R"("do":{"replace":{"at":"layers[0].linear_attn.states")" + source + "}}}";
  };
  CHECK(messages({edit(R"("select":{"seq":"gen[*]"},)", "")}, 4).empty());
  CHECK(messages({edit(R"("select":{"seq":["prompt[-1]","gen[*]"]},)", "")}, 4).empty());
  CHECK(messages({edit("", "")}, 4) ==
        Messages{"p:2:60: error NNT0705: a State comes from the states of one token: select exactly one index of "
                 "\"seq\" of layers[0].linear_attn.states"});
  CHECK(messages({edit(R"("select":{"seq":"gen[*]"},)", R"(,"select":{"seq":"prompt[-2:]"})")}, 4).size() == 1);
}

TEST_CASE("NNT0710: tokens are not part of the graph") {
  CHECK(messages({R"({"at":"tokens","do":{"zero":{}}})"}, 2) ==
        Messages{"p:2:7: error NNT0710: tokens can be tapped but not edited"});
  CHECK(messages({R"({"at":"layers[2].layer_output","do":{"add":{"at":"tokens"}}})"}, 2) ==
        Messages{"p:2:44: error NNT0710: tokens can be tapped, but no edit can read them"});
}

TEST_CASE("NNT0721: tokens are written whole and once") {
  CHECK(run(taps(R"({"at":"tokens","select":{"seq":0}})"), Given{{}, 2, 0, {}}).messages ==
        Messages{"p:2:32: error NNT0721: tokens is written whole, it takes no \"seq\" in \"select\""});
  CHECK(run(taps(R"("tokens",{"at":"tokens","as":"x"})"), Given{{}, 2, 0, {}}).messages ==
        Messages{"p:2:10: error NNT0721: tokens is written once, but two taps call it \"tokens\" and \"x\"\n"
                 "  p:2:1: note: the other tap"});
}

TEST_CASE("NNT0804: keys of generated tokens and of tokens") {
  CHECK(run(taps(R"("logits",{"at":"logits","select":{"seq":"gen[0]"}})"), Given{{}, 2, 0, {}}).messages ==
        Messages{"p:2:10: error NNT0804: two different taps write the key \"logits@gen\"; name one of them with "
                 "\"as\"\n  p:2:1: note: the other tap"});
  CHECK(run(taps(R"({"at":"logits","as":"tokens"})"), Given{{}, 1, 0, {}}).messages ==
        Messages{"p:2:1: error NNT0804: this tap writes the key \"tokens\", under which the generated tokens are "
                 "written"});
  CHECK(run(taps(R"({"at":"logits","as":"x"},{"at":"tokens","as":"x"})"), Given{{}, 1, 0, {}}).messages ==
        Messages{"p:2:1: error NNT0804: this tap writes the key \"x\", under which the generated tokens are written\n"
                 "  p:2:26: note: the tap of the tokens"});
}

TEST_CASE("NNT0801: what overlaps at generated tokens alone", "[plan5]") {
  auto conflicts = [](const std::string &a, const std::string &b, int64_t generate,
                      const std::string &at = "layers[2].layer_output") {
    auto edit = [&](const std::string &select) {
      return R"({"at":")" + at + R"(","select":{"seq":)" + select + R"(},"do":{"zero":{}}})";
    };
    return messages({edit(a), edit(b)}, generate).size();
  };
  CHECK(conflicts(R"("gen[0]")", R"("gen[*]")", 2) == 1);
  CHECK(conflicts(R"("gen[0]")", R"("gen[1]")", 4) == 0);
  CHECK(conflicts(R"("gen[0]")", "0", 4) == 0);
  CHECK(conflicts(R"(["prompt[0]","gen[*]"])", R"(["prompt[1]","gen[*]"])", 4) == 1);
  CHECK(conflicts(R"(["prompt[0]","gen[*]"])", R"(["prompt[1]","gen[*]"])", 0) == 0);
  CHECK(conflicts(R"("*")", R"("gen[*]")", 4) == 1);
  CHECK(conflicts(R"("gen[1:]")", R"("gen[2:3]")", 4) == 0); // a run decides
}
