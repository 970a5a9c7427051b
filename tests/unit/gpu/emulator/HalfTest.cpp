// Arithmetic of 16-bit floats, alone and in pairs, against exact numbers that are rounded once.
#include "Harness.h"
#include "Reference.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

static const std::vector<uint64_t> &valuesOf(const std::string &type) { return type == "f16" ? halves : brains; }

using Function2 = std::function<Exact(Exact, Exact)>;
static Exact plus(Exact a, Exact b) { return sum(a, b, Rounding::nearest); }

/// The instruction on single values and on pairs of them.
static void checkPairs(const std::string &name, const std::string &type,
                       const std::function<uint64_t(uint64_t, uint64_t)> &expected) {
  const std::vector<Row> rows = pairs(valuesOf(type), expected);
  check(name + "." + type + " %d, %a, %b;", "b16:" + type + " b16 b16", rows);
  std::vector<Row> both;
  for (size_t r = 0; r + 1 < rows.size(); r += 2)
    both.push_back(
        {{rows[r].sources[0] | rows[r + 1].sources[0] << 16, rows[r].sources[1] | rows[r + 1].sources[1] << 16},
         sameNan(rows[r].expected, type) | sameNan(rows[r + 1].expected, type) << 16});
  check(name + "." + type + "x2 %d, %a, %b;", "b32 b32 b32", both);
}

static uint64_t flush(uint64_t a) { return a & 0x7c00 ? a : a & 0x8000; }

TEST_CASE("sums and products of 16-bit floats", "[emulator]") {
  for (const std::string type : {"f16", "bf16"}) {
    const Format f = format(type);
    const auto rounded = [&](const Function2 &function) {
      return [=](uint64_t a, uint64_t b) { return encode(function(decode(a, f), decode(b, f)), f); };
    };
    checkPairs("add.rn", type, rounded(plus));
    checkPairs("sub.rn", type, rounded([](Exact a, Exact b) { return plus(a, -b); }));
    checkPairs("mul.rn", type, rounded([](Exact a, Exact b) { return a * b; }));
  }
  const Format f = format("f16");
  checkPairs("add.ftz", "f16",
             [&](uint64_t a, uint64_t b) { return flush(encode(plus(decode(flush(a), f), decode(flush(b), f)), f)); });
  checkPairs("mul.sat", "f16", [&](uint64_t a, uint64_t b) {
    const Exact product = decode(encode(decode(a, f) * decode(b, f), f), f);
    return encode(product > 0 ? (product < 1 ? product : Exact(1)) : Exact(0), f);
  });
}

TEST_CASE("fused products and sums of 16-bit floats are rounded once", "[emulator]") {
  for (const std::string type : {"f16", "bf16"}) {
    const Format f = format(type);
    // With these, rounding to float32 or float64 in between would be seen: sums that are close to halves of the last
    // place.
    std::vector<uint64_t> values = valuesOf(type);
    for (uint64_t value : {0x3c01, 0x3c02, 0x1001, 0x0c00, 0x0401, 0x9001, 0x3f82, 0x3381, 0x2f80, 0xb381})
      values.push_back(value);
    const auto fused = [&](uint64_t a, uint64_t b, uint64_t c) {
      return encode(plus(decode(a, f) * decode(b, f), decode(c, f)), f);
    };
    check("fma.rn." + type + " %d, %a, %b, %c;", "b16:" + type + " b16 b16 b16", triples(values, fused));
    check("fma.rn.relu." + type + " %d, %a, %b, %c;", "b16:" + type + " b16 b16 b16",
          triples(values, [&](uint64_t a, uint64_t b, uint64_t c) {
            const uint64_t result = fused(a, b, c);
            return isNan(decode(result, f)) ? result : result & 0x8000 ? uint64_t(0) : result;
          }));
  }
  const uint64_t one = 0x3c003c00, two = 0x40004000;
  check("fma.rn.f16x2 %d, %a, %b, %c;", "b32 b32 b32 b32",
        {{{one, two, one}, 0x42004200}, {{0x3c004000, two, 0}, 0x40004400}});
  check("fma.rn.bf16x2 %d, %a, %b, %c;", "b32 b32 b32 b32", {{{0x3f804000, 0x40003f80, 0x3f800000}, 0x40404000}});
}

TEST_CASE("minima, maxima and signs of 16-bit floats", "[emulator]") {
  for (const std::string type : {"f16", "bf16"}) {
    const Format f = format(type);
    for (bool max : {false, true})
      for (bool propagate : {false, true})
        checkPairs(std::string(max ? "max" : "min") + (propagate ? ".NaN" : ""), type, [&](uint64_t a, uint64_t b) {
          const Exact x = decode(a, f), y = decode(b, f);
          if (isNan(x) || isNan(y))
            return propagate || (isNan(x) && isNan(y)) ? uint64_t(0x7fff) : isNan(x) ? b : a;
          if (x == y)
            return max == bool(a & 0x8000) ? b : a;
          return (x < y) == max ? b : a;
        });
    check("abs." + type + " %d, %a;", "b16 b16", singles(valuesOf(type), [](uint64_t a) { return a & 0x7fff; }));
    check("neg." + type + " %d, %a;", "b16 b16", singles(valuesOf(type), [](uint64_t a) { return a ^ 0x8000; }));
    check("neg." + type + "x2 %d, %a;", "b32 b32", {{{0x3c008000}, 0xbc000000}});
  }
  check("ex2.approx.f16 %d, %a;", "b16 b16", {{{0x4200}, 0x4800}, {{0xbc00}, 0x3800}});
  check("tanh.approx.f16 %d, %a;", "b16 b16", {{{0}, 0}, {{0x3c00}, 0x3a18}});
}
