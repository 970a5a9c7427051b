// What is wrong with a plan beyond its text: decided on the graph, at the start of a run, or while it computes.
#include "tests/e2e/Runs.h"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// What `nnterp check` says about a plan in a file called plan.json, without its folder.
Command check(const std::string &plan) {
  TemporaryFolder folder;
  const std::string path = folder.write("plan.json", plan);
  Command command = nnterpTool({"check", checkpointPath("tiny-text") + "/config.json", "--plan", path});
  for (size_t at; (at = command.err.find(path)) != std::string::npos;)
    command.err.replace(at, path.size(), "plan.json");
  return command;
}

/// The errors of a run that must end before anything is compiled or computed.
std::string refused(const std::string &plan, const Rows &rows) {
  Setup setup;
  setup.plan = plan;
  setup.rows = rows;
  bool begun = false;
  setup.progress = [&](std::string_view, double) { begun = true; };
  Diagnostics diags;
  CHECK_FALSE(tryRun(setup, diags));
  CHECK_FALSE(begun);
  return text(diags);
}

} // namespace

TEST_CASE("NNT0806: edits that reach no output, all in one go", "[plan-errors]") {
  const Command command = check(R"({"nnterp_plan": 1,
 "edits": [
  {"at": "layers[3].self_attn.past_keys", "do": {"zero": {}}},
  {"at": "layers[5].layer_output", "do": {"zero": {}}},
  {"at": "layers[0].layer_output", "do": {"scale": 2}}],
 "taps": ["layers[3].layer_output"]}
)");
  CHECK(command.status == 1);
  CHECK(command.out.empty());
  CHECK(command.err ==
        "plan.json:3:3: error NNT0806: the edit at 'layers[3].self_attn.past_keys' reaches no output of this run\n"
        "  plan.json:3:3: note: it is read by later tokens only, and this run generates none that would\n"
        "plan.json:4:3: error NNT0806: the edit at 'layers[5].layer_output' reaches no output of this run\n"
        "  plan.json:4:3: note: tap a value that depends on it, such as 'logits' or the value itself\n");
}

TEST_CASE("NNT0806: a dead edit is found by a run too, and leaves no output", "[plan-errors]") {
  TemporaryFolder folder;
  const Command command =
      nnterpTool({"run", checkpointPath("tiny-text"), "--ids", "1,2,3", "--tap", "layers[3].layer_output", "--edit",
                  "layers[6].mlp.mlp_output zero", "--out", folder.path("out.safetensors")});
  CHECK(command.status == 1);
  CHECK(command.err ==
        "--edit:1:1: error NNT0806: the edit at 'layers[6].mlp.mlp_output' reaches no output of this run\n"
        "  --edit:1:1: note: tap a value that depends on it, such as 'logits' or the value itself\n");
  CHECK_FALSE(std::filesystem::exists(folder.path("out.safetensors")));
}

TEST_CASE("an edit at several blocks is alive if one of them reaches an output", "[plan-errors]") {
  const Command command = check(R"({"nnterp_plan": 1, "edits": [{"at": "layers[*].layer_output", "do": {"zero": {}}}],
                                    "taps": ["layers[3].layer_output"]})");
  CHECK(command.err.empty());
  CHECK(command.status == 0);
}

TEST_CASE("an edit reaches an output through the source of another", "[plan-errors]") {
  const std::string head =
      R"({"nnterp_plan": 1, "edits": [{"at": "layers[1].linear_attn.state_output", "do": {"scale": 2}})";
  CHECK(check(head + R"(], "taps": ["logits"]})").status == 1);
  CHECK(
      check(
          head +
          R"(, {"at": "layers[2].linear_attn.state_input", "do": {"replace": {"at": "layers[1].linear_attn.state_output"}}}],
                "taps": ["logits"]})")
          .status == 0);
}

TEST_CASE("NNT0805: a source that depends on what it edits", "[plan-errors]") {
  const Command command = check(R"({"nnterp_plan": 1,
 "edits": [
  {"at": "layers[1].layer_output",
   "do": {"add": {"at": "layers[2].layer_output"}}}],
 "taps": ["logits"]}
)");
  CHECK(command.status == 1);
  CHECK(command.err ==
        "plan.json:3:3: error NNT0805: the edit's source depends on what it edits ('layers[1].layer_output')\n"
        "  plan.json:3:3: note: values on the cycle: layers[2].layer_input -> layers[2].layer_mid -> "
        "layers[2].layer_output -> "
        "layers[2].layer_input\n");
}

TEST_CASE("NNT0805: two edits that feed each other", "[plan-errors]") {
  const Command command = check(R"({"nnterp_plan": 1,
 "edits": [
  {"at": "layers[1].linear_attn.conv_state", "do": {"add": {"at": "layers[2].linear_attn.conv_state"}}},
  {"at": "layers[2].linear_attn.conv_state", "do": {"add": {"at": "layers[1].linear_attn.conv_state"}}}],
 "taps": ["layers[1].linear_attn.conv_state"]}
)");
  CHECK(command.status == 1);
  CHECK(command.err.find("error NNT0805: the edit's source depends on what it edits") != std::string::npos);
}

TEST_CASE("NNT1018: a direction that is zero at some token", "[plan-errors]") {
  Setup setup;
  setup.plan = R"({"nnterp_plan": 1,
 "edits": [
  {"at": "layers[1].layer_output", "select": {"seq": 2}, "do": {"zero": {}}},
  {"at": "layers[2].layer_mid", "do": {"project_out": {"at": "layers[1].layer_output"}}}],
 "taps": ["layers[2].layer_output"]}
)";
  Diagnostics diags;
  CHECK_FALSE(tryRun(setup, diags));
  CHECK(text(diags) == "plan.json:4:39: error NNT1018: the direction to project out is zero at some token; expected a "
                       "vector of positive length\n");
}

TEST_CASE("a direction that is zero outside the edit's selection is no error", "[plan-errors]") {
  Setup setup;
  setup.plan = R"({"nnterp_plan": 1, "edits": [
  {"at": "layers[1].layer_output", "select": {"seq": 2}, "do": {"zero": {}}},
  {"at": "layers[2].layer_mid", "select": {"seq": 1}, "do": {"project_out": {"at": "layers[1].layer_output"}}}],
 "taps": ["layers[2].layer_output"]})";
  CHECK(outputs(setup).size() == 1);
}

TEST_CASE("pads are no tokens whose direction could be zero", "[plan-errors]") {
  Setup setup;
  setup.plan = R"({"nnterp_plan": 1, "edits": [
  {"at": "layers[2].layer_mid", "do": {"project_out": {"at": "layers[1].layer_output"}}}], "taps": ["layers[2].layer_output"]})";
  setup.rows = someRows({6, 2}, 320);
  setup.extraPads = 2;
  CHECK(outputs(setup).size() == 1);
}

TEST_CASE("what depends on lengths is refused before anything is compiled or computed", "[plan-errors]") {
  const std::string plan = R"({"nnterp_plan": 1, "values": {"r": {"data": [[0, 9], [0, 1]]}},
 "edits": [
  {"at": "layers[0].layer_output", "select": {"seq": 4}, "do": {"zero": {}}},
  {"at": "layers[1].layer_output", "select": {"seq": "7:9"}, "do": {"zero": {}}},
  {"at": "layers[2].layer_output", "select": {"seq": [0, 1]},
   "do": {"add": {"at": "layers[0].layer_output", "select": {"seq": "0:3"}}}},
  {"at": "layers[3].layer_output", "select": {"seq": {"value": "r"}}, "do": {"zero": {}}}],
 "taps": ["logits"]}
)";
  const std::string errors = refused(plan, {{1, 2, 3, 4, 5}, {1, 2, 3}});
  CHECK(errors ==
        "plan.json:3:54: error NNT0702: row 1: index 4 is outside \"seq\" of layers[0].layer_output, which has 3 "
        "tokens in this row\n"
        "plan.json:4:46: error NNT0703: this edit of layers[1].layer_output selects nothing in any row of this run\n"
        "plan.json:6:18: error NNT0709: row 0: the source has 3 positions on \"seq\", the region has 2 on \"seq\"; as "
        "many or one would fit\n"
        "plan.json:7:54: error NNT0702: row 0: index 9 is outside \"seq\" of layers[3].layer_output, which has 5 "
        "tokens in this row\n");
}

TEST_CASE("a conflict that only lengths decide is refused before anything is compiled or computed", "[plan-errors]") {
  const std::string plan = R"({"nnterp_plan": 1,
 "edits": [
  {"at": "layers[4].layer_output", "select": {"seq": "prompt[-1]"}, "do": {"zero": {}}},
  {"at": "layers[4].layer_output", "select": {"seq": 2}, "do": {"fill": 1}}],
 "taps": ["logits"]}
)";
  const std::string errors = refused(plan, {{1, 2, 3, 4, 5}, {1, 2, 3}});
  INFO(errors);
  CHECK(errors.find("plan.json:4:3: error NNT0801: ") == 0);
  Setup setup;
  setup.plan = plan;
  setup.rows = {{1, 2, 3, 4, 5}};
  CHECK(outputs(setup).size() == 1);
}
