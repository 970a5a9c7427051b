// Conversions, against exact numbers.
#include "Harness.h"
#include "Reference.h"

#include <catch2/catch.hpp>

using namespace nnterp::gpu::test;

static int widthOf(const std::string &type) { return type == "bf16" ? 16 : std::stoi(type.substr(1)); }
static std::string reg(const std::string &type) { return "b" + std::to_string(std::max(widthOf(type), 16)); }
static const std::vector<uint64_t> &valuesOf(const std::string &type) {
  return type == "f32" ? floats : type == "f64" ? doubles : type == "f16" ? halves : type == "bf16" ? brains : integers;
}
static uint64_t cut(uint64_t value, int width) { return width == 64 ? value : value & ((uint64_t(1) << width) - 1); }

/// The integer that the low bits stand for.
static __int128 integer(uint64_t bits, const std::string &type) {
  const int width = widthOf(type);
  const uint64_t low = cut(bits, width);
  return type[0] == 's' && low >> (width - 1) ? __int128(low) - (__int128(1) << width) : __int128(low);
}
static __int128 lowest(const std::string &type) { return type[0] == 's' ? -(__int128(1) << (widthOf(type) - 1)) : 0; }
static __int128 highest(const std::string &type) { return (__int128(1) << (widthOf(type) - (type[0] == 's'))) - 1; }

/// In the register of a narrower type the value is extended by its sign.
static uint64_t inRegister(__int128 value, const std::string &type, int registerWidth) {
  return cut(uint64_t(integer(uint64_t(value), type)), registerWidth);
}

TEST_CASE("integers to integers", "[emulator]") {
  const std::vector<std::string> types = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
  for (const std::string &to : types)
    for (const std::string &from : types)
      for (bool saturate : {false, true})
        check(std::string("cvt.") + (saturate ? "sat." : "") + to + "." + from + " %d, %a;", reg(to) + " " + reg(from),
              singles(integers, [&](uint64_t a) {
                __int128 value = integer(a, from);
                if (saturate)
                  value = std::min(std::max(value, lowest(to)), highest(to));
                return inRegister(value, to, std::max(widthOf(to), 16));
              }));
}

TEST_CASE("integers in registers wider than their type", "[emulator]") {
  for (const std::string from : {"u8", "s8", "u16", "s16"})
    for (const std::string to : {"u16", "s16", "u32", "s32"}) {
      check("cvt." + to + "." + from + " %d, %a;", reg(to) + " b32",
            singles(integers, [&](uint64_t a) { return inRegister(integer(a, from), to, widthOf(to)); }));
      check("cvt." + to + "." + from + " %d, %a;", "b64 b64",
            singles(integers, [&](uint64_t a) { return inRegister(integer(a, from), to, 64); }));
    }
}

static const std::pair<const char *, Rounding> roundings[] = {
    {"rn", Rounding::nearest}, {"rz", Rounding::zero}, {"rm", Rounding::down}, {"rp", Rounding::up}};

TEST_CASE("integers to floats, in every rounding", "[emulator]") {
  for (const std::string from : {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"})
    for (const std::string to : {"f16", "f32", "f64"})
      for (const auto &[name, rounding] : roundings) {
        if (to == "f16" && rounding != Rounding::nearest)
          continue;
        const Rounding r = rounding;
        check("cvt." + std::string(name) + "." + to + "." + from + " %d, %a;", reg(to) + " " + reg(from),
              singles(integers, [&](uint64_t a) { return encode(Exact(integer(a, from)), format(to), r); }));
      }
}

/// To a whole number, ties to even.
static Exact whole(Exact value, Rounding rounding) {
  if (!(value < 1e30 && value > -1e30))
    return value;
  const __int128 cutOff = __int128(value);
  const Exact lost = value - Exact(cutOff);
  const Exact size = lost < 0 ? -lost : lost;
  const bool negative = value < 0 || (value == 0 && 1 / value < 0);
  const bool away = rounding == Rounding::nearest ? size > Exact(0.5) || (size == Exact(0.5) && (cutOff & 1))
                    : rounding == Rounding::up    ? size > 0 && !negative
                    : rounding == Rounding::down  ? size > 0 && negative
                                                  : false;
  const Exact result = Exact(cutOff) + (away ? (negative ? -1 : 1) : 0);
  return result == 0 && negative ? -Exact(0) : result;
}

TEST_CASE("floats to integers saturate", "[emulator]") {
  for (const std::string from : {"f16", "f32", "f64"})
    for (const std::string to : {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"})
      for (const auto &[name, rounding] : {std::pair("rni", Rounding::nearest),
                                           {"rzi", Rounding::zero},
                                           {"rmi", Rounding::down},
                                           {"rpi", Rounding::up}}) {
        if (from == "f64" && widthOf(to) == 8)
          continue;
        const Rounding r = rounding;
        check("cvt." + std::string(name) + "." + to + "." + from + " %d, %a;", reg(to) + " " + reg(from),
              singles(valuesOf(from), [&](uint64_t a) {
                const Exact value = whole(decode(cut(a, widthOf(from)), format(from)), r);
                const int width = std::max(widthOf(to), 16);
                if (isNan(value))
                  return from == "f64" || widthOf(to) == 64 ? uint64_t(1) << (widthOf(to) - 1) : uint64_t(0);
                const __int128 result = value <= Exact(lowest(to))    ? lowest(to)
                                        : value >= Exact(highest(to)) ? highest(to)
                                                                      : __int128(value);
                return inRegister(result, to, width);
              }));
      }
}

TEST_CASE("floats to whole floats", "[emulator]") {
  for (const std::string type : {"f16", "f32", "f64"})
    for (const auto &[name, rounding] : {std::pair("rni", Rounding::nearest),
                                         {"rzi", Rounding::zero},
                                         {"rmi", Rounding::down},
                                         {"rpi", Rounding::up}}) {
      const Rounding r = rounding;
      check(
          "cvt." + std::string(name) + "." + type + "." + type + " %d, %a;", reg(type) + ":" + type + " " + reg(type),
          singles(valuesOf(type), [&](uint64_t a) { return encode(whole(decode(a, format(type)), r), format(type)); }));
    }
}

TEST_CASE("floats to floats", "[emulator]") {
  for (const std::string from : {"f16", "bf16", "f32", "f64"})
    for (const std::string to : {"f16", "bf16", "f32", "f64"})
      for (const auto &[name, rounding] : roundings) {
        const bool narrows = widthOf(to) < widthOf(from), small = widthOf(to) == 16;
        if (widthOf(to) == widthOf(from) || (from == "bf16" && to == "f64") || (from == "f64" && to == "bf16"))
          continue;
        if ((!narrows && rounding != Rounding::nearest) || (small && rounding > Rounding::zero) ||
            (from == "f64" && small && rounding != Rounding::nearest))
          continue;
        const Rounding r = rounding;
        check("cvt." + (narrows ? std::string(name) + "." : "") + to + "." + from + " %d, %a;",
              reg(to) + ":" + to + " " + reg(from),
              singles(valuesOf(from), [&](uint64_t a) { return encode(decode(a, format(from)), format(to), r); }));
      }
}

TEST_CASE("every float16 and bfloat16 survives float32", "[emulator]") {
  std::vector<uint64_t> all;
  for (uint64_t value = 0; value < 0x10000; value += 7)
    all.push_back(value);
  for (const std::string type : {"f16", "bf16"}) {
    check("cvt.f32." + type + " %d, %a;", "b32:f32 b16",
          singles(all, [&](uint64_t a) { return encode(decode(a, format(type)), format("f32")); }));
    check("{ .reg .b32 %f; cvt.f32." + type + " %f, %a; cvt.rn." + type + ".f32 %d, %f; }", "b16:" + type + " b16",
          singles(all, [](uint64_t a) { return a; }));
  }
}

TEST_CASE("pairs of floats are rounded and put together", "[emulator]") {
  for (const std::string type : {"f16", "bf16"}) {
    const auto rounded = [&](uint64_t a, Rounding r) { return encode(decode(a, format("f32")), format(type), r); };
    const auto relu = [&](uint64_t a) { return a & 0x8000 && (a & 0x7fff) <= 0x7f80 ? 0 : a; };
    const std::string tail = "." + type + "x2.f32 %d, %a, %b;", registers = "b32 b32 b32";
    check("cvt.rn" + tail, registers, pairs(floats, [&](uint64_t a, uint64_t b) {
            return rounded(a, Rounding::nearest) << 16 | rounded(b, Rounding::nearest);
          }));
    check("cvt.rz" + tail, registers, pairs(floats, [&](uint64_t a, uint64_t b) {
            return rounded(a, Rounding::zero) << 16 | rounded(b, Rounding::zero);
          }));
    check("cvt.rn.relu" + tail, registers, pairs(floats, [&](uint64_t a, uint64_t b) {
            return relu(rounded(a, Rounding::nearest)) << 16 | relu(rounded(b, Rounding::nearest));
          }));
  }
}

TEST_CASE("conversions flush and saturate where it says so", "[emulator]") {
  check("cvt.ftz.f64.f32 %d, %a;", "b64:f64 b32",
        {{{0x00400000}, 0}, {{0x80000001}, 0x8000000000000000}, {{bits(1.5f)}, bits(1.5)}});
  check("cvt.rn.ftz.f32.f64 %d, %a;", "b32:f32 b64",
        {{{bits(1e-40)}, 0}, {{bits(-1e-40)}, 0x80000000}, {{bits(0.1)}, bits(0.1f)}});
  check("cvt.rn.sat.f32.f64 %d, %a;", "b32:f32 b64",
        {{{bits(1.5)}, bits(1.0f)}, {{bits(-1.5)}, 0}, {{0x7ff8000000000000}, 0}});
  check("cvt.rmi.ftz.s32.f32 %d, %a;", "b32 b32", {{{0x80000001}, 0}, {{bits(-0.5f)}, 0xffffffff}});
  check("cvt.rmi.s32.f32 %d, %a;", "b32 b32", {{{0x80000001}, 0xffffffff}});
  check("cvt.sat.f32.f32 %d, %a;", "b32:f32 b32",
        {{{bits(2.0f)}, bits(1.0f)}, {{bits(0.25f)}, bits(0.25f)}, {{0x7fc00000}, 0}});
  check("cvt.ftz.f32.f32 %d, %a;", "b32:f32 b32", {{{0x00000001}, 0}, {{bits(2.0f)}, bits(2.0f)}});
  check("cvt.rn.sat.f32.s32 %d, %a;", "b32 b32", {{{5}, bits(1.0f)}, {{0xffffffff}, 0}});
}
