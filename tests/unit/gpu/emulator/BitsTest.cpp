// Bits, against loops over single ones that follow the text of the PTX manual.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

static uint64_t cut(uint64_t value, int width) { return width == 64 ? value : value & ((uint64_t(1) << width) - 1); }
static bool bit(uint64_t value, uint64_t at) { return at < 64 && (value >> at & 1); }

static const std::vector<uint64_t> amounts = {0,  1,  5,  15,  16,  17,  31,         32,        33,
                                              63, 64, 65, 200, 255, 256, 0x80000001, 0xffffffff};

TEST_CASE("logic", "[emulator]") {
  for (int width : {16, 32, 64}) {
    const std::string type = "b" + std::to_string(width), one = type + " " + type, two = one + " " + type;
    check("and." + type + " %d, %a, %b;", two,
          pairs(integers, [&](uint64_t a, uint64_t b) { return cut(a & b, width); }));
    check("or." + type + " %d, %a, %b;", two,
          pairs(integers, [&](uint64_t a, uint64_t b) { return cut(a | b, width); }));
    check("xor." + type + " %d, %a, %b;", two,
          pairs(integers, [&](uint64_t a, uint64_t b) { return cut(a ^ b, width); }));
    check("not." + type + " %d, %a;", one, singles(integers, [&](uint64_t a) { return cut(~a, width); }));
    check("cnot." + type + " %d, %a;", one,
          singles(integers, [&](uint64_t a) { return uint64_t(cut(a, width) == 0); }));
  }
}

TEST_CASE("shifts are clamped to the width", "[emulator]") {
  for (int width : {16, 32, 64}) {
    const std::string w = std::to_string(width), registers = "b" + w + " b" + w + " b32";
    const auto shifted = [=](uint64_t a, uint64_t b, int direction, bool sign) {
      uint64_t result = 0;
      for (int k = 0; k < width; ++k) {
        const int64_t from = direction < 0 ? int64_t(k) - int64_t(uint32_t(b)) : int64_t(k) + int64_t(uint32_t(b));
        const bool value = from < 0       ? false
                           : from < width ? bit(a, uint64_t(from))
                                          : sign && bit(a, uint64_t(width - 1));
        result |= uint64_t(value) << k;
      }
      return result;
    };
    check("shl.b" + w + " %d, %a, %b;", registers,
          pairs(integers, amounts, [&](uint64_t a, uint64_t b) { return shifted(a, b, -1, false); }));
    check("shr.b" + w + " %d, %a, %b;", registers,
          pairs(integers, amounts, [&](uint64_t a, uint64_t b) { return shifted(a, b, 1, false); }));
    check("shr.u" + w + " %d, %a, %b;", registers,
          pairs(integers, amounts, [&](uint64_t a, uint64_t b) { return shifted(a, b, 1, false); }));
    check("shr.s" + w + " %d, %a, %b;", registers,
          pairs(integers, amounts, [&](uint64_t a, uint64_t b) { return shifted(a, b, 1, true); }));
  }
}

TEST_CASE("funnel shifts", "[emulator]") {
  for (bool left : {false, true})
    for (bool clamp : {false, true}) {
      std::vector<Row> rows;
      for (uint64_t low : {0x12345678u, 0xffffffffu, 0x80000001u})
        for (uint64_t high : {0u, 0x9abcdef0u, 0xffffffffu})
          for (uint64_t amount : amounts) {
            const uint64_t n = clamp ? std::min<uint64_t>(uint32_t(amount), 32) : amount % 32;
            uint64_t result = 0;
            for (uint64_t k = 0; k < 32; ++k)
              result |= uint64_t(bit(low | high << 32, left ? k + 32 - n : k + n)) << k;
            rows.push_back({{low, high, amount}, result});
          }
      check(std::string("shf.") + (left ? "l" : "r") + (clamp ? ".clamp" : ".wrap") + ".b32 %d, %a, %b, %c;",
            "b32 b32 b32 b32", rows);
    }
}

TEST_CASE("bit fields are taken and put in", "[emulator]") {
  const std::vector<uint64_t> values = {
      0, 1, 0x80000000, 0x76543210, 0xdeadbeefcafebabe, 0x8000000000000000, 0xffffffffffffffff};
  const std::vector<uint64_t> places = {0, 1, 7, 8, 31, 32, 40, 63, 64, 100, 255, 256, 0x101};
  for (int width : {32, 64})
    for (bool isSigned : {false, true}) {
      std::vector<Row> rows;
      for (uint64_t a : values)
        for (uint64_t b : places)
          for (uint64_t c : places) {
            const uint64_t pos = b & 255, len = c & 255, msb = uint64_t(width - 1);
            const bool sign = isSigned && len && bit(a, std::min(pos + len - 1, msb));
            uint64_t result = 0;
            for (uint64_t i = 0; i <= msb; ++i)
              result |= uint64_t(i < len && pos + i <= msb ? bit(a, pos + i) : sign) << i;
            rows.push_back({{a, b, c}, result});
          }
      const std::string w = std::to_string(width);
      check(std::string("bfe.") + (isSigned ? "s" : "u") + w + " %d, %a, %b, %c;", "b" + w + " b" + w + " b32 b32",
            rows);
    }
  for (int width : {32, 64}) {
    std::vector<Row> rows;
    for (uint64_t a : values)
      for (uint64_t c : places)
        for (uint64_t e : places) {
          const uint64_t b = 0x0123456789abcdef, pos = c & 255, len = e & 255;
          uint64_t result = cut(b, width);
          for (uint64_t i = 0; i < len && pos + i < uint64_t(width); ++i)
            result = (result & ~(uint64_t(1) << (pos + i))) | uint64_t(bit(a, i)) << (pos + i);
          rows.push_back({{a, b, c, e}, result});
        }
    const std::string w = std::to_string(width);
    check("bfi.b" + w + " %d, %a, %b, %c, %e;", "b" + w + " b" + w + " b" + w + " b32 b32", rows);
  }
}

TEST_CASE("bits are counted, found and reversed", "[emulator]") {
  for (int width : {32, 64}) {
    const std::string w = std::to_string(width), wide = "b" + w + " b" + w, narrow = "b32 b" + w;
    const auto highest = [=](uint64_t a, bool other) {
      for (int k = width - 1; k >= 0; --k)
        if (bit(a, uint64_t(k)) != other)
          return k;
      return -1;
    };
    check("brev.b" + w + " %d, %a;", wide, singles(integers, [&](uint64_t a) {
            uint64_t result = 0;
            for (int k = 0; k < width; ++k)
              result |= uint64_t(bit(a, uint64_t(k))) << (width - 1 - k);
            return result;
          }));
    check("popc.b" + w + " %d, %a;", narrow, singles(integers, [&](uint64_t a) {
            uint64_t count = 0;
            for (int k = 0; k < width; ++k)
              count += bit(a, uint64_t(k));
            return count;
          }));
    check("clz.b" + w + " %d, %a;", narrow,
          singles(integers, [&](uint64_t a) { return uint64_t(width - 1 - highest(a, false)); }));
    for (bool isSigned : {false, true})
      for (bool amount : {false, true})
        check(std::string("bfind.") + (amount ? "shiftamt." : "") + (isSigned ? "s" : "u") + w + " %d, %a;", narrow,
              singles(integers, [&](uint64_t a) {
                const int found = highest(a, isSigned && bit(a, uint64_t(width - 1)));
                return found < 0 ? uint64_t(0xffffffff) : uint64_t(amount ? width - 1 - found : found);
              }));
  }
}

TEST_CASE("bytes are permuted", "[emulator]") {
  const uint64_t a = 0x83828180, b = 0x07060504;
  // The manual's tables: bytes of the result from the highest to the lowest, by the low two bits of the selector.
  struct Mode {
    const char *name;
    const char *picks[4];
  };
  for (const Mode &mode :
       {Mode{"f4e", {"3210", "4321", "5432", "6543"}}, Mode{"b4e", {"5670", "6701", "7012", "0123"}},
        Mode{"rc8", {"0000", "1111", "2222", "3333"}}, Mode{"ecl", {"3210", "3211", "3222", "3333"}},
        Mode{"ecr", {"0000", "1110", "2210", "3210"}}, Mode{"rc16", {"1010", "3232", "1010", "3232"}}}) {
    std::vector<Row> rows;
    for (uint64_t selector = 0; selector < 8; ++selector) {
      uint64_t result = 0;
      for (int k = 0; k < 4; ++k)
        result = result << 8 | ((a | b << 32) >> (8 * (mode.picks[selector & 3][k] - '0')) & 255);
      rows.push_back({{a, b, selector}, result});
    }
    check("prmt.b32." + std::string(mode.name) + " %d, %a, %b, %c;", "b32 b32 b32 b32", rows);
  }
  check("prmt.b32 %d, %a, %b, %c;", "b32 b32 b32 b32",
        {{{a, b, 0x3210}, a},
         {{a, b, 0x7654}, b},
         {{a, b, 0x0246}, 0x80820406},
         {{a, b, 0x89f3}, 0xffff0083},
         {{a, b, 0xcccc}, 0}});
}

TEST_CASE("any logic of three operands", "[emulator]") {
  for (int table : {0x00, 0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1b, 0xff})
    check("lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";", "b32 b32 b32 b32",
          triples({0, 0xffffffff, 0x12345678, 0xf0f0f0f0}, [&](uint64_t a, uint64_t b, uint64_t c) {
            uint64_t result = 0;
            for (uint64_t k = 0; k < 32; ++k)
              result |= uint64_t(table >> (4 * bit(a, k) + 2 * bit(b, k) + bit(c, k)) & 1) << k;
            return result;
          }));
}

TEST_CASE("registers are taken apart and put together", "[emulator]") {
  check("mov.b32 %d, {%a, %b};", "b32 b16 b16", {{{0x1234, 0xabcd}, 0xabcd1234}});
  check("mov.b64 %d, {%a, %b};", "b64 b32 b32", {{{0x12345678, 0x9abcdef0}, 0x9abcdef012345678}});
  check("mov.b64 %d, {%a, %b, %c, %e};", "b64 b16 b16 b16 b16", {{{1, 2, 3, 0xffff}, 0xffff000300020001}});
  check("mov.b32 %d, {0, %a};", "b32 b16", {{{0x3f80}, 0x3f800000}});
  check("{ .reg .b16 %lo; mov.b32 {%lo, %d}, %a; }", "b16 b32", {{{0x3f801234}, 0x3f80}});
  check("mov.b64 {_, %d}, %a;", "b32 b64", {{{0x123456789abcdef0}, 0x12345678}});
  check("mov.b64 {%d, _, _, _}, %a;", "b16 b64", {{{0x123456789abcdef0}, 0xdef0}});
}
