// The mixture of experts as kernels: the choice, the sort and the grouped products against the CPU.
#include "tests/exec/DeviceKernels.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace nnterp;

namespace {

std::string number(int64_t n) { return std::to_string(n); }
DType typeOf(const std::string &name) { return name == "f32" ? DType::f32 : name == "f16" ? DType::f16 : DType::bf16; }

struct Experts {
  std::string model, weight;
  int64_t experts, slots, width, neurons;

  std::string x() const { return "tensor<?x?x" + number(width) + "x" + model + ">"; }
  std::string i() const { return "tensor<?x?x" + number(slots) + "xi64>"; }
  std::string w() const { return "tensor<?x?x" + number(slots) + "x" + model + ">"; }
  std::string y() const { return "tensor<?x?x" + number(slots) + "x" + number(width) + "x" + model + ">"; }

  /// Parameters, and the op, of values whose names end in `n`.
  std::string parameters(const std::string &n = "") const {
    return "%x" + n + ": " + x() + " {nnterp.input = \"x" + n + "\"}, %i" + n + ": " + i() + " {nnterp.input = \"i" +
           n + "\"}, %w" + n + ": " + w() + " {nnterp.input = \"w" + n + "\"}";
  }
  std::string op(const std::string &n = "") const {
    std::string e = number(experts);
    std::string g = "tensor<" + e + "x" + number(2 * neurons) + "x" + number(width) + "x" + weight + ">";
    std::string d = "tensor<" + e + "x" + number(width) + "x" + number(neurons) + "x" + weight + ">";
    return "  %g" + n + " = hybrid.weight \"g" + n + "\" {nnterp.block = 0 : i64} : " + g + "\n  %d" + n +
           " = hybrid.weight \"d" + n + "\" {nnterp.block = 0 : i64} : " + d + "\n  %y" + n + " = hybrid.experts %x" +
           n + ", %i" + n + ", %w" + n + ", %g" + n + ", %d" + n + " {nnterp.block = 0 : i64} : " + x() + ", " + i() +
           ", " + w() + ", " + g + ", " + d + "\n";
  }
  std::string text() const {
    return "func.func @main(" + parameters() + ") -> (" + y() + " {nnterp.key = \"y\"}) {\n" + op() +
           "  return %y : " + y() + "\n}\n";
  }
  test::Values values(int64_t rows, int64_t tokens, const std::string &n = "") const {
    return {{"x" + n, test::random(typeOf(model), {rows, tokens, width}, 1)},
            {"i" + n, test::randomIntegers({rows, tokens, slots}, 2, -1, experts + 1)}, // some name no expert
            {"w" + n, test::random(typeOf(model), {rows, tokens, slots}, 3)},
            {"g" + n, test::random(typeOf(weight), {experts, 2 * neurons, width}, 4, 0.3)},
            {"d" + n, test::random(typeOf(weight), {experts, width, neurons}, 5, 0.3)}};
  }
  Shape result(int64_t rows, int64_t tokens) const { return {rows, tokens, slots, width}; }
};

// Of the second ones a few tokens are enough for tiles of many rows.
const Experts mixtures[] = {{"bf16", "bf16", 12, 3, 48, 20}, {"bf16", "bf16", 2, 2, 48, 40},
                            {"bf16", "f32", 5, 2, 20, 9},    {"f32", "f32", 12, 3, 48, 20},
                            {"f32", "f32", 2, 2, 21, 40},    {"f32", "bf16", 3, 1, 16, 9}};

struct Router {
  std::string model;
  int64_t experts, slots;
  bool forced;

  std::string text() const {
    std::string l = "tensor<?x?x" + number(experts) + "x" + model + ">", k = number(slots);
    std::string f = "tensor<?x?x" + k + "xi64>", w = "tensor<?x?x" + k + "x" + model + ">";
    return "func.func @main(%l: " + l + " {nnterp.input = \"l\"}, %f: " + f + " {nnterp.input = \"f\"}) -> (" + w +
           " {nnterp.key = \"w\"}, " + f + " {nnterp.key = \"i\"}) {\n  %w, %i = hybrid.router %l top " + k +
           (forced ? " forced %f : " + f : "") + " {nnterp.block = 0 : i64} : " + l + "\n  return %w, %i : " + w +
           ", " + f + "\n}\n";
  }
  /// Logits of few different values, so that there are equals.
  test::Values values(int64_t rows, int64_t tokens) const {
    Tensor logits = Tensor::make(DType::f32, {rows, tokens, experts}),
           steps = test::randomIntegers(logits.shape, 1, -9, 10);
    for (int64_t i = 0; i < elementCount(logits.shape); ++i)
      logits.as<float>()[i] = float(steps.as<int64_t>()[i]) * 0.75f;
    Tensor force = test::randomIntegers({rows, tokens, slots}, 2, 0, experts);
    for (int64_t i = 0; i < elementCount(force.shape); ++i) { // none, one or two of each token, no expert twice
      int64_t place = i % slots, token = i / slots;
      int64_t *entry = force.as<int64_t>() + i;
      *entry = place >= token % 3 ? -1 : place == 1 && *entry == entry[-1] ? (*entry + 1) % experts : *entry;
    }
    return {{"l", model == "f32" ? logits : logits.to(DType::bf16)}, {"f", force}};
  }
};

const Router routers[] = {
    {"f32", 12, 3, false}, {"f32", 70, 8, true}, {"bf16", 70, 8, false}, {"bf16", 4, 2, true}, {"f32", 3, 3, false}};

} // namespace

TEST_CASE("experts compute what they compute on the CPU") {
  for (const Experts &mixture : mixtures) {
    INFO(mixture.text());
    test::Graph graph(mixture.text());
    CHECK(graph.kernels() ==
          std::vector<std::string>{"experts_sort", "experts_up_few", "experts_up", "experts_down_few", "experts_down"});
    for (auto [rows, tokens] : {std::pair<int64_t, int64_t>{1, 1}, {2, 7}, {3, 37}}) {
      test::Values in = mixture.values(rows, tokens);
      test::Shapes out{{"y", mixture.result(rows, tokens)}};
      // A neuron rounded the other way moves what it is summed into.
      const bool narrow = mixture.model == "bf16";
      CHECK(test::difference(graph.onCpu(in, out).at("y"), graph.onDevice(in, out).at("y"), narrow ? 4e-3 : 2e-6,
                             0.05) == "");
    }
  }
}

TEST_CASE("a token's experts give the same bits alone and in a batch") {
  for (const Experts &mixture : mixtures) {
    INFO(mixture.text());
    test::Graph graph(mixture.text());
    test::Values in = mixture.values(90, 1);
    Tensor all = graph.onDevice(in, {{"y", mixture.result(90, 1)}}).at("y");
    for (int64_t row : {0, 40, 89}) {
      test::Values alone = in;
      for (const char *name : {"x", "i", "w"})
        alone[name] = test::row(in.at(name), row);
      CHECK(test::bitDifference(test::row(all, row), graph.onDevice(alone, {{"y", mixture.result(1, 1)}}).at("y")) ==
            "");
    }
  }
}

TEST_CASE("experts of no tokens and slots without experts") {
  test::Graph graph(mixtures[0].text());
  test::Values none = mixtures[0].values(2, 0);
  CHECK(graph.onDevice(none, {{"y", mixtures[0].result(2, 0)}}).at("y").bytes() == 0);
  test::Values in = mixtures[0].values(2, 3);
  in["i"] = test::integers({2, 3, 3}, std::vector<int64_t>(18, -1));
  Tensor zeros = Tensor::make(DType::bf16, mixtures[0].result(2, 3));
  CHECK(test::bitDifference(zeros, graph.onDevice(in, {{"y", zeros.shape}}).at("y")) == "");
}

TEST_CASE("mixtures of different extents have the same products") {
  const Experts one{"bf16", "bf16", 12, 3, 48, 24}, other{"bf16", "bf16", 2, 2, 40, 16};
  test::Graph graph("func.func @main(" + one.parameters() + ", " + other.parameters("o") + ") -> (" + one.y() +
                    " {nnterp.key = \"y\"}, " + other.y() + " {nnterp.key = \"yo\"}) {\n" + one.op() + other.op("o") +
                    "  return %y, %yo : " + one.y() + ", " + other.y() + "\n}\n");
  CHECK(graph.kernels() == std::vector<std::string>{"experts_sort", "experts_up_few", "experts_up", "experts_down_few",
                                                    "experts_down", "experts_sort"});
  for (int64_t tokens : {1, 50}) {
    test::Values in = one.values(2, tokens), more = other.values(2, tokens, "o");
    in.insert(more.begin(), more.end());
    test::Shapes out{{"y", one.result(2, tokens)}, {"yo", other.result(2, tokens)}};
    test::Values cpu = graph.onCpu(in, out), gpu = graph.onDevice(in, out);
    for (const char *key : {"y", "yo"})
      CHECK(test::difference(cpu.at(key), gpu.at(key), 4e-3, 0.05) == "");
  }
}

TEST_CASE("one expert for all tokens fills many tiles") {
  test::Graph graph(mixtures[1].text());
  test::Values in = mixtures[1].values(2, 50);
  in["i"] = test::integers({2, 50, 2}, std::vector<int64_t>(200, 1));
  test::Shapes out{{"y", mixtures[1].result(2, 50)}};
  CHECK(test::difference(graph.onCpu(in, out).at("y"), graph.onDevice(in, out).at("y"), 4e-3, 0.05) == "");
}

TEST_CASE("the router chooses as on the CPU, of equals the first") {
  for (const Router &router : routers) {
    INFO(router.text());
    test::Graph graph(router.text());
    CHECK(graph.kernels() == std::vector<std::string>{"router"});
    for (auto [rows, tokens] : {std::pair<int64_t, int64_t>{1, 1}, {2, 9}, {0, 4}}) {
      test::Values in = router.values(rows, tokens);
      test::Shapes out{{"w", {rows, tokens, router.slots}}, {"i", {rows, tokens, router.slots}}};
      test::Values cpu = graph.onCpu(in, out), gpu = graph.onDevice(in, out);
      CHECK(test::bitDifference(cpu.at("i"), gpu.at("i")) == "");
      CHECK(test::difference(cpu.at("w"), gpu.at("w")) == "");
    }
  }
}

TEST_CASE("logits that are no numbers still choose experts") {
  test::Graph graph(routers[0].text());
  test::Values in = routers[0].values(1, 3);
  for (int64_t i = 0; i < 24; ++i) // of the first token all, of the second all, of the third none
    in["l"].as<float>()[i] = i < 12 ? std::nanf("") : -HUGE_VALF;
  test::Shapes out{{"w", {1, 3, 3}}, {"i", {1, 3, 3}}};
  Tensor indices = graph.onDevice(in, out).at("i");
  for (int64_t i = 0; i < 9; ++i)
    CHECK((indices.as<int64_t>()[i] >= 0 && indices.as<int64_t>()[i] < 12));
}
