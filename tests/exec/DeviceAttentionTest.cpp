// Attention as one kernel: heads that share keys, rows behind others, caches with room, and what a plan looks at.
#include "tests/exec/DeviceKernels.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace nnterp;
using namespace nnterp::test;

namespace {

struct Dims {
  int64_t heads, keyHeads, depth, width;
};

/// Attention of queries [B,N,S,D] to a cache of T places, behind `past` tokens; `looking`: its probabilities are a result too.
Graph attention(DType model, Dims dims, bool looking) {
  std::string m = model == DType::bf16 ? "bf16" : "f32", n = std::to_string(dims.heads), nk = std::to_string(dims.keyHeads);
  std::string q = "tensor<?x" + n + "x?x" + std::to_string(dims.depth) + "x" + m + ">";
  std::string k = "tensor<?x" + nk + "x?x" + std::to_string(dims.depth) + "x" + m + ">";
  std::string v = "tensor<?x" + nk + "x?x" + std::to_string(dims.width) + "x" + m + ">";
  std::string p = "tensor<?x" + n + "x?x?x" + m + ">", y = "tensor<?x?x" + n + "x" + std::to_string(dims.width) + "x" + m + ">";
  std::string past = "tensor<?xi64>";
  return Graph("func.func @main(%q: " + q + " {nnterp.input = \"q\"}, %k: " + k + " {nnterp.input = \"k\"}, %v: " + v +
               " {nnterp.input = \"v\"}, %past: " + past + " {nnterp.input = \"past\"}) -> (" + y + " {nnterp.key = \"y\"}" +
               (looking ? ", " + p + " {nnterp.key = \"p\"}" : "") + ") {\n" +
               "%s = hybrid.attention_scores %q, %k past %past scale 0.25 {nnterp.block = 0 : i64} : " + q + ", " + k + ", " +
               past + "\n%p = hybrid.softmax %s causal past %past as " + m + " {nnterp.block = 0 : i64} : " + p + ", " + past +
               "\n%y = hybrid.attention_mix %p, %v past %past {nnterp.block = 0 : i64} : " + p + ", " + v + ", " + past +
               "\nreturn %y" + (looking ? ", %p" : "") + " : " + y + (looking ? ", " + p : "") + "\n}");
}

Values given(DType model, Dims dims, int64_t tokens, int64_t places, const std::vector<int64_t> &past) {
  int64_t rows = int64_t(past.size());
  return {{"q", random(model, {rows, dims.heads, tokens, dims.depth}, 1)},
          {"k", random(model, {rows, dims.keyHeads, places, dims.depth}, 2)},
          {"v", random(model, {rows, dims.keyHeads, places, dims.width}, 3)},
          {"past", integers({rows}, past)}};
}

Shapes shapes(const Values &in, Dims dims) {
  int64_t rows = in.at("q").shape[0], tokens = in.at("q").shape[2];
  return {{"y", {rows, tokens, dims.heads, dims.width}}, {"p", {rows, dims.heads, tokens, in.at("k").shape[2]}}};
}

} // namespace

TEST_CASE("attention agrees with the plain lowering") {
  for (DType model : {DType::f32, DType::bf16})
    for (Dims dims : {Dims{4, 2, 20, 24}, Dims{3, 1, 32, 32}, Dims{2, 2, 136, 130}}) {
      INFO("D " << dims.depth << ", " << (model == DType::bf16 ? "bf16" : "f32"));
      Graph graph = attention(model, dims, false);
      CHECK(graph.kernels() == std::vector<std::string>{"attention_segments", "attention_merge", "attention"});
      for (auto [tokens, past] : {std::pair<int64_t, std::vector<int64_t>>{1, {0, 140, 340}}, {11, {0, 5, 37}}, {40, {0, 300}}}) {
        Values in = given(model, dims, tokens, 341, past);
        Values cpu = graph.onCpu(in, shapes(in, dims)), device = graph.onDevice(in, shapes(in, dims));
        // The plain lowering rounds probabilities to bfloat16; sums of what is not rounded differ from it by more than an order
        // does.
        bool narrow = model == DType::bf16;
        CHECK(difference(cpu.at("y"), device.at("y"), narrow ? 4e-3 : 1e-6, 1) == "");
      }
    }
}

// A single token is computed by segments of the keys, each a block, and several by one: the order of the sums is the same.
TEST_CASE("a row's attention is the same bits alone, in a longer call and in a larger cache") {
  for (DType model : {DType::f32, DType::bf16}) {
    INFO((model == DType::bf16 ? "bf16" : "f32"));
    const int64_t size = model == DType::bf16 ? 2 : 4;
    Dims dims{6, 2, 24, 20};
    Graph graph = attention(model, dims, false), looking = attention(model, dims, true);
    CHECK(looking.kernels() ==
          std::vector<std::string>{"attention_scores", "attention_segments", "attention_merge", "attention", "softmax"});
    Values in = given(model, dims, 9, 220, {0, 203, 7});
    Values all = graph.onDevice(in, shapes(in, dims)), seen = looking.onDevice(in, shapes(in, dims));
    CHECK(bitDifference(all.at("y"), seen.at("y")) == "");
    CHECK(difference(looking.onCpu(in, shapes(in, dims)).at("p"), seen.at("p")) == "");

    // The last token of the second row by itself, its keys' cache as long as it is.
    Values own{{"q", Tensor::make(model, {1, 6, 1, 24})},
               {"k", Tensor::make(model, {1, 2, 212, 24})},
               {"v", Tensor::make(model, {1, 2, 212, 20})},
               {"past", integers({1}, {211})}};
    auto bytes = [](const Tensor &t) { return static_cast<char *>(t.data); };
    auto copy = [&](const Tensor &from, int64_t heads, int64_t fromPlaces, int64_t first, Tensor &to) {
      int64_t places = to.shape[2], each = to.shape[3];
      for (int64_t h = 0; h < heads; ++h)
        std::memcpy(bytes(to) + h * places * each * size, bytes(from) + ((heads + h) * fromPlaces + first) * each * size,
                    size_t(places * each * size));
    };
    copy(in.at("q"), 6, 9, 8, own.at("q"));
    copy(in.at("k"), 2, 220, 0, own.at("k"));
    copy(in.at("v"), 2, 220, 0, own.at("v"));
    Tensor alone = graph.onDevice(own, shapes(own, dims)).at("y"), expected = Tensor::make(model, {1, 1, 6, 20});
    std::memcpy(expected.data, bytes(all.at("y")) + (9 + 8) * 6 * 20 * size, size_t(6 * 20 * size));
    CHECK(bitDifference(expected, alone) == "");
  }
}

// In a ragged call a row with a long past and few tokens has queries behind its end that stand behind all keys: its probabilities and
// mixture, computed apart because an edit lies between them, stay within the keys. (The emulator objects to every access outside.)
TEST_CASE("queries behind a row's end do not read behind the cache") {
  Graph graph(R"(
func.func @main(%q: tensor<?x4x?x8xf32> {nnterp.input = "q"}, %k: tensor<?x2x?x8xf32> {nnterp.input = "k"}, %v: tensor<?x2x?x8xf32> {nnterp.input = "v"},
    %past: tensor<?xi64> {nnterp.input = "past"}, %heads: tensor<?xi64> {nnterp.input = "heads"}) -> (tensor<?x?x4x8xf32> {nnterp.key = "y"}) {
  %s = hybrid.attention_scores %q, %k past %past scale 0.25 {nnterp.block = 0 : i64} : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  %p = hybrid.softmax %s causal past %past as f32 {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>, tensor<?xi64>
  %e = nnterp.edit %p tables [1] (%heads : tensor<?xi64>) sources [] entry 0 {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32> {
  ^bb0(%old: f32):
    %new = arith.addf %old, %old : f32
    nnterp.yield %new : f32
  }
  %y = hybrid.attention_mix %e, %v past %past {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  return %y : tensor<?x?x4x8xf32>
})");
  // Row 0 has one token behind 10, row 1 five behind 2: 11 keys, and row 0's fifth query stands at 14.
  Values in{{"q", random(DType::f32, {2, 4, 5, 8}, 1)},
            {"k", random(DType::f32, {2, 2, 11, 8}, 2)},
            {"v", random(DType::f32, {2, 2, 11, 8}, 3)},
            {"past", integers({2}, {10, 2})},
            {"heads", integers({4}, {-1, 0, -1, -1})}};
  Shapes out{{"y", {2, 5, 4, 8}}};
  Tensor device = graph.onDevice(in, out).at("y"), cpu = graph.onCpu(in, out).at("y");
  CHECK(difference(cpu, device) == "");
}
