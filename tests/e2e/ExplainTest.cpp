// What `nnterp explain` says is what a run then does: memory, and what worlds share.
#include "tests/e2e/Runs.h"
#include "tools/nnterp/Explain.h"

#include <catch2/catch.hpp>

#include <cstdio>
#include <numeric>

using namespace nnterp;
using namespace nnterp::test;

namespace {

Explanation explained(const ExplainArguments &arguments) {
  Diagnostics diags;
  std::optional<Explanation> result = explain(arguments, diags);
  for (const Diagnostic &d : diags.all())
    UNSCOPED_INFO(d.code << " " << d.message);
  REQUIRE(result);
  return std::move(*result);
}

ExplainArguments argumentsFor(const std::string &checkpoint) {
  ExplainArguments arguments;
  arguments.checkpoint = NNTERP_TEST_DATA "/checkpoints/" + checkpoint;
  arguments.dtype = "float32";
  return arguments;
}

/// Clean and corrupt, and `patched` worlds that differ from clean from block 6 on.
std::string patching(int patched) {
  std::string worlds = R"("clean": {"input": "clean"}, "corrupt": {"input": "corrupt"})", edits;
  for (int i = 0; i < patched; ++i) {
    std::string name = "\"p" + std::to_string(i) + "\"";
    worlds += ", " + name + R"(: {"input": "clean"})";
    edits += (i ? ", " : "") + (R"({"world": )" + name + R"(, "at": "layers[6].layer_input", "select": {"seq": )") +
             std::to_string(i % 5) + R"(}, "do": {"replace": {"world": "corrupt"}}})";
  }
  return R"({"nnterp_plan": 1, "worlds": {)" + worlds + R"(}, "edits": [)" + edits +
         R"(], "taps": [{"at": "logits", "select": {"seq": "prompt[-1]"}}]})";
}

int64_t kernelsOf(const std::string &plan) {
  TemporaryFolder folder;
  ExplainArguments arguments = argumentsFor("tiny-text");
  arguments.plan = folder.write("plan.json", plan);
  return explained(arguments).report.prompt.kernels;
}

} // namespace

TEST_CASE("memory is predicted within a tenth") {
  for (const char *checkpoint : {"toy", "tiny-heads"}) {
    std::vector<int64_t> row(150);
    std::iota(row.begin(), row.end(), 3);
    Setup setup;
    setup.checkpoint = checkpoint;
    setup.plan = R"({"nnterp_plan": 1})";
    setup.rows = {row};
    setup.generation = greedily(20);
    RunResult result = run(setup);
    double measured = double(result.costs.arenaPeak + result.costs.stateBytes + result.copiedBytes);
    for (const auto &[key, tensor] : result.outputs)
      measured += double(tensor.bytes());

    ExplainArguments arguments = argumentsFor(checkpoint);
    arguments.target = testTarget();
    arguments.tokens = 150;
    arguments.generate = 20;
    const MemoryEstimate memory = explained(arguments).memory;
    double predicted = double(memory.total() - memory.uploaded); // a device's copy of the weights is not the run's
    std::printf("%-12s predicted %.0f, measured %.0f bytes\n", checkpoint, predicted, measured);
    CHECK(predicted == Approx(measured).epsilon(0.1));
  }
}

TEST_CASE("twenty worlds that differ from block 6 on compute blocks 0 to 5 once") {
  TemporaryFolder folder;
  ExplainArguments arguments = argumentsFor("tiny-text");
  arguments.plan = folder.write("plan.json", patching(20));
  Explanation explanation = explained(arguments);
  const std::vector<WorldReport> &worlds = explanation.report.prompt.worlds;
  REQUIRE(worlds.size() == 22);
  CHECK(worlds[0].firstOwnBlock == -1);
  CHECK(worlds[1].firstOwnBlock == -1);
  for (size_t i = 2; i < worlds.size(); ++i)
    CHECK(worlds[i].firstOwnBlock == 6);

  int64_t shared = explanation.report.prompt.kernels,
          one = kernelsOf(R"({"nnterp_plan": 1, "taps": [{"at": "logits", "select": {"seq": "prompt[-1]"}}]})"),
          before = kernelsOf(
              R"({"nnterp_plan": 1, "taps": [{"at": "layers[5].layer_output", "select": {"seq": "prompt[-1]"}}]})");
  std::printf("kernels per call: %ld with sharing, %ld without\n", long(shared), long(22 * one));
  CHECK(shared > 2 * one);
  CHECK(shared <= 2 * one + 20 * (one - before + 2)); // an edit, and what it reads, may be kernels of their own
}

TEST_CASE("worlds that do not differ are computed once") {
  const std::string plan = R"({"nnterp_plan": 1, "worlds": {"a": {"input": "x"}, "b": {"input": "x"}}})";
  CHECK(kernelsOf(plan) == kernelsOf(R"({"nnterp_plan": 1})"));
}

TEST_CASE("kernels for a GPU compute what the graph does, in whole tiles, and read the weights that it reads") {
  ExplainArguments arguments;
  arguments.checkpoint = NNTERP_TEST_DATA "/configs/qwen3.5-35b-a3b/config.json";
  arguments.target = Target::cuda;
  arguments.tokens = 256;
  arguments.generate = 4;
  const Explanation explanation = explained(arguments);
  REQUIRE(explanation.launches);
  REQUIRE(explanation.calls.size() == 2);
  REQUIRE(explanation.launches->calls.size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    const CallCost &graph = explanation.calls[i];
    const CallLaunches &kernels = explanation.launches->calls[i];
    const double weights = graph.weightBytes + graph.expertBytes;
    std::printf("%s: %.3g operations in kernels, %.3g in the graph; %.3g bytes, %.3g of weights\n", graph.what.c_str(),
                kernels.flops, graph.flops, kernels.bytes, weights);
    CHECK(kernels.flops > graph.flops);
    CHECK(kernels.flops < graph.flops * (i == 0 ? 2 : 20)); // a token alone has a tile of 16 rows
    CHECK(kernels.bytes > weights);
    CHECK(kernels.bytes < weights * 1.5);
  }
}
