// Norms and softmax as kernels: every kind, lengths that no number of threads divides, rows that stay the same beside others.
#include "tests/exec/DeviceKernels.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

const char *spelling(DType dtype) { return dtype == DType::bf16 ? "bf16" : "f32"; }

/// The text with each `{NAME}` replaced, in this order.
std::string filled(std::string text, const std::vector<std::pair<std::string, std::string>> &words) {
  for (const auto &[name, word] : words)
    for (size_t at; (at = text.find("{" + name + "}")) != std::string::npos;)
      text.replace(at, name.size() + 2, word);
  return text;
}

/// A graph with one norm of x [B,S,length], which may take a weight, a bias and a gate.
Graph norm(const std::string &op, const std::string &types, DType model, DType weight, int64_t length, DType result) {
  return Graph(filled(R"(
    func.func @main(%x: tensor<?x?x{L}x{M}> {nnterp.input = "x"}, %z: tensor<?x?x{L}x{M}> {nnterp.input = "z"})
        -> (tensor<?x?x{L}x{R}> {nnterp.key = "y"}) {
      %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<{L}x{W}>
      %b = hybrid.weight "b" {nnterp.block = 0 : i64} : tensor<{L}x{W}>
      %y = {OP} {nnterp.block = 0 : i64} : {TYPES}
      return %y : tensor<?x?x{L}x{R}>
    })",
                      {{"OP", op},
                       {"TYPES", types},
                       {"L", std::to_string(length)},
                       {"M", spelling(model)},
                       {"W", spelling(weight)},
                       {"R", spelling(result)}}));
}

struct Kind {
  const char *name, *op, *types;
  bool float32; ///< whatever the model's dtype is
};

const Kind kinds[] = {
    {"rms_norm", "hybrid.rms_norm %x, %w unit_offset eps 1.0e-6", "tensor<?x?x{L}x{M}>, tensor<{L}x{W}>", false},
    {"gated_rms_norm", "hybrid.gated_rms_norm %x, %z, %w eps 1.0e-6", "tensor<?x?x{L}x{M}>, tensor<{L}x{W}>", false},
    {"l2_norm", "hybrid.l2_norm %x eps 1.0e-6 scale 0.25", "tensor<?x?x{L}x{M}>", true},
    {"layer_norm", "hybrid.layer_norm %x, %w, %b eps 1.0e-6", "tensor<?x?x{L}x{M}>, tensor<{L}x{W}>, tensor<{L}x{W}>", false}};

} // namespace

TEST_CASE("norms of every kind, dtype and length agree with the plain lowering") {
  for (const Kind &kind : kinds)
    for (DType model : {DType::f32, DType::bf16})
      for (int64_t length : {20, 128, 300}) {
        INFO(kind.name << " " << spelling(model) << " " << length);
        DType result = kind.float32 ? DType::f32 : model, weight = model == DType::f32 ? DType::bf16 : DType::f32;
        Graph graph = norm(kind.op, kind.types, model, weight, length, result);
        Values in{{"x", random(model, {2, 3, length}, 1)},
                  {"z", random(model, {2, 3, length}, 2)},
                  {"w", random(weight, {length}, 3)},
                  {"b", random(weight, {length}, 4)}};
        Shapes out{{"y", {2, 3, length}}};
        Values cpu = graph.onCpu(in, out), device = graph.onDevice(in, out);
        CHECK(difference(cpu.at("y"), device.at("y")) == "");
        CHECK(graph.kernels() == std::vector<std::string>{kind.name});
      }
}

TEST_CASE("a norm's row is the same bits beside other rows, and no row is none") {
  Graph graph = norm(kinds[0].op, kinds[0].types, DType::f32, DType::f32, 300, DType::f32);
  Tensor x = random(DType::f32, {3, 5, 300}, 5), w = random(DType::f32, {300}, 6);
  Tensor all = graph.onDevice({{"x", x}, {"z", x}, {"w", w}, {"b", w}}, {{"y", {3, 5, 300}}}).at("y");
  Tensor one = row(x, 1);
  Tensor alone = graph.onDevice({{"x", one}, {"z", one}, {"w", w}, {"b", w}}, {{"y", {1, 5, 300}}}).at("y");
  CHECK(bitDifference(row(all, 1), alone) == "");
  Tensor none = Tensor::make(DType::f32, {0, 5, 300});
  CHECK(graph.onDevice({{"x", none}, {"z", none}, {"w", w}, {"b", w}}, {{"y", {0, 5, 300}}}).at("y").bytes() == 0);
}

TEST_CASE("softmax over all entries and over those up to a query's place") {
  for (DType model : {DType::f32, DType::bf16}) {
    Graph graph(filled(R"(
      func.func @main(%x: tensor<?x3x?x?x{M}> {nnterp.input = "x"}, %p: tensor<?xi64> {nnterp.input = "p"})
          -> (tensor<?x3x?x?x{M}> {nnterp.key = "all"}, tensor<?x3x?x?x{M}> {nnterp.key = "causal"}) {
        %a = hybrid.softmax %x as {M} {nnterp.block = 0 : i64} : tensor<?x3x?x?x{M}>
        %c = hybrid.softmax %x causal past %p as {M} {nnterp.block = 0 : i64} : tensor<?x3x?x?x{M}>, tensor<?xi64>
        return %a, %c : tensor<?x3x?x?x{M}>, tensor<?x3x?x?x{M}>
      })",
                       {{"M", spelling(model)}}));
    auto run = [&](int64_t keys) {
      Values in{{"x", random(model, {2, 3, 4, keys}, 7, 3)}, {"p", integers({2}, {0, 131})}};
      Shapes out{{"all", {2, 3, 4, keys}}, {"causal", {2, 3, 4, keys}}};
      Values cpu = graph.onCpu(in, out), device = graph.onDevice(in, out);
      for (const char *name : {"all", "causal"})
        CHECK(difference(cpu.at(name), device.at(name)) == "");
      return device.at("causal");
    };
    run(135);
    run(260);
  }
}
