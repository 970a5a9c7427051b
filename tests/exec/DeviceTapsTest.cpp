// Regions of values, as taps with a selection read them, and views of values: the bits of the value itself.
#include "tests/exec/DeviceKernels.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// A product, and the region of it that a table of tokens per row and one of channels select.
const char *regionOfProduct = R"(
func.func @main(%x: tensor<?x?x24xf32> {nnterp.input = "x"}, %seq: tensor<?x?xi64> {nnterp.input = "seq"}, %channels: tensor<?xi64> {nnterp.input = "channels"})
    -> (tensor<?x?x20xf32> {nnterp.key = "y"}, tensor<?x?x?xf32> {nnterp.key = "region"}) {
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<20x24xf32>
  %y = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x?x24xf32>, tensor<20x24xf32>
  %g = nnterp.gather %y tables [1, 2] (%seq, %channels : tensor<?x?xi64>, tensor<?xi64>) {nnterp.block = 0 : i64} : tensor<?x?x20xf32>
  return %y, %g : tensor<?x?x20xf32>, tensor<?x?x?xf32>
})";

/// The region by the definition of nnterp.gather.
Tensor expectedRegion(const Tensor &y, const Tensor &seq, const Tensor &channels) {
  int64_t rows = y.shape[0], tokens = y.shape[1], n = seq.shape[1], m = channels.shape[0];
  Tensor region = Tensor::make(DType::f32, {rows, n, m});
  for (int64_t b = 0; b < rows; ++b)
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < m; ++j) {
        int64_t s = seq.as<int64_t>()[b * n + i], c = channels.as<int64_t>()[j];
        region.as<float>()[(b * n + i) * m + j] = s < 0 || c < 0 ? 0 : y.as<float>()[(b * tokens + s) * 20 + c];
      }
  return region;
}

} // namespace

TEST_CASE("a region is the bits of its value, whether its kernel writes it or another one gathers it") {
  Graph graph(regionOfProduct);
  CHECK(graph.kernels() == std::vector<std::string>{"linear_few", "linear", "gather"});
  const int64_t rows = 3, tokens = 40;
  std::vector<int64_t> some{-1, 39, 0, -1, 17, 3, 5, 4, 20}, channels{19, -1, 0, 7};
  std::vector<int64_t> many(size_t(rows * tokens));
  for (int64_t i = 0; i < rows * tokens; ++i)
    many[size_t(i)] = i % 7 == 2 ? -1 : (i * 11) % tokens;
  for (const std::vector<int64_t> &seq : {some, many}) {
    const int64_t n = int64_t(seq.size()) / rows;
    Values in{{"x", random(DType::f32, {rows, tokens, 24}, 1)},
              {"w", random(DType::f32, {20, 24}, 2, 0.2)},
              {"seq", integers({rows, n}, seq)},
              {"channels", integers({4}, channels)}};
    Values out = graph.onDevice(in, {{"y", {rows, tokens, 20}}, {"region", {rows, n, 4}}});
    CHECK(bitDifference(expectedRegion(out.at("y"), in.at("seq"), in.at("channels")), out.at("region")) == "");
  }
}

TEST_CASE("a region of a loop's value is written by its kernel") {
  Graph graph(R"(
func.func @main(%x: tensor<?x?x6x4xbf16> {nnterp.input = "x"}, %heads: tensor<?xi64> {nnterp.input = "heads"})
    -> (tensor<?x?x6x4xbf16> {nnterp.key = "y"}, tensor<?x?x?x4xbf16> {nnterp.key = "region"}) {
  %y = hybrid.silu %x {nnterp.block = 0 : i64} : tensor<?x?x6x4xbf16>
  %g = nnterp.gather %y tables [2] (%heads : tensor<?xi64>) {nnterp.block = 0 : i64} : tensor<?x?x6x4xbf16>
  return %y, %g : tensor<?x?x6x4xbf16>, tensor<?x?x?x4xbf16>
})");
  CHECK(graph.kernels() == std::vector<std::string>{"silu", "gather"});
  Values in{{"x", random(DType::bf16, {2, 3, 6, 4}, 1)}, {"heads", integers({3}, {5, -1, 0})}};
  Shapes shapes{{"y", {2, 3, 6, 4}}, {"region", {2, 3, 3, 4}}};
  Values cpu = graph.onCpu(in, shapes), device = graph.onDevice(in, shapes);
  CHECK(bitDifference(cpu.at("y"), device.at("y")) == "");
  CHECK(bitDifference(cpu.at("region"), device.at("region")) == "");
}

// The kernel of the delta rule ends tokens of a row and places behind the row's end at two points of its text: both look for the region.
TEST_CASE("a region of a delta rule's value, in rows of different lengths") {
  const std::string q = "tensor<?x?x3x8xf32>", g = "tensor<?x?x3xf32>", z = "tensor<?x3x8x8xf32>";
  Graph graph("func.func @main(%q: " + q + " {nnterp.input = \"q\"}, %k: " + q + " {nnterp.input = \"k\"}, %v: " + q +
              " {nnterp.input = \"v\"}, %g: " + g + " {nnterp.input = \"g\"}, %b: " + g + " {nnterp.input = \"b\"}, %s: " + z +
              " {nnterp.input = \"s\"}, %n: tensor<?xi64> {nnterp.input = \"n\"}, %heads: tensor<?xi64> {nnterp.input = \"heads\"}) -> (" +
              q + " {nnterp.key = \"y\"}, tensor<?x?x?x8xf32> {nnterp.key = \"region\"}) {\n" +
              "%y, %z = hybrid.delta_rule %q, %k, %v, %g, %b, %s, %n {nnterp.block = 0 : i64} : (" + q + ", " + q + ", " + q + ", " + g +
              ", " + g + ", " + z + ", tensor<?xi64>) -> (" + q + ", " + z + ")\n" +
              "%r = nnterp.gather %y tables [2] (%heads : tensor<?xi64>) {nnterp.block = 0 : i64} : " + q +
              "\nreturn %y, %r : " + q + ", tensor<?x?x?x8xf32>\n}");
  Values in{{"q", random(DType::f32, {3, 5, 3, 8}, 1, 0.3)}, {"k", random(DType::f32, {3, 5, 3, 8}, 2, 0.3)},
            {"v", random(DType::f32, {3, 5, 3, 8}, 3)},      {"g", random(DType::f32, {3, 5, 3}, 4, 0.1)},
            {"b", random(DType::f32, {3, 5, 3}, 5, 0.5)},    {"s", random(DType::f32, {3, 3, 8, 8}, 6)},
            {"n", integers({3}, {5, 1, 3})},                 {"heads", integers({2}, {2, 0})}};
  Values out = graph.onDevice(in, {{"y", {3, 5, 3, 8}}, {"region", {3, 5, 2, 8}}});
  for (int64_t i = 0; i < 3 * 5; ++i)
    for (int64_t h : {0, 1})
      for (int64_t e = 0; e < 8; ++e)
        REQUIRE(out.at("region").at((i * 2 + h) * 8 + e) == out.at("y").at((i * 3 + (h == 0 ? 2 : 0)) * 8 + e));
}

// Heads with a gate beside each, some repeated, axes exchanged: nothing is copied for a norm, a copy is made for a product.
TEST_CASE("heads are read where the projection has them") {
  Graph graph(R"(
func.func @main(%x: tensor<?x?x32xf32> {nnterp.input = "x"})
    -> (tensor<?x?x4x4xf32> {nnterp.key = "norm"}, tensor<?x4x?x4xf32> {nnterp.key = "swapped"}, tensor<?x?x12xf32> {nnterp.key = "product"}) {
  %h = hybrid.heads %x offset 4 stride 8 size 4 heads 4 repeat 2 {nnterp.block = 0 : i64} : tensor<?x?x32xf32>
  %norm = hybrid.l2_norm %h eps 1.0e-6 scale 0.5 {nnterp.block = 0 : i64} : tensor<?x?x4x4xf32>
  %swapped = hybrid.swap_heads %norm {nnterp.block = 0 : i64} : tensor<?x?x4x4xf32>
  %g = hybrid.heads %x offset 0 stride 8 size 4 heads 4 repeat 1 {nnterp.block = 0 : i64} : tensor<?x?x32xf32>
  %merged = hybrid.merge_heads %g {nnterp.block = 0 : i64} : tensor<?x?x4x4xf32>
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<12x16xf32>
  %product = hybrid.linear %merged, %w {nnterp.block = 0 : i64} : tensor<?x?x16xf32>, tensor<12x16xf32>
  return %norm, %swapped, %product : tensor<?x?x4x4xf32>, tensor<?x4x?x4xf32>, tensor<?x?x12xf32>
})");
  Values in{{"x", random(DType::f32, {2, 5, 32}, 1)}, {"w", random(DType::f32, {12, 16}, 2, 0.2)}};
  Shapes shapes{{"norm", {2, 5, 4, 4}}, {"swapped", {2, 4, 5, 4}}, {"product", {2, 5, 12}}};
  Values cpu = graph.onCpu(in, shapes), device = graph.onDevice(in, shapes);
  for (const char *key : {"norm", "swapped", "product"})
    CHECK(difference(cpu.at(key), device.at(key)) == "");
}
