// Integer arithmetic, against sums and products in 128 bits.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

using Wide = __int128;

/// The number that the low bits stand for.
static Wide number(uint64_t bits, int width, bool isSigned) {
  const uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  const uint64_t low = bits & mask;
  return isSigned && low >> (width - 1) ? Wide(low) - (Wide(1) << width) : Wide(low);
}
static uint64_t cut(Wide value, int width) {
  return width == 64 ? uint64_t(value) : uint64_t(value) & ((uint64_t(1) << width) - 1);
}

struct IntType {
  int width;
  bool isSigned;
  std::string text() const { return (isSigned ? "s" : "u") + std::to_string(width); }
  std::string reg(int factor = 1) const { return "b" + std::to_string(width * factor); }
};
static const std::vector<IntType> types = {{16, false}, {16, true}, {32, false}, {32, true}, {64, false}, {64, true}};

using Function2 = std::function<Wide(Wide, Wide)>;

static void checkPairs(const std::string &name, IntType type, const Function2 &function, int factor = 1) {
  const std::string registers = type.reg(factor) + " " + type.reg() + " " + type.reg();
  check(name + "." + type.text() + " %d, %a, %b;", registers, pairs(integers, [&](uint64_t a, uint64_t b) {
          return cut(function(number(a, type.width, type.isSigned), number(b, type.width, type.isSigned)),
                     type.width * factor);
        }));
}

TEST_CASE("sums, differences, minima and maxima of integers", "[emulator]") {
  for (IntType type : types) {
    checkPairs("add", type, [](Wide a, Wide b) { return a + b; });
    checkPairs("sub", type, [](Wide a, Wide b) { return a - b; });
    checkPairs("min", type, [](Wide a, Wide b) { return a < b ? a : b; });
    checkPairs("max", type, [](Wide a, Wide b) { return a < b ? b : a; });
  }
}

TEST_CASE("products of integers", "[emulator]") {
  for (IntType type : types) {
    // The product of two numbers of 64 bits fits in 128, if they are unsigned as unsigned.
    const auto high = [=](Wide a, Wide b) {
      return type.isSigned || type.width < 64 ? (a * b) >> type.width
                                              : Wide((unsigned __int128)(a) * (unsigned __int128)(b) >> 64);
    };
    checkPairs("mul.lo", type, [](Wide a, Wide b) { return Wide((unsigned __int128)(a) * (unsigned __int128)(b)); });
    checkPairs("mul.hi", type, high);
    if (type.width < 64)
      checkPairs(
          "mul.wide", type, [](Wide a, Wide b) { return a * b; }, 2);
  }
}

TEST_CASE("quotients and remainders of integers", "[emulator]") {
  for (IntType type : types) {
    checkPairs("div", type, [](Wide a, Wide b) { return b == 0 ? Wide(-1) : a / b; });
    checkPairs("rem", type, [](Wide a, Wide b) { return b == 0 ? a : a % b; });
  }
  // Numbers below 2^52 are divided in another way if there are no others in the warp.
  const std::vector<uint64_t> small = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       1000,
                                       0xffff,
                                       0x7fffffff,
                                       0xffffffff,
                                       0xfffffffffffff,
                                       0xffffffffffffe,
                                       0x8000000000000,
                                       99999999999,
                                       33333333333};
  std::vector<uint64_t> both = small;
  for (uint64_t value : small)
    both.push_back(-value);
  for (const auto &[type, values] : {std::pair("u64", small), {"s64", both}}) {
    const bool isSigned = type[0] == 's';
    check(std::string("div.") + type + " %d, %a, %b;", "b64 b64 b64", pairs(values, [&](uint64_t a, uint64_t b) {
            return cut(b ? number(a, 64, isSigned) / number(b, 64, isSigned) : Wide(-1), 64);
          }));
    check(std::string("rem.") + type + " %d, %a, %b;", "b64 b64 b64", pairs(values, [&](uint64_t a, uint64_t b) {
            return cut(b ? number(a, 64, isSigned) % number(b, 64, isSigned) : number(a, 64, isSigned), 64);
          }));
  }
}

TEST_CASE("a product and a sum of integers", "[emulator]") {
  const std::vector<uint64_t> some = {0,
                                      1,
                                      3,
                                      0x7fff,
                                      0x8000,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x123456789abcdef0,
                                      0x8000000000000000,
                                      0xffffffffffffffff};
  for (IntType type : types) {
    const auto checkTriples = [&](const std::string &name, int factor,
                                  const std::function<Wide(Wide, Wide, Wide)> &function) {
      const int w = type.width;
      check(name + "." + type.text() + " %d, %a, %b, %c;",
            type.reg(factor) + " " + type.reg() + " " + type.reg() + " " + type.reg(factor),
            triples(some, [&](uint64_t a, uint64_t b, uint64_t c) {
              return cut(function(number(a, w, type.isSigned), number(b, w, type.isSigned),
                                  number(c, w * factor, type.isSigned)),
                         w * factor);
            }));
    };
    checkTriples("mad.lo", 1, [](Wide a, Wide b, Wide c) {
      return Wide((unsigned __int128)(a) * (unsigned __int128)(b) + (unsigned __int128)(c));
    });
    if (type.width < 64)
      checkTriples("mad.hi", 1, [&](Wide a, Wide b, Wide c) { return ((a * b) >> type.width) + c; });
    if (type.width < 64)
      checkTriples("mad.wide", 2, [](Wide a, Wide b, Wide c) { return a * b + c; });
    checkTriples("sad", 1, [](Wide a, Wide b, Wide c) { return (a < b ? b - a : a - b) + c; });
  }
}

TEST_CASE("signs of integers", "[emulator]") {
  for (IntType type : types)
    if (type.isSigned) {
      const std::string registers = type.reg() + " " + type.reg();
      check("neg." + type.text() + " %d, %a;", registers,
            singles(integers, [&](uint64_t a) { return cut(-number(a, type.width, true), type.width); }));
      check("abs." + type.text() + " %d, %a;", registers, singles(integers, [&](uint64_t a) {
              const Wide value = number(a, type.width, true);
              return cut(value < 0 ? -value : value, type.width);
            }));
    }
}

TEST_CASE("saturating sums and 24-bit products", "[emulator]") {
  const auto saturate = [](Wide a) {
    return uint32_t(a > 0x7fffffff ? Wide(0x7fffffff) : a < -Wide(0x80000000) ? -Wide(0x80000000) : a);
  };
  check("add.sat.s32 %d, %a, %b;", "b32 b32 b32",
        pairs(integers, [&](uint64_t a, uint64_t b) { return saturate(number(a, 32, true) + number(b, 32, true)); }));
  check("sub.sat.s32 %d, %a, %b;", "b32 b32 b32",
        pairs(integers, [&](uint64_t a, uint64_t b) { return saturate(number(a, 32, true) - number(b, 32, true)); }));
  for (bool isSigned : {false, true}) {
    const std::string type = isSigned ? ".s32" : ".u32";
    const auto product = [=](uint64_t a, uint64_t b) { return number(a, 24, isSigned) * number(b, 24, isSigned); };
    check("mul24.lo" + type + " %d, %a, %b;", "b32 b32 b32",
          pairs(integers, [&](uint64_t a, uint64_t b) { return cut(product(a, b), 32); }));
    check("mul24.hi" + type + " %d, %a, %b;", "b32 b32 b32",
          pairs(integers, [&](uint64_t a, uint64_t b) { return cut(product(a, b) >> 16, 32); }));
    check("mad24.lo" + type + " %d, %a, %b, 5;", "b32 b32 b32",
          pairs(integers, [&](uint64_t a, uint64_t b) { return cut(product(a, b) + 5, 32); }));
  }
}

TEST_CASE("products of four bytes", "[emulator]") {
  const std::vector<uint64_t> bytes = {0, 0x01020304, 0xff80ff80, 0x7f7f7f7f, 0x80808080, 0xdeadbeef};
  for (bool first : {false, true})
    for (bool second : {false, true})
      check(std::string("dp4a") + (first ? ".s32" : ".u32") + (second ? ".s32" : ".u32") + " %d, %a, %b, %c;",
            "b32 b32 b32 b32", triples(bytes, [&](uint64_t a, uint64_t b, uint64_t c) {
              Wide sum = Wide(c);
              for (int k = 0; k < 4; ++k)
                sum += number(a >> 8 * k, 8, first) * number(b >> 8 * k, 8, second);
              return cut(sum, 32);
            }));
}

TEST_CASE("immediate operands are read in every notation", "[emulator]") {
  const auto always = [](uint64_t value) { return std::vector<Row>{{{0}, value}}; };
  check("mov.b32 %d, 0x1F;", "b32", always(31));
  check("mov.b32 %d, 017;", "b32", always(15));
  check("mov.b32 %d, 0b101;", "b32", always(5));
  check("mov.b32 %d, 42U;", "b32", always(42));
  check("mov.b32 %d, -2;", "b32", always(0xfffffffe));
  check("mov.b64 %d, -9223372036854775808;", "b64", always(0x8000000000000000));
  check("mov.b16 %d, -1;", "b16", always(0xffff));
  check("mov.b32 %d, 0f3F800000;", "b32", always(0x3f800000));
  check("mov.f32 %d, 1.5;", "b32", always(0x3fc00000));
  check("mov.b64 %d, 0dBFF0000000000000;", "b64", always(0xbff0000000000000));
  check("mov.f64 %d, 2.5e-1;", "b64", always(0x3fd0000000000000));
  check("mov.f64 %d, 0f3F800000;", "b64", always(0x3ff0000000000000));
  check("mov.pred %d, 1;", "pred", always(1));
  check("mov.u32 %d, WARP_SZ;", "b32", always(32));
}
