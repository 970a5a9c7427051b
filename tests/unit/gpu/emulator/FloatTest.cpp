// Arithmetic of float32 and float64, against exact numbers that are rounded once.
#include "Harness.h"
#include "Reference.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace nnterp::gpu::test;

static const std::vector<uint64_t> &valuesOf(const std::string &type) { return type == "f32" ? floats : doubles; }
static std::string reg(const std::string &type) { return "b" + type.substr(1); }

static const std::pair<const char *, Rounding> roundings[] = {
    {"rn", Rounding::nearest}, {"rz", Rounding::zero}, {"rm", Rounding::down}, {"rp", Rounding::up}};

TEST_CASE("sums, products and quotients are rounded once, in every direction", "[emulator]") {
  for (const std::string type : {"f32", "f64"}) {
    const Format f = format(type);
    const std::string registers = reg(type) + ":" + type + " " + reg(type) + " " + reg(type);
    for (const auto &[name, rounding] : roundings) {
      const std::string tail = "." + std::string(name) + "." + type + " %d, %a, %b;";
      const Rounding r = rounding;
      check("add" + tail, registers, pairs(valuesOf(type), [&](uint64_t a, uint64_t b) {
              return encode(sum(decode(a, f), decode(b, f), r), f, r);
            }));
      check("sub" + tail, registers, pairs(valuesOf(type), [&](uint64_t a, uint64_t b) {
              return encode(sum(decode(a, f), -decode(b, f), r), f, r);
            }));
      check("mul" + tail, registers,
            pairs(valuesOf(type), [&](uint64_t a, uint64_t b) { return encode(decode(a, f) * decode(b, f), f, r); }));
      check("div" + tail, registers,
            pairs(valuesOf(type), [&](uint64_t a, uint64_t b) { return encode(decode(a, f) / decode(b, f), f, r); }));
      check("rcp." + std::string(name) + "." + type + " %d, %a;", reg(type) + ":" + type + " " + reg(type),
            singles(valuesOf(type), [&](uint64_t a) { return encode(1 / decode(a, f), f, r); }));
    }
  }
}

TEST_CASE("a fused product and sum is rounded once", "[emulator]") {
  // The product of float32 has 48 bits, so that the sum is exact in 113 unless exponents differ by more than 60.
  std::vector<uint64_t> near;
  for (float value : {0.0f, -0.0f, 1.0f, -1.0f, 3.14159274f, 0.333333343f, 1.00000012f, 0.99999994f, 16777217.0f, 1e-7f,
                      -2.5e5f, INFINITY, NAN, 4097.0f})
    near.push_back(bits(value));
  const Format f = format("f32");
  for (const auto &[name, rounding] : roundings) {
    const Rounding r = rounding;
    for (const char *op : {"fma", "mad"})
      check(std::string(op) + "." + name + ".f32 %d, %a, %b, %c;", "b32:f32 b32 b32 b32",
            triples(near, [&](uint64_t a, uint64_t b, uint64_t c) {
              return encode(sum(decode(a, f) * decode(b, f), decode(c, f), r), f, r);
            }));
  }
  // Where rounding twice would differ: the square of 1 + 2⁻²⁷ is 1 + 2⁻²⁶ + 2⁻⁵⁴.
  const double a = 1 + std::ldexp(1, -27);
  check("fma.rn.f64 %d, %a, %b, %c;", "b64:f64 b64 b64 b64",
        {{{bits(a), bits(a), bits(-1.0)}, bits(std::ldexp(1, -26) + std::ldexp(1, -54))},
         {{bits(3.0), bits(5.0), bits(7.0)}, bits(22.0)},
         {{bits(0.1), bits(10.0), bits(-1.0)}, bits(std::ldexp(1, -54))}});
}

TEST_CASE("square roots", "[emulator]") {
  // A root is right if the number lies between the squares of the points half way to its neighbours.
  const auto rootOf = [](uint64_t bits, Format f) {
    const Exact value = decode(bits, f);
    if (value == 0 || isNan(value) || value == Exact(1) / Exact(0))
      return bits;
    if (value < 0)
      return encode(Exact(0) / Exact(0), f);
    Exact root = Exact(f.bits == 32 ? std::sqrt(double(value)) : double(sqrtl((long double)value)));
    for (int step = 0; step < 4; ++step) // Newton, to 113 bits
      root = (root + value / root) / 2;
    return encode(root, f);
  };
  for (const std::string type : {"f32", "f64"}) {
    const Format f = format(type);
    check("sqrt.rn." + type + " %d, %a;", reg(type) + ":" + type + " " + reg(type),
          singles(valuesOf(type), [&](uint64_t a) { return rootOf(a, f); }));
  }
  check("sqrt.approx.f32 %d, %a;", "b32:f32 b32",
        singles(floats, [&](uint64_t a) { return rootOf(a, format("f32")); }));
  check(
      "rsqrt.approx.f32 %d, %a;", "b32:f32 b32",
      {{{bits(4.0f)}, bits(0.5f)}, {{bits(2.0f)}, bits(0.70710678f)}, {{0}, 0x7f800000}, {{bits(-1.0f)}, 0x7fffffff}});
  check("rsqrt.approx.f64 %d, %a;", "b64:f64 b64", {{{bits(4.0)}, bits(0.5)}, {{bits(0.25)}, bits(2.0)}});
}

TEST_CASE("approximations are rounded results", "[emulator]") {
  check("div.approx.f32 %d, %a, %b;", "b32:f32 b32 b32", {{{bits(1.0f), bits(3.0f)}, bits(1.0f / 3.0f)}});
  check("div.full.f32 %d, %a, %b;", "b32:f32 b32 b32", {{{bits(2.0f), bits(3.0f)}, bits(2.0f / 3.0f)}});
  check("rcp.approx.f32 %d, %a;", "b32:f32 b32", {{{bits(3.0f)}, bits(1.0f / 3.0f)}});
  check("ex2.approx.f32 %d, %a;", "b32:f32 b32",
        {{{bits(3.0f)}, bits(8.0f)},
         {{bits(-1.0f)}, bits(0.5f)},
         {{bits(0.5f)}, bits(1.41421356f)},
         {{0xff800000}, 0},
         {{bits(200.0f)}, 0x7f800000}});
  check("lg2.approx.f32 %d, %a;", "b32:f32 b32",
        {{{bits(8.0f)}, bits(3.0f)}, {{bits(0.5f)}, bits(-1.0f)}, {{0}, 0xff800000}, {{bits(3.0f)}, bits(1.5849625f)}});
  check("sin.approx.f32 %d, %a;", "b32:f32 b32", {{{0}, 0}, {{bits(1.0f)}, bits(0.84147098f)}});
  check("cos.approx.f32 %d, %a;", "b32:f32 b32", {{{0}, bits(1.0f)}, {{bits(1.0f)}, bits(0.5403023059f)}});
  check("tanh.approx.f32 %d, %a;", "b32:f32 b32",
        {{{0}, 0}, {{bits(1.0f)}, bits(0.76159416f)}, {{bits(-100.0f)}, bits(-1.0f)}});
}

TEST_CASE("minima and maxima know NaN and the sign of zero", "[emulator]") {
  for (const std::string type : {"f32", "f64"}) {
    const Format f = format(type);
    const std::string registers = reg(type) + ":" + type + " " + reg(type) + " " + reg(type);
    const uint64_t nan = (uint64_t(1) << (f.bits - 1)) - 1;
    for (bool max : {false, true})
      for (bool propagate : {false, true}) {
        if (propagate && type == "f64")
          continue;
        check(std::string(max ? "max" : "min") + (propagate ? ".NaN." : ".") + type + " %d, %a, %b;", registers,
              pairs(valuesOf(type), [&](uint64_t a, uint64_t b) {
                const Exact x = decode(a, f), y = decode(b, f);
                if (isNan(x) || isNan(y))
                  return propagate || (isNan(x) && isNan(y)) ? nan : isNan(x) ? b : a;
                if (x == y)
                  return max == bool(a >> (f.bits - 1)) ? b : a;
                return (x < y) == max ? b : a;
              }));
      }
  }
}

TEST_CASE("signs of floats", "[emulator]") {
  for (const std::string type : {"f32", "f64"}) {
    const uint64_t sign = type == "f32" ? uint64_t(1) << 31 : uint64_t(1) << 63;
    const std::string registers = reg(type) + ":" + type + " " + reg(type);
    check("abs." + type + " %d, %a;", registers, singles(valuesOf(type), [&](uint64_t a) { return a & ~sign; }));
    check("neg." + type + " %d, %a;", registers, singles(valuesOf(type), [&](uint64_t a) { return a ^ sign; }));
    check("copysign." + type + " %d, %a, %b;", registers + " " + reg(type),
          pairs(valuesOf(type), [&](uint64_t a, uint64_t b) { return (a & sign) | (b & ~sign); }));
  }
}

TEST_CASE("subnormal numbers are flushed where it says so", "[emulator]") {
  const Format f = format("f32");
  const auto flush = [](uint64_t a) { return a & 0x7f800000 ? a : a & 0x80000000; };
  const auto number = [&](uint64_t a) { return decode(flush(a), f); };
  const std::string two = "b32:f32 b32 b32";
  check("add.ftz.f32 %d, %a, %b;", two, pairs(floats, [&](uint64_t a, uint64_t b) {
          return flush(encode(sum(number(a), number(b), Rounding::nearest), f));
        }));
  check("sub.rn.ftz.f32 %d, %a, %b;", two, pairs(floats, [&](uint64_t a, uint64_t b) {
          return flush(encode(sum(number(a), -number(b), Rounding::nearest), f));
        }));
  check("mul.ftz.f32 %d, %a, %b;", two,
        pairs(floats, [&](uint64_t a, uint64_t b) { return flush(encode(number(a) * number(b), f)); }));
  check("div.rn.ftz.f32 %d, %a, %b;", two,
        pairs(floats, [&](uint64_t a, uint64_t b) { return flush(encode(number(a) / number(b), f)); }));
  check("fma.rn.ftz.f32 %d, %a, %b, 0f00000000;", two, pairs(floats, [&](uint64_t a, uint64_t b) {
          return flush(encode(sum(number(a) * number(b), 0, Rounding::nearest), f));
        }));
  check("abs.ftz.f32 %d, %a;", "b32:f32 b32", singles(floats, [&](uint64_t a) { return flush(a) & 0x7fffffff; }));
  check("neg.ftz.f32 %d, %a;", "b32:f32 b32", singles(floats, [&](uint64_t a) { return flush(a) ^ 0x80000000; }));
  check("sqrt.rn.ftz.f32 %d, %a;", "b32:f32 b32",
        {{{0x00400000}, 0}, {{0x807fffff}, 0x80000000}, {{bits(9.0f)}, bits(3.0f)}});
  check("ex2.approx.ftz.f32 %d, %a;", "b32:f32 b32", {{{bits(-130.0f)}, 0}, {{0x00400000}, bits(1.0f)}});
}

TEST_CASE("saturation to the unit interval", "[emulator]") {
  const Format f = format("f32");
  const auto clamp = [](Exact value) { return value > 0 ? (value < 1 ? value : Exact(1)) : Exact(0); };
  const std::string two = "b32:f32 b32 b32";
  check("add.sat.f32 %d, %a, %b;", two,
        pairs(floats, [&](uint64_t a, uint64_t b) { return encode(clamp(decode(a, f) + decode(b, f)), f); }));
  check("mul.rn.sat.f32 %d, %a, %b;", two,
        pairs(floats, [&](uint64_t a, uint64_t b) { return encode(clamp(decode(a, f) * decode(b, f)), f); }));
  check("fma.rn.sat.f32 %d, %a, %b, 0f3F000000;", two,
        {{{bits(0.5f), bits(0.25f)}, bits(0.625f)}, {{bits(2.0f), bits(2.0f)}, bits(1.0f)}, {{0x7fc00000, 0}, 0}});
  check("sub.ftz.sat.f32 %d, %a, %b;", two,
        {{{bits(0.75f), bits(0.5f)}, bits(0.25f)}, {{bits(0.5f), bits(0.75f)}, 0}, {{0x00400000, 0}, 0}});
}
