// Edits of the gated delta rule's states between its tokens, in the kernel: which are edited, seen from outside, cut sequences, sources.
#include "tests/exec/DeltaGraphs.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::test;

namespace {

/// A rule whose states get, at some tokens and heads, a vector of another token added, and then lose some key dims at others.
Graph editing(DType model, Dims dims, bool states) {
  std::map<std::string, std::string> names = types(model, dims);
  names["added"] = filled("tensor<?x?x$h$x1x$dv$x$m$>", names);
  return rule(model, dims, states,
              {filled(R"(, %a: $table$ {nnterp.input = "a"}, %h: tensor<3xi64> {nnterp.input = "h"}, %x: $added$ {nnterp.input = "x"},
                         %c: tensor<f32> {nnterp.input = "c"}, %p: $table$ {nnterp.input = "p"}, %o: $table$ {nnterp.input = "o"},
                         %d: tensor<$dk$xi64> {nnterp.input = "d"})", names),
               filled(R"({
  ^bb0(%z0: $one$, %at: index):
    %z1 = nnterp.edit %z0 tables [1, 2] (%a, %h : $table$, tensor<3xi64>)
        sources [array<i64: -2, 0, -2, -1, -2>, array<i64>] (%x, %c : $added$, tensor<f32>)
        through (%p : $table$) offset %at entry 0 {nnterp.block = 0 : i64} : $one$ {
    ^bb0(%old: f32, %u: f32, %f: f32):
      %w = arith.mulf %u, %f : f32
      %r = arith.addf %old, %w : f32
      nnterp.yield %r : f32
    }
    %z2 = nnterp.edit %z1 tables [1, 3] (%o, %d : $table$, tensor<$dk$xi64>) sources [] offset %at entry 1 {nnterp.block = 0 : i64} : $one$ {
    ^bb0(%old: f32):
      %r = arith.constant 0.0 : f32
      nnterp.yield %r : f32
    }
    hybrid.yield %z2 : $one$
  })", names)});
}

/// -1 but for each `every`-th entry of a row, the `first` one foremost, which has its place.
Tensor someOf(int64_t rows, int64_t extent, int64_t first, int64_t every) {
  std::vector<int64_t> table;
  for (int64_t i = 0; i < rows * extent; ++i)
    table.push_back((i % extent + i / extent) % every == first ? i % extent : -1);
  return integers({rows, extent}, table);
}

Values givenEdits(DType model, Dims dims, int64_t rows, int64_t length, const std::vector<int64_t> &lengths) {
  Values in = given(model, dims, rows, length, lengths);
  in["a"] = someOf(rows, length, 1, 3);
  in["h"] = integers({3}, {0, -1, 2});
  in["x"] = random(model, {rows, 5, heads, 1, dims.width}, 7);
  in["c"] = random(DType::f32, {}, 8);
  in["p"] = randomIntegers({rows, length}, 9, -1, 5);
  in["o"] = someOf(rows, length, 2, 4);
  in["d"] = someOf(1, dims.depth, 0, 3);
  in["d"].shape = {dims.depth};
  return in;
}

} // namespace

TEST_CASE("states are edited in the kernel of the rule, of rows of every length") {
  for (DType model : {DType::f32, DType::bf16})
    for (Dims dims : {Dims{22, 28}, Dims{128, 40}, Dims{264, 9}}) {
      INFO("DK " << dims.depth << ", " << (model == DType::bf16 ? "bf16" : "f32"));
      Graph graph = editing(model, dims, false);
      CHECK(has(graph, {"delta_steps"}));
      CHECK_FALSE(has(graph, {"delta_chunks"}));
      for (int64_t length : {1, 21}) {
        Values in = givenEdits(model, dims, 4, length, {length, length / 2, 1, 0});
        Values cpu = graph.onCpu(in, shapes(in, false)), device = graph.onDevice(in, shapes(in, false));
        CHECK(difference(cpu.at("y"), device.at("y"), 2e-6) == "");
        CHECK(difference(cpu.at("z"), device.at("z"), 2e-6) == "");
        // The edits are not for nothing.
        Values plain = in;
        plain["a"] = plain["o"] = someOf(4, length, -1, 1);
        CHECK(difference(cpu.at("z"), graph.onDevice(plain, shapes(in, false)).at("z"), 1e-2) != "");
      }
    }
}

TEST_CASE("edited states are seen before and behind their edits, by kernels of their own") {
  Dims dims{22, 28};
  Graph graph = editing(DType::f32, dims, false), looking = editing(DType::f32, dims, true);
  CHECK(has(looking, {"delta_states", "delta_states_before", "delta_steps"}));
  Values in = givenEdits(DType::f32, dims, 3, 9, {9, 5, 1});
  Values blind = graph.onDevice(in, shapes(in, false)), seen = looking.onDevice(in, shapes(in, true)),
         cpu = looking.onCpu(in, shapes(in, true));
  CHECK(bitDifference(blind.at("y"), seen.at("y")) == "");
  CHECK(bitDifference(blind.at("z"), seen.at("z")) == "");
  CHECK(difference(cpu.at("t"), seen.at("t"), 2e-6) == "");
  CHECK(difference(cpu.at("t0"), seen.at("t0"), 2e-6) == "");
  CHECK(difference(seen.at("t0"), seen.at("t"), 1e-2) != "");
  Tensor last = tokens(row(seen.at("t"), 0), 8, 9), end = row(seen.at("z"), 0);
  last.shape = end.shape;
  CHECK(bitDifference(end, last) == "");
}

TEST_CASE("a sequence with edited states is the same bits when it is cut") {
  Dims dims{22, 28};
  Graph graph = editing(DType::bf16, dims, false);
  Values in = givenEdits(DType::bf16, dims, 1, 12, {12});
  Values whole = graph.onDevice(in, shapes(in, false));
  Tensor state = in.at("s");
  for (auto [from, to] : {std::pair(0, 5), std::pair(5, 6), std::pair(6, 12)}) {
    Values part = cut(in, {"q", "k", "v", "g", "b", "a", "p", "o"}, from, to);
    part["s"] = state;
    Values got = graph.onDevice(part, shapes(part, false));
    CHECK(bitDifference(tokens(whole.at("y"), from, to), got.at("y")) == "");
    state = got.at("z");
  }
  CHECK(bitDifference(whole.at("z"), state) == "");
}

TEST_CASE("an edit may take what the states were before the call, though they are written in place") {
  Dims dims{20, 28};
  Region region;
  region.inPlace = true;
  region.inputs = R"(, %a: $table$ {nnterp.input = "a"})";
  region.body = R"({
  ^bb0(%z0: $one$, %at: index):
    %z1 = nnterp.edit %z0 tables [1] (%a : $table$) sources [array<i64: -1, -2, -2, -2>] (%s : $state$)
        offset %at entry 0 {nnterp.block = 0 : i64} : $one$ {
    ^bb0(%old: f32, %u: f32):
      nnterp.yield %u : f32
    }
    hybrid.yield %z1 : $one$
  })";
  Graph graph = rule(DType::f32, dims, false, region);
  CHECK(has(graph, {"delta_steps"}));
  Values in = given(DType::f32, dims, 3, 4, {4, 4, 3});
  in["a"] = integers({3, 4}, {0, -1, -1, 0, -1, 0, -1, -1, -1, -1, 0, -1});
  Shapes out{{"y", in.at("v").shape}};
  Values cpu = graph.onCpu(in, out), device = graph.onDevice(in, out);
  CHECK(difference(cpu.at("y"), device.at("y"), 2e-6) == "");
  CHECK(difference(cpu.at("s"), device.at("s"), 2e-6) == "");
  CHECK(bitDifference(row(in.at("s"), 0), row(device.at("s"), 0)) == ""); // its last token's is replaced
}
