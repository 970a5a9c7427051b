// Loads, stores and atomics in every kind of memory.
#include "Harness.h"

#include <catch2/catch.hpp>
#include <numeric>

using namespace nnterp;
using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

/// A kernel with `in` in %in and `out` in %out, both of 64 bits, and the thread's number in %t and %t64.
static std::string kernel(const std::string &body, const std::string &before = "", const std::string &params = "") {
  return module(before + "\n.visible .entry k(.param .u64 .ptr .global .align 16 in, .param .u64 out" + params +
                ") {\n"
                ".reg .b64 %in, %out, %t64, %d<16>; .reg .b32 %t, %r<32>; .reg .b16 %h<16>; .reg .pred %p<8>;\n"
                "ld.param.u64 %in, [in]; ld.param.b64 %out, [out]; mov.u32 %t, %tid.x; cvt.u64.u32 %t64, %t;\n" +
                body + "\nret; }\n");
}

template <class T> static std::vector<T> counted(size_t count, T first = 0) {
  std::vector<T> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_CASE("every width is loaded with its sign and stored", "[emulator]") {
  std::vector<uint8_t> bytes(256);
  for (size_t k = 0; k < bytes.size(); ++k)
    bytes[k] = uint8_t(k * 37 + 11);
  const struct {
    const char *load, *reg, *store;
    int size, width;
    bool sign;
  } cases[] = {
      {"u8", "b16", "b16", 1, 2, false},  {"s8", "b16", "b16", 1, 2, true},    {"b8", "b32", "b32", 1, 4, false},
      {"s8", "b64", "b64", 1, 8, true},   {"u16", "b16", "u16", 2, 2, false},  {"s16", "b32", "s32", 2, 4, true},
      {"b16", "b32", "b32", 2, 4, false}, {"f16", "b16", "b16", 2, 2, false},  {"u32", "b32", "u32", 4, 4, false},
      {"s32", "b64", "s64", 4, 8, true},  {"f32", "b32", "f32", 4, 4, false},  {"b64", "b64", "b64", 8, 8, false},
      {"f64", "b64", "f64", 8, 8, false}, {"f16x2", "b32", "b32", 4, 4, false}};
  // Rows of threads one behind the other, all the same address, and backwards.
  for (const auto &c : cases)
    for (int pattern : {0, 1, 2}) {
      INFO(c.load << " to " << c.reg << ", pattern " << pattern);
      const std::string size = std::to_string(c.size), place = pattern == 0   ? "mov.u32 %r1, %t;"
                                                               : pattern == 1 ? "mov.u32 %r1, 3;"
                                                                              : "sub.u32 %r1, 31, %t;";
      Machine machine(kernel(place + " mul.wide.u32 %d1, %r1, " + size + "; add.u64 %d1, %in, %d1; .reg ." + c.reg +
                             " %x; ld.global." + c.load + " %x, [%d1]; mul.wide.u32 %d2, %t, " +
                             std::to_string(c.width) + "; add.u64 %d2, %out, %d2; st.global." + c.store +
                             " [%d2], %x;"));
      void *const in = machine.put(bytes), *const out = machine.put(std::vector<uint8_t>(256));
      machine.run({address(in), address(out)});
      REQUIRE(machine.error() == "");
      const std::vector<uint8_t> found = machine.get<uint8_t>(out, size_t(32 * c.width));
      for (int t = 0; t < 32; ++t) {
        uint64_t expected = 0, value = 0;
        std::memcpy(&expected, &bytes[size_t(c.size * (pattern == 0 ? t : pattern == 1 ? 3 : 31 - t))], size_t(c.size));
        if (c.sign && expected >> (8 * c.size - 1))
          expected |= ~uint64_t(0) << (8 * c.size);
        if (c.width < 8)
          expected &= (uint64_t(1) << (8 * c.width)) - 1;
        std::memcpy(&value, &found[size_t(t * c.width)], size_t(c.width));
        REQUIRE(value == expected);
      }
    }
}

TEST_CASE("vectors of registers are loaded and stored", "[emulator]") {
  Machine machine(
      kernel("shl.b32 %r9, %t, 4; cvt.u64.u32 %d1, %r9; add.u64 %d2, %in, %d1; add.u64 %d3, %out, %d1;\n"
             "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d2]; st.global.v4.b32 [%d3], {%r4, %r3, %r2, %r1};\n"
             "ld.global.nc.v2.b64 {%d4, %d5}, [%d2]; st.global.v2.b64 [%d3+512], {%d5, %d4};\n"
             "ld.global.v2.u16 {%h1, _}, [%d2+4]; st.global.v2.b16 [%d3+1024], {%h1, 7};\n"
             "ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%d2]; st.global.v4.b8 [%d3+1028], {%h4, %h3, %h2, %h1};"));
  const std::vector<uint32_t> in = counted<uint32_t>(128, 0x10203);
  void *const from = machine.put(in), *const to = machine.put(std::vector<uint32_t>(384));
  machine.run({address(from), address(to)});
  REQUIRE(machine.error() == "");
  const std::vector<uint32_t> out = machine.get<uint32_t>(to, 384);
  for (uint32_t t = 0; t < 32; ++t) {
    for (uint32_t k = 0; k < 4; ++k) {
      CHECK(out[4 * t + k] == in[4 * t + 3 - k]);
      CHECK(out[128 + 4 * t + k] == in[4 * t + (k + 2) % 4]);
    }
    CHECK(out[256 + 4 * t] == ((in[4 * t + 1] & 0xffff) | 7 << 16));
    CHECK(out[256 + 4 * t + 1] == __builtin_bswap32(in[4 * t]));
  }
}

TEST_CASE("variables have their initial values", "[emulator]") {
  Machine machine(kernel(
      "ld.global.u32 %r1, [numbers+4]; mov.u64 %d1, numbers; ld.global.u32 %r2, [%d1+8]; ld.const.f32 %r3, [half];\n"
      "ld.global.u64 %d2, [table+8]; ld.u32 %r4, [%d2]; ld.global.u32 %r5, [zero]; ld.const.u8 %r6, [bytes+2];\n"
      "mov.u64 %d3, bytes; cvta.const.u64 %d3, %d3; ld.u8 %r7, [%d3+1]; ld.global.u16 %r8, [nested+6];\n"
      "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%out+16], {%r5, %r6, %r7, %r8};",
      ".global .align 4 .u32 numbers[3] = {1, -2, 0x30};\n.const .f32 half = 0f3F000000;\n.global .u64 table[2] = {0, "
      "generic(numbers)+8};\n"
      ".global .u32 zero;\n.const .align 4 .b8 bytes[4] = {9, 8, 0xff};\n.global .u16 nested[2][2] = {{1, 2}, {3, "
      "4}};"));
  void *const out = machine.put(std::vector<uint32_t>(8));
  machine.run({address(out), address(out)}, 1);
  REQUIRE(machine.error() == "");
  CHECK(machine.get<uint32_t>(out, 8) == std::vector<uint32_t>{0xfffffffe, 0x30, 0x3f000000, 0x30, 0, 255, 8, 4});
}

TEST_CASE("parameters of every type", "[emulator]") {
  Machine machine(
      kernel("ld.param.s8 %r1, [p2]; ld.param.u16 %h1, [p3]; cvt.u32.u16 %r2, %h1; ld.param.f32 %r3, [p4]; "
             "ld.param.b32 %r4, [p5+8];\n"
             "ld.param.v2.u32 {%r5, %r6}, [p5]; ld.param.s32 %d1, [p6]; cvt.u32.u64 %r7, %d1; shr.u64 %d1, %d1, 32; "
             "cvt.u32.u64 %r8, %d1;\n"
             "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4}; st.global.v4.u32 [%out+16], {%r5, %r6, %r7, %r8};",
             "", ", .param .s8 p2, .param .u16 p3, .param .f32 p4, .param .align 8 .b8 p5[12], .param .s32 p6"));
  void *const out = machine.put(std::vector<uint32_t>(8));
  const uint64_t pointer = address(out);
  const int8_t p2 = -3;
  const uint16_t p3 = 50000;
  const float p4 = 1.5;
  const uint32_t p5[3] = {7, 8, 9};
  const int32_t p6 = -2;
  const void *params[] = {&pointer, &pointer, &p2, &p3, &p4, p5, &p6};
  Launch launch;
  launch.parameters = params;
  machine.device->launch(launch, machine.diags);
  REQUIRE(machine.error() == "");
  CHECK(machine.get<uint32_t>(out, 8) ==
        std::vector<uint32_t>{0xfffffffd, 50000, 0x3fc00000, 9, 7, 8, 0xfffffffe, 0xffffffff});
}

TEST_CASE("shared memory is the block's, local memory the thread's, and generic addresses find both", "[emulator]") {
  // Threads write to shared and local memory, directly and through generic addresses, and read what their neighbour
  // wrote.
  Machine machine(kernel(
      "mov.u32 %r1, tile; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; mul.lo.u32 %r4, %t, 3; st.shared.u32 [%r3], %r4;\n"
      "bar.sync 0; xor.b32 %r5, %r2, 4; add.u32 %r5, %r5, %r1; ld.shared.u32 %r6, [%r5];\n"
      "mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; cvt.u64.u32 %d2, %r2; add.u64 %d3, %d1, %d2; ld.u32 %r7, [%d3];\n"
      ".local .align 8 .b8 depot[16]; mov.u64 %d4, depot; st.local.u32 [%d4+4], %t; cvta.local.u64 %d5, %d4; ld.u32 "
      "%r8, [%d5+4];\n"
      "st.u32 [%d5], 5; ld.local.u32 %r9, [depot]; cvta.to.shared.u64 %d6, %d3; cvt.u32.u64 %r10, %d6; sub.u32 %r10, "
      "%r10, %r1;\n"
      "add.u32 %r9, %r9, %r10; mad.wide.u32 %d7, %t, 16, %out; st.v4.u32 [%d7], {%r6, %r7, %r8, %r9};",
      ".shared .align 4 .b8 tile[256];"));
  void *const out = machine.put(std::vector<uint32_t>(256));
  machine.run({address(out), address(out)}, 64);
  REQUIRE(machine.error() == "");
  const std::vector<uint32_t> found = machine.get<uint32_t>(out, 256);
  for (uint32_t t = 0; t < 64; ++t)
    CHECK(std::vector<uint32_t>(&found[4 * t], &found[4 * t] + 4) ==
          std::vector<uint32_t>{3 * (t ^ 1), 3 * t, t, 5 + 4 * t});
}

TEST_CASE("lanes of one instruction may access different memories", "[emulator]") {
  Machine machine(kernel(
      "mov.u64 %d1, tile; cvta.shared.u64 %d1, %d1; mad.wide.u32 %d1, %t, 4, %d1; mad.wide.u32 %d2, %t, 4, %in;\n"
      "add.u32 %r1, %t, 1000; st.u32 [%d1], %r1; and.b32 %r2, %t, 1; setp.eq.u32 %p1, %r2, 0; selp.b64 %d3, %d1, %d2, "
      "%p1;\n"
      "ld.u32 %r3, [%d3]; isspacep.shared %p2, %d3; isspacep.global %p3, %d3; selp.u32 %r4, 10000, 0, %p2; selp.u32 "
      "%r5, 20000, 0, %p3;\n"
      "add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5; mad.wide.u32 %d4, %t, 4, %out; st.u32 [%d4], %r3;",
      ".shared .align 4 .b8 tile[128];"));
  void *const in = machine.put(counted<uint32_t>(32)), *const out = machine.put(std::vector<uint32_t>(32));
  machine.run({address(in), address(out)});
  REQUIRE(machine.error() == "");
  const std::vector<uint32_t> found = machine.get<uint32_t>(out, 32);
  for (uint32_t t = 0; t < 32; ++t)
    CHECK(found[t] == (t % 2 == 0 ? 11000 + t : 20000 + t));
}

TEST_CASE("dynamic shared memory is as large as the launch says", "[emulator]") {
  const std::string text = kernel("mov.u32 %r1, pool; shl.b32 %r2, %t, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], "
                                  "%t; ld.shared.u32 %r3, [%r1];\n"
                                  "mov.u32 %r4, %dynamic_smem_size; add.u32 %r3, %r3, %r4; mad.wide.u32 %d1, %t, 4, "
                                  "%out; st.global.u32 [%d1], %r3;",
                                  ".extern .shared .align 16 .b8 pool[];");
  Machine machine(text);
  void *const out = machine.put(std::vector<uint32_t>(32));
  machine.run({address(out), address(out)}, 32, 1, 128);
  REQUIRE(machine.error() == "");
  CHECK(machine.get<uint32_t>(out, 32) == counted<uint32_t>(32, 128));
  machine.run({address(out), address(out)}, 32, 1, 124);
  CHECK(machine.error().find("a write of 4 bytes is out of bounds") != std::string::npos);
}

TEST_CASE("atomic operations", "[emulator]") {
  struct Case {
    std::string what, type;
    uint64_t start, operand, expected; ///< after all of 64 threads
  };
  const Case cases[] = {{"add", "u32", 5, 3, 197},
                        {"add", "u64", uint64_t(1) << 40, 1, (uint64_t(1) << 40) + 64},
                        {"add", "f32", bits(1.0f), bits(0.5f), bits(33.0f)},
                        {"add", "f64", bits(1.0), bits(0.25), bits(17.0)},
                        {"min", "s32", 5, 0xfffffffe, 0xfffffffe},
                        {"min", "u32", 5, 0xfffffffe, 5},
                        {"max", "s64", uint64_t(-1), 7, 7},
                        {"max", "u64", 9, 7, 9},
                        {"and", "b32", 0xff, 0x0f, 0x0f},
                        {"or", "b64", 1, uint64_t(1) << 50, 1 | uint64_t(1) << 50},
                        {"xor", "b32", 3, 1, 3},
                        {"inc", "u32", 0, 9, 4},
                        {"dec", "u32", 0, 9, 6},
                        {"exch", "b32", 0, 8, 8}};
  for (const Case &c : cases)
    for (const std::string space : {".global", ".shared", ""}) {
      const std::string size = c.type.substr(1), reg = size == "32" ? "%r" : "%d";
      const std::string place = space == ".global" ? "mov.b64 %d1, %out;"
                                : space.empty()    ? "mov.u64 %d1, cell; cvta.shared.u64 %d1, %d1;"
                                                   : "mov.u64 %d1, cell;";
      INFO(c.what << space << "." << c.type);
      for (const std::string name : {"atom", "red"}) {
        if (name == "red" && c.what == "exch")
          continue;
        const std::string op = name + ".relaxed.gpu" + space + "." + c.what + "." + c.type +
                               (name == "atom" ? " " + reg + "9, [%d1], " : " [%d1], ") + reg + "8;";
        Machine machine(kernel(place + " ld.global.b" + size + " " + reg + "8, [%in]; ld.global.b" + size + " " + reg +
                                   "7, [%out];\n"
                                   "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.b" +
                                   size + " [cell], " + reg + "7; bar.sync 0; " + op + " bar.sync 0; @%p1 ld.shared.b" +
                                   size + " " + reg + "6, [cell]; @%p1 st.global.b" + size + " [%out+8], " + reg + "6;",
                               ".shared .align 8 .b8 cell[8];"));
        void *const in = machine.put(std::vector<uint64_t>{c.operand}), *const out = machine.put(
                                                                            std::vector<uint64_t>{c.start, 0});
        machine.run({address(in), address(out)}, 64);
        REQUIRE(machine.error() == "");
        CHECK(machine.get<uint64_t>(out, 2)[space == ".global" ? 0 : 1] == c.expected);
      }
    }
}

TEST_CASE("atomic operations give the old value, and blocks do not disturb each other", "[emulator]") {
  // Each thread takes a ticket; all tickets are different.
  Machine machine(kernel("atom.global.add.u32 %r1, [%in], 1; mad.wide.u32 %d1, %r1, 4, %out; st.global.u32 [%d1], 1;\n"
                         "atom.global.cas.b32 %r2, [%in+4], 7, 9; atom.global.cas.b16 %h1, [%in+8], 1, 2;"));
  void *const in = machine.put(std::vector<uint32_t>{0, 7, 1}), *const out =
                                                                    machine.put(std::vector<uint32_t>(64 * 100));
  machine.run({address(in), address(out)}, 64, 100);
  REQUIRE(machine.error() == "");
  CHECK(machine.get<uint32_t>(in, 3) == std::vector<uint32_t>{6400, 9, 2});
  CHECK(machine.get<uint32_t>(out, 6400) == std::vector<uint32_t>(6400, 1));
}

TEST_CASE("places in grid and block", "[emulator]") {
  Machine machine(kernel(
      "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, "
      "%nctaid.y;\n"
      "mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1;\n"
      "mov.u32 %r7, %tid.y; mov.u32 %r8, %tid.z; mov.u32 %r9, %ntid.x; mov.u32 %r10, %ntid.y; mov.u32 %r11, %ntid.z;\n"
      "mad.lo.u32 %r12, %r8, %r10, %r7; mad.lo.u32 %r12, %r12, %r9, %t; mul.lo.u32 %r13, %r9, %r10; mul.lo.u32 %r13, "
      "%r13, %r11;\n"
      "mad.lo.u32 %r14, %r6, %r13, %r12; mov.u32 %r15, %laneid; mov.u32 %r16, %warpid; shl.b32 %r17, %r16, 8; or.b32 "
      "%r15, %r15, %r17;\n"
      "mov.u32 %r18, %lanemask_lt; popc.b32 %r18, %r18; shl.b32 %r18, %r18, 16; or.b32 %r15, %r15, %r18;\n"
      "mad.wide.u32 %d1, %r14, 4, %out; st.global.u32 [%d1], %r15;"));
  void *const out = machine.put(std::vector<uint32_t>(2 * 3 * 2 * 120));
  Launch launch;
  launch.grid[0] = 2, launch.grid[1] = 3, launch.grid[2] = 2;
  launch.block[0] = 5, launch.block[1] = 6, launch.block[2] = 4;
  machine.run({address(out), address(out)}, launch);
  REQUIRE(machine.error() == "");
  const std::vector<uint32_t> found = machine.get<uint32_t>(out, 1440);
  for (uint32_t k = 0; k < 1440; ++k)
    REQUIRE(found[k] == (k % 120 % 32 | k % 120 / 32 << 8 | k % 120 % 32 << 16));
}
