// Products with weight matrices as kernels: the same numbers as on the CPU, and each row's bits its own.
#include "tests/exec/DeviceKernels.h"

#include <catch2/catch.hpp>

using namespace nnterp;

namespace {

struct Linear {
  std::string model, weight;
  int64_t depth, columns;
  bool bias = false;
  int64_t bytes() const { return model == "f32" ? 4 : 2; }
  DType modelType() const { return typeOf(model); }
  DType weightType() const { return typeOf(weight); }
  static DType typeOf(const std::string &name) {
    return name == "f32" ? DType::f32 : name == "f16" ? DType::f16 : DType::bf16;
  }

  std::string text() const {
    std::string x = "tensor<?x?x" + std::to_string(depth) + "x" + model + ">", n = std::to_string(columns);
    std::string w = "tensor<" + n + "x" + std::to_string(depth) + "x" + weight + ">",
                c = "tensor<" + n + "x" + weight + ">";
    std::string y = "tensor<?x?x" + n + "x" + model + ">";
    return "func.func @main(%x: " + x + " {nnterp.input = \"x\"}) -> (" + y + " {nnterp.key = \"y\"}) {\n" +
           "  %w = hybrid.weight \"w\" {nnterp.block = 0 : i64} : " + w + "\n" +
           (bias ? "  %c = hybrid.weight \"c\" {nnterp.block = 0 : i64} : " + c + "\n" : "") +
           "  %y = hybrid.linear %x, %w" + (bias ? " bias %c" : "") + " {nnterp.block = 0 : i64} : " + x + ", " + w +
           (bias ? ", " + c : "") + "\n  return %y : " + y + "\n}\n";
  }
  test::Values values(int64_t rows, int64_t tokens) const {
    return {{"x", test::random(modelType(), {rows, tokens, depth}, 1)},
            {"w", test::random(weightType(), {columns, depth}, 2, 0.2)},
            {"c", test::random(weightType(), {columns}, 3)}};
  }
};

const Linear linears[] = {
    {"bf16", "bf16", 48, 20}, {"bf16", "bf16", 20, 6, true},  {"bf16", "bf16", 64, 64}, {"bf16", "bf16", 520, 70},
    {"bf16", "f32", 72, 17},  {"bf16", "f16", 300, 33, true}, {"f32", "f32", 48, 20},   {"f32", "f32", 21, 70, true},
    {"f32", "f32", 260, 66},  {"f32", "bf16", 28, 12, true},  {"f32", "f16", 64, 1},
};

// Depths on both sides of where a kernel is another one: of less than a panel, of whole panels, of whole parts, and
// with parts that are not full or empty.
const Linear depths[] = {
    {"bf16", "bf16", 5, 2},    {"bf16", "bf16", 8, 3},    {"bf16", "bf16", 28, 40},      {"bf16", "bf16", 50, 19},
    {"bf16", "bf16", 96, 17},  {"bf16", "bf16", 512, 65}, {"bf16", "bf16", 544, 33},     {"bf16", "f32", 1024, 16},
    {"bf16", "f16", 1100, 20}, {"f32", "f32", 3, 2},      {"f32", "bf16", 50, 19, true}, {"f32", "f32", 256, 20},
    {"f32", "f16", 272, 70},   {"f32", "f32", 512, 1},
};

} // namespace

TEST_CASE("products are those of the CPU, for few rows and for many") {
  for (const Linear &linear : linears) {
    INFO(linear.text());
    test::Graph graph(linear.text());
    CHECK(graph.kernels() == std::vector<std::string>{"linear_few", "linear"});
    for (auto [rows, tokens] : {std::pair<int64_t, int64_t>{1, 1}, {2, 9}, {3, 23}}) {
      test::Values in = linear.values(rows, tokens);
      test::Shapes out{{"y", {rows, tokens, linear.columns}}};
      CHECK(test::difference(graph.onCpu(in, out).at("y"), graph.onDevice(in, out).at("y")) == "");
    }
  }
}

/// A row alone is a product of few rows, among 67 of many.
void checkRowsAlone(const Linear &linear, const test::Graph &graph) {
  test::Values in = linear.values(67, 1);
  Tensor all = graph.onDevice(in, {{"y", {67, 1, linear.columns}}}).at("y");
  for (int64_t row : {0, 9, 63, 66}) {
    test::Values alone = in;
    alone["x"] = test::row(in.at("x"), row);
    CHECK(test::bitDifference(test::row(all, row), graph.onDevice(alone, {{"y", {1, 1, linear.columns}}}).at("y")) ==
          "");
  }
}

TEST_CASE("a row of a product has the same bits alone and among others") {
  for (const Linear &linear : linears) {
    INFO(linear.text());
    checkRowsAlone(linear, test::Graph(linear.text()));
  }
}

TEST_CASE("products of every depth") {
  for (const Linear &linear : depths) {
    INFO(linear.text());
    test::Graph graph(linear.text());
    test::Values in = linear.values(3, 13);
    test::Shapes out{{"y", {3, 13, linear.columns}}};
    CHECK(test::difference(graph.onCpu(in, out).at("y"), graph.onDevice(in, out).at("y")) == "");
    checkRowsAlone(linear, graph);
  }
}

TEST_CASE("products of different extents are one kernel") {
  test::Graph graph(R"(
func.func @main(%x: tensor<?x?x512xbf16> {nnterp.input = "x"}, %r: tensor<?x?x20xbf16> {nnterp.input = "r"},
    %s: tensor<?x?x33xbf16> {nnterp.input = "s"})
    -> (tensor<?x?x20xbf16> {nnterp.key = "y"}, tensor<?x?x33xbf16> {nnterp.key = "z"}) {
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<1024x512xbf16>
  %v = hybrid.weight "v" {nnterp.block = 0 : i64} : tensor<20x1024xbf16>
  %u = hybrid.weight "u" {nnterp.block = 0 : i64} : tensor<33x512xbf16>
  %a = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x?x512xbf16>, tensor<1024x512xbf16>
  %b = hybrid.linear %a, %v {nnterp.block = 0 : i64} : tensor<?x?x1024xbf16>, tensor<20x1024xbf16>
  %c = hybrid.linear %x, %u {nnterp.block = 0 : i64} : tensor<?x?x512xbf16>, tensor<33x512xbf16>
  %y = hybrid.add %b, %r {nnterp.block = 0 : i64} : tensor<?x?x20xbf16>
  %z = hybrid.add %c, %s {nnterp.block = 0 : i64} : tensor<?x?x33xbf16>
  return %y, %z : tensor<?x?x20xbf16>, tensor<?x?x33xbf16>
})");
  // One without, one with the sum.
  CHECK(graph.kernels() == std::vector<std::string>{"linear_few", "linear", "linear_few", "linear"});
  for (int64_t tokens : {3, 40}) {
    test::Values in{
        {"x", test::random(DType::bf16, {2, tokens, 512}, 1)}, {"r", test::random(DType::bf16, {2, tokens, 20}, 2)},
        {"s", test::random(DType::bf16, {2, tokens, 33}, 3)},  {"w", test::random(DType::bf16, {1024, 512}, 4, 0.05)},
        {"v", test::random(DType::bf16, {20, 1024}, 5, 0.05)}, {"u", test::random(DType::bf16, {33, 512}, 6, 0.05)}};
    test::Shapes out{{"y", {2, tokens, 20}}, {"z", {2, tokens, 33}}};
    test::Values cpu = graph.onCpu(in, out), gpu = graph.onDevice(in, out);
    // What the first product rounds the other way moves what the second sums.
    CHECK(test::difference(cpu.at("y"), gpu.at("y"), 4e-3, 0.1) == "");
    CHECK(test::difference(cpu.at("z"), gpu.at("z")) == "");
  }
}

TEST_CASE("a product of no rows is nothing") {
  test::Graph graph(linears[0].text());
  for (auto [rows, tokens] : {std::pair<int64_t, int64_t>{0, 3}, {2, 0}}) {
    test::Values in = linears[0].values(rows, tokens);
    CHECK(graph.onDevice(in, {{"y", {rows, tokens, 20}}}).at("y").bytes() == 0);
  }
}

TEST_CASE("an edit, its tap and a residual sum are computed in the product's kernel") {
  test::Graph graph(R"(
func.func @main(%x: tensor<?x?x48xbf16> {nnterp.input = "x"}, %r: tensor<?x?x20xbf16> {nnterp.input = "r"})
    -> (tensor<?x?x20xbf16> {nnterp.key = "tap"}, tensor<?x?x20xbf16> {nnterp.key = "y"}) {
  %c = nnterp.buffer "c" : tensor<20xf32>
  %s = nnterp.buffer "s" : tensor<?x?xi64>
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<20x48xbf16>
  %a = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x?x48xbf16>, tensor<20x48xbf16>
  %e = nnterp.edit %a tables [1](%s : tensor<?x?xi64>) sources [array<i64: -2>](%c : tensor<20xf32>) entry 0 {nnterp.block = 0 : i64} : tensor<?x?x20xbf16> {
  ^bb0(%old: f32, %source: f32):
    %new = arith.mulf %old, %source : f32
    nnterp.yield %new : f32
  }
  %y = hybrid.add %e, %r {nnterp.block = 0 : i64} : tensor<?x?x20xbf16>
  return %e, %y : tensor<?x?x20xbf16>, tensor<?x?x20xbf16>
})");
  CHECK(graph.kernels() == std::vector<std::string>{"linear_few", "linear"});
  for (int64_t tokens : {4, 21}) {
    test::Values in{{"x", test::random(DType::bf16, {2, tokens, 48}, 1)},
                    {"w", test::random(DType::bf16, {20, 48}, 2)},
                    {"r", test::random(DType::bf16, {2, tokens, 20}, 3)},
                    {"c", test::random(DType::f32, {20}, 4)},
                    {"s", test::randomIntegers({2, tokens}, 5, -1, 1)}};
    test::Shapes out{{"tap", {2, tokens, 20}}, {"y", {2, tokens, 20}}};
    test::Values cpu = graph.onCpu(in, out), gpu = graph.onDevice(in, out);
    CHECK(test::difference(cpu.at("tap"), gpu.at("tap")) == "");
    CHECK(test::difference(cpu.at("y"), gpu.at("y")) == "");
  }
}

TEST_CASE("a product may have one axis of rows") {
  test::Graph graph(R"(
func.func @main(%x: tensor<?x48xf32> {nnterp.input = "x"}) -> (tensor<?x20xf32> {nnterp.key = "y"}) {
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<20x48xf32>
  %y = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x48xf32>, tensor<20x48xf32>
  return %y : tensor<?x20xf32>
})");
  test::Values in{{"x", test::random(DType::f32, {5, 48}, 1)}, {"w", test::random(DType::f32, {20, 48}, 2)}};
  CHECK(test::difference(graph.onCpu(in, {{"y", {5, 20}}}).at("y"), graph.onDevice(in, {{"y", {5, 20}}}).at("y")) ==
        "");
}

TEST_CASE("products of bfloat16 are matrix instructions on shared memory, others fused multiply-adds") {
  test::Graph narrow(linears[3].text()), wide(linears[8].text());
  CHECK(narrow.ptx().find("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32") != std::string::npos);
  CHECK(narrow.ptx().find("ld.shared.v4") != std::string::npos);
  CHECK(wide.ptx().find("mma.sync") == std::string::npos);
  CHECK(wide.ptx().find("fma.rn.f32") != std::string::npos);
  for (const test::Graph *graph : {&narrow, &wide}) {
    CHECK(graph->ptx().find("ld.global.v4") != std::string::npos);
    CHECK(graph->ptx().find(".extern .func") == std::string::npos);
  }
}
