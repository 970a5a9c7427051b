// The gated delta rule as kernels: token by token and in chunks, rows of every length, states looked at, sequences cut.
#include "tests/exec/DeltaGraphs.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace nnterp;
using namespace nnterp::test;

TEST_CASE("the delta rule agrees with the plain lowering for rows of every length") {
  for (DType model : {DType::f32, DType::bf16})
    for (Dims dims : {Dims{20, 28}, Dims{128, 40}}) {
      INFO("DK " << dims.depth << ", " << (model == DType::bf16 ? "bf16" : "f32"));
      Graph graph = rule(model, dims, false);
      CHECK(has(graph, {"delta_chunks", "delta_steps"}));
      CHECK_FALSE(has(graph, {"delta_states"}));
      for (int64_t length : {1, 3, 37}) {
        Values in = given(model, dims, 4, length, {length, length / 2, std::min<int64_t>(length, 17), 0});
        Values cpu = graph.onCpu(in, shapes(in, false)), device = graph.onDevice(in, shapes(in, false));
        CHECK(difference(cpu.at("y"), device.at("y"), 2e-6) == "");
        CHECK(difference(cpu.at("z"), device.at("z"), 2e-6) == "");
      }
    }
}

TEST_CASE("beside a decay that forgets all, the others count as they are") {
  Dims dims{20, 28};
  Graph graph = rule(DType::f32, dims, false);
  Values in = given(DType::f32, dims, 1, 24, {24});
  for (int64_t h = 0; h < heads; ++h)
    in.at("g").as<float>()[5 * heads + h] = -1e30f;
  Values cpu = graph.onCpu(in, shapes(in, false)), device = graph.onDevice(in, shapes(in, false));
  CHECK(difference(cpu.at("y"), device.at("y"), 2e-6) == "");
  CHECK(difference(cpu.at("z"), device.at("z"), 2e-6) == "");
}

TEST_CASE("a row's delta rule is the same bits alone, beside longer rows and with its states looked at") {
  Dims dims{20, 28};
  Graph graph = rule(DType::f32, dims, false), looking = rule(DType::f32, dims, true);
  CHECK(has(looking, {"delta_states", "delta_chunks", "delta_steps"}));
  Values in = given(DType::f32, dims, 4, 21, {21, 18, 1, 0});
  Values all = graph.onDevice(in, shapes(in, false)), seen = looking.onDevice(in, shapes(in, true));
  CHECK(bitDifference(all.at("y"), seen.at("y")) == "");
  CHECK(bitDifference(all.at("z"), seen.at("z")) == "");
  CHECK(difference(looking.onCpu(in, shapes(in, true)).at("t"), seen.at("t"), 2e-6) == "");
  for (int64_t r : {0, 1, 2}) {
    int64_t length = in.at("n").as<int64_t>()[r];
    Values own;
    for (const auto &[name, value] : in)
      own[name] = name == "s" || name == "n" ? row(value, r) : tokens(row(value, r), 0, length);
    Values alone = graph.onDevice(own, shapes(own, false));
    CHECK(bitDifference(tokens(row(all.at("y"), r), 0, length), alone.at("y")) == "");
    CHECK(bitDifference(row(all.at("z"), r), alone.at("z")) == "");
  }
}

// A decay that an edit has made a growth, so strong that the state overflows: tokens before it do not hear of it.
TEST_CASE("tokens of a chunk do not hear of later ones that overflow") {
  Dims dims{20, 28};
  Graph graph = rule(DType::f32, dims, false);
  Values in = given(DType::f32, dims, 1, 12, {12}), calm = cut(in, {"q", "k", "v", "g", "b"}, 0, 9);
  for (int64_t h = 0; h < heads; ++h)
    in.at("g").as<float>()[9 * heads + h] = 1000;
  Values wild = graph.onDevice(in, shapes(in, false));
  CHECK(bitDifference(graph.onDevice(calm, shapes(calm, false)).at("y"), tokens(wild.at("y"), 0, 9)) == "");
  CHECK(!std::isfinite(wild.at("y").at(11 * heads * 28)));
}

TEST_CASE("a sequence may be cut anywhere") {
  Dims dims{20, 28};
  Graph graph = rule(DType::f32, dims, false);
  Values in = given(DType::f32, dims, 1, 40, {40});
  Values whole = graph.onDevice(in, shapes(in, false));
  Tensor state = in.at("s");
  for (auto [from, to] : {std::pair(0, 1), std::pair(1, 20), std::pair(20, 39), std::pair(39, 40)}) {
    Values part = cut(in, {"q", "k", "v", "g", "b"}, from, to);
    part["s"] = state;
    Values got = graph.onDevice(part, shapes(part, false));
    CHECK(difference(tokens(whole.at("y"), from, to), got.at("y"), 2e-6) == "");
    state = got.at("z");
  }
  CHECK(difference(whole.at("z"), state, 2e-6) == "");
}

TEST_CASE("a short convolution moves its state on in place, read before it is written") {
  for (std::string model : {"f32", "bf16"}) {
    std::string u = "tensor<?x?x20x" + model + ">", w = "tensor<20x1x4xbf16>", s = "tensor<?x20x4x" + model + ">";
    Graph graph("func.func @main(%u: " + u + " {nnterp.input = \"u\"}, %n: tensor<?xi64> {nnterp.input = \"n\"}) -> (" +
                u + " {nnterp.key = \"y\"}, " + s + " {nnterp.key = \"s\", nnterp.kind = \"state\"}) {\n" +
                "%w = hybrid.weight \"w\" {nnterp.block = 0 : i64} : " + w +
                "\n%s = hybrid.memory \"s\" {nnterp.block = 0 : i64} : " + s +
                "\n%y, %z = hybrid.short_conv %u, %w, %s, %n {nnterp.block = 0 : i64} : " + u + ", " + w + ", " + s +
                ", tensor<?xi64>\n%a = hybrid.silu %y {nnterp.block = 0 : i64} : " + u + "\nreturn %a, %z : " + u +
                ", " + s + "\n}");
    CHECK(graph.kernels() == std::vector<std::string>{"short_conv", "short_conv_state"});
    DType dtype = model == "f32" ? DType::f32 : DType::bf16;
    for (int64_t tokens : {1, 2, 7}) {
      Values in{{"u", random(dtype, {3, tokens, 20}, 1)},
                {"n", integers({3}, {tokens, tokens - 1, 0})},
                {"w", random(DType::bf16, {20, 1, 4}, 2)},
                {"s", random(dtype, {3, 20, 4}, 3)}};
      Shapes out{{"y", {3, tokens, 20}}};
      Values cpu = graph.onCpu(in, out), device = graph.onDevice(in, out);
      CHECK(bitDifference(cpu.at("y"), device.at("y")) == "");
      CHECK(bitDifference(cpu.at("s"), device.at("s")) == "");
    }
  }
}
