// Comparisons, predicates, selections.
#include "Harness.h"
#include "Reference.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

/// The comparisons by name: of equal, less and greater ones and of unordered ones (with a NaN).
struct Comparison {
  const char *name;
  bool less, equal, greater, unordered;
};
static const Comparison ordered[] = {{"eq", 0, 1, 0, 0}, {"ne", 1, 0, 1, 0}, {"lt", 1, 0, 0, 0},
                                     {"le", 1, 1, 0, 0}, {"gt", 0, 0, 1, 0}, {"ge", 0, 1, 1, 0}};
static const Comparison unordered[] = {{"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1}, {"ltu", 1, 0, 0, 1},
                                       {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
                                       {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
static const Comparison unsignedOnly[] = {
    {"lo", 1, 0, 0, 0}, {"ls", 1, 1, 0, 0}, {"hi", 0, 0, 1, 0}, {"hs", 0, 1, 1, 0}};

template <class T> static uint64_t holds(const Comparison &comparison, T a, T b) {
  return a != a || b != b ? comparison.unordered
         : a < b          ? comparison.less
         : a == b         ? comparison.equal
                          : comparison.greater;
}

static __int128 integer(uint64_t bits, int width, bool isSigned) {
  const uint64_t low = width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
  return isSigned && low >> (width - 1) ? __int128(low) - (__int128(1) << width) : __int128(low);
}

TEST_CASE("comparisons of integers", "[emulator]") {
  for (int width : {16, 32, 64})
    for (char sign : {'s', 'u', 'b'}) {
      const std::string type = sign + std::to_string(width), reg = "b" + std::to_string(width);
      const auto test = [&](const Comparison &comparison) {
        const auto rows = pairs(integers, [&](uint64_t a, uint64_t b) {
          return holds(comparison, integer(a, width, sign == 's'), integer(b, width, sign == 's'));
        });
        check("setp." + std::string(comparison.name) + "." + type + " %d, %a, %b;", "pred " + reg + " " + reg, rows);
      };
      for (const Comparison &comparison : ordered)
        if (sign != 'b' || comparison.less == comparison.greater)
          test(comparison);
      for (const Comparison &comparison : unsignedOnly)
        if (sign == 'u')
          test(comparison);
    }
}

TEST_CASE("comparisons of floats", "[emulator]") {
  for (const std::string type : {"f16", "bf16", "f32", "f64"}) {
    const std::vector<uint64_t> &values = type == "f16"    ? halves
                                          : type == "bf16" ? brains
                                          : type == "f32"  ? floats
                                                           : doubles;
    const std::string reg = "b" + std::to_string(format(type).bits);
    const auto test = [&](const Comparison &comparison) {
      check("setp." + std::string(comparison.name) + "." + type + " %d, %a, %b;", "pred " + reg + " " + reg,
            pairs(values, [&](uint64_t a, uint64_t b) {
              return holds(comparison, decode(a, format(type)), decode(b, format(type)));
            }));
    };
    for (const Comparison &comparison : ordered)
      test(comparison);
    for (const Comparison &comparison : unordered)
      test(comparison);
  }
  check("setp.lt.ftz.f32 %d, %a, %b;", "pred b32 b32", {{{0, 0x00400000}, 0}, {{0, 0x00800000}, 1}});
}

TEST_CASE("comparisons combined with a predicate", "[emulator]") {
  for (const std::string how : {"and", "or", "xor"})
    for (bool negated : {false, true}) {
      const auto combined = [&](bool x, uint64_t c) {
        return how == "and"  ? x && (c != 0) != negated
               : how == "or" ? x || (c != 0) != negated
                             : x != ((c != 0) != negated);
      };
      std::vector<Row> first, second;
      for (uint64_t a : {1, 2, 3})
        for (uint64_t c : {0, 1}) {
          first.push_back({{a, 2, c}, combined(a < 2, c)});
          second.push_back({{a, 2, c}, combined(!(a < 2), c)});
        }
      const std::string tail = std::string(", %a, %b, ") + (negated ? "!%c;" : "%c;");
      check("setp.lt." + how + ".s32 %d" + tail, "pred b32 b32 pred", first);
      check("{ .reg .pred %q; setp.lt." + how + ".s32 %d|%q" + tail + " }", "pred b32 b32 pred", first);
      check("{ .reg .pred %q; setp.lt." + how + ".s32 %q|%d" + tail + " }", "pred b32 b32 pred", second);
    }
  check("setp.lt.s32 _|%d, %a, %b;", "pred b32 b32", {{{1, 2}, 0}, {{2, 2}, 1}});
}

TEST_CASE("comparisons of pairs give two predicates", "[emulator]") {
  check("{ .reg .pred %q; setp.lt.f16x2 %d|%q, %a, %b; }", "pred b32 b32",
        {{{0x40003c00, 0x3c004000}, 1}, {{0x3c004000, 0x40003c00}, 0}});
  check("{ .reg .pred %q; setp.lt.bf16x2 %q|%d, %a, %b; }", "pred b32 b32",
        {{{0x40003f80, 0x3f804000}, 0}, {{0x3f804000, 0x40003f80}, 1}});
}

TEST_CASE("set gives ones or 1.0", "[emulator]") {
  check("set.lt.u32.s32 %d, %a, %b;", "b32 b32 b32", {{{0xffffffff, 0}, 0xffffffff}, {{1, 0}, 0}});
  check("set.gtu.s32.f32 %d, %a, %b;", "b32 b32 b32", {{{0x7fc00000, 0}, 0xffffffff}, {{bits(-1.0f), 0}, 0}});
  check("set.eq.f32.f64 %d, %a, %b;", "b32 b64 b64",
        {{{bits(1.0), bits(1.0)}, bits(1.0f)}, {{bits(1.0), bits(2.0)}, 0}});
}

TEST_CASE("selections", "[emulator]") {
  for (const std::string width : {"16", "32", "64"}) {
    check("selp.b" + width + " %d, %a, %b, %c;", "b" + width + " b" + width + " b" + width + " pred",
          {{{11, 22, 1}, 11}, {{11, 22, 0}, 22}});
    check("selp.b" + width + " %d, %a, %b, !%c;", "b" + width + " b" + width + " b" + width + " pred",
          {{{11, 22, 1}, 22}, {{11, 22, 0}, 11}});
    check("slct.u" + width + ".s32 %d, %a, %b, %c;", "b" + width + " b" + width + " b" + width + " b32",
          {{{11, 22, 0}, 11}, {{11, 22, 0x80000000}, 22}});
    check("slct.s" + width + ".f32 %d, %a, %b, %c;", "b" + width + " b" + width + " b" + width + " b32",
          {{{11, 22, bits(-0.0f)}, 11},
           {{11, 22, bits(-1.0f)}, 22},
           {{11, 22, 0x7fc00000}, 22},
           {{11, 22, 0x80000001}, 22}});
  }
  check("slct.ftz.b32.f32 %d, %a, %b, %c;", "b32 b32 b32 b32",
        {{{11, 22, 0x80000001}, 11}, {{11, 22, bits(-1.0f)}, 22}});
  check("selp.f32 %d, %a, 0f3F800000, %c;", "b32 b32 b32 pred", {{{bits(2.0f), 0, 0}, bits(1.0f)}});
}

TEST_CASE("logic of predicates", "[emulator]") {
  const std::vector<uint64_t> both = {0, 1};
  check("and.pred %d, %a, %b;", "pred pred pred", pairs(both, [](uint64_t a, uint64_t b) { return a & b; }));
  check("or.pred %d, %a, %b;", "pred pred pred", pairs(both, [](uint64_t a, uint64_t b) { return a | b; }));
  check("xor.pred %d, %a, !%b;", "pred pred pred", pairs(both, [](uint64_t a, uint64_t b) { return a ^ !b; }));
  check("not.pred %d, %a;", "pred pred", singles(both, [](uint64_t a) { return uint64_t(!a); }));
  check("mov.pred %d, %a;", "pred pred", singles(both, [](uint64_t a) { return a; }));
}

TEST_CASE("kinds of numbers are told", "[emulator]") {
  for (const std::string type : {"f32", "f64"}) {
    const Format f = format(type);
    const uint64_t top = (uint64_t(1) << f.exponentBits) - 1;
    const auto test = [&](const char *name, const std::function<bool(uint64_t, uint64_t)> &expected) {
      check("testp." + std::string(name) + "." + type + " %d, %a;", "pred b" + type.substr(1),
            singles(type == "f32" ? floats : doubles, [&](uint64_t a) {
              return uint64_t(expected(a >> f.fractionBits & top, a & ((uint64_t(1) << f.fractionBits) - 1)));
            }));
    };
    test("finite", [=](uint64_t e, uint64_t) { return e != top; });
    test("infinite", [=](uint64_t e, uint64_t m) { return e == top && !m; });
    test("number", [=](uint64_t e, uint64_t m) { return e != top || !m; });
    test("notanumber", [=](uint64_t e, uint64_t m) { return e == top && m; });
    test("normal", [=](uint64_t e, uint64_t) { return e && e != top; });
    test("subnormal", [=](uint64_t e, uint64_t m) { return !e && m; });
  }
}
