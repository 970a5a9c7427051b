// ldmatrix and mma.sync: the product of two matrices through fragments, against the sum in the same order; a wrong
// layout is seen.
#include "Harness.h"
#include "Reference.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace nnterp;
using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

/// One warp, 16 x 8 results of depth K: fragments are loaded from A (rows) and B (columns) where the manual says.
/// `swapped` exchanges two registers of A's fragment: the upper right quarter for the lower left one.
static std::string product(const std::string &type, int depth, bool swapped) {
  const bool deep = depth == 16;
  const std::string pitch = std::to_string(2 * depth), eight = std::to_string(16 * depth);
  std::string text = ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {\n"
                     ".reg .b64 %a, %b, %c, %d; .reg .b32 %t, %g, %q, %x<4>, %y<2>; .reg .f32 %s<4>;\n"
                     "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; ld.param.u64 %c, [c]; ld.param.u64 %d, [d];\n"
                     "mov.u32 %t, %tid.x; shr.u32 %g, %t, 2; and.b32 %q, %t, 3;\n"
                     "mad.wide.u32 %a, %g, " +
                     pitch + ", %a; mad.wide.u32 %a, %q, 4, %a; mad.wide.u32 %b, %g, " + pitch +
                     ", %b; mad.wide.u32 %b, %q, 4, %b;\n"
                     "mad.wide.u32 %c, %g, 32, %c; mad.wide.u32 %c, %q, 8, %c; mad.wide.u32 %d, %g, 32, %d; "
                     "mad.wide.u32 %d, %q, 8, %d;\n"
                     "ld.global.b32 %x0, [%a]; ld.global.b32 %x1, [%a+" +
                     eight + "];\n";
  if (deep)
    text += "ld.global.b32 %x2, [%a+16]; ld.global.b32 %x3, [%a+" + std::to_string(16 * depth + 16) + "];\n";
  text += "ld.global.b32 %y0, [%b];" + std::string(deep ? "ld.global.b32 %y1, [%b+16];\n" : "\n");
  text += "ld.global.v2.f32 {%s0, %s1}, [%c]; ld.global.v2.f32 {%s2, %s3}, [%c+256];\n";
  const std::string a = deep      ? (swapped ? "{%x0, %x2, %x1, %x3}" : "{%x0, %x1, %x2, %x3}")
                        : swapped ? "{%x1, %x0}"
                                  : "{%x0, %x1}";
  text += "mma.sync.aligned.m16n8k" + std::to_string(depth) + ".row.col.f32." + type + "." + type +
          ".f32 {%s0, %s1, %s2, %s3}, " + a + ", " + (deep ? "{%y0, %y1}" : "{%y0}") + ", {%s0, %s1, %s2, %s3};\n";
  return module(text + "st.global.v2.f32 [%d], {%s0, %s1}; st.global.v2.f32 [%d+256], {%s2, %s3}; ret; }\n");
}

static bool productIsRight(const std::string &type, int depth, bool swapped) {
  std::mt19937 random(7);
  const Format f = format(type);
  std::vector<uint16_t> a(size_t(16 * depth)), b(size_t(8 * depth));
  std::vector<float> c(128);
  for (auto *values : {&a, &b})
    for (uint16_t &value : *values)
      value = uint16_t(encode(Exact(std::ldexp(double(int(random() % 4001)) - 2000, -9 - int(random() % 6))), f));
  for (float &value : c)
    value = float(int(random() % 2001) - 1000) / 64;
  Machine machine(product(type, depth, swapped));
  void *const da = machine.put(a), *const db = machine.put(b), *const dc = machine.put(c),
              *const dd = machine.put(std::vector<float>(128));
  machine.run({address(da), address(db), address(dc), address(dd)});
  REQUIRE(machine.error() == "");
  const std::vector<float> found = machine.get<float>(dd, 128);
  bool right = true;
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 8; ++n) {
      uint64_t sumBits = bits(c[size_t(8 * m + n)]);
      for (int k = 0; k < depth; ++k)
        sumBits = encode(sum(decode(a[size_t(m * depth + k)], f) * decode(b[size_t(n * depth + k)], f),
                             decode(sumBits, format("f32")), Rounding::nearest),
                         format("f32"));
      right &= sumBits == bits(found[size_t(8 * m + n)]);
    }
  return right;
}

TEST_CASE("products of small matrices, term by term", "[emulator]") {
  for (const std::string type : {"bf16", "f16"})
    for (int depth : {16, 8}) {
      INFO(type << ", depth " << depth);
      CHECK(productIsRight(type, depth, false));
      CHECK(!productIsRight(type, depth, true));
    }
}

/// Each lane stores the fragments that it got of `count` matrices in shared memory; the lanes below 8·count give the
/// addresses of rows.
static std::vector<uint32_t> fragments(int count, bool transposed, bool generic) {
  std::string registers;
  for (int k = 0; k < count; ++k)
    registers += (k ? ", %x" : "%x") + std::to_string(k);
  std::string text = ".shared .align 16 .b16 tile[256];\n.visible .entry k(.param .u64 out) {\n.reg .b64 %out, %d; "
                     ".reg .b32 %t, %a, %m, %x<4>; .reg .b16 %h; .reg .pred %p;\n"
                     "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x; mov.u32 %m, tile; mad.lo.u32 %a, %t, 16, %m;\n";
  for (int k = 0; k < 8; ++k)
    text += "mad.lo.u32 %x0, %t, 8, " + std::to_string(k) + "; cvt.u16.u32 %h, %x0; st.shared.u16 [%a+" +
            std::to_string(2 * k) + "], %h;\n";
  text += "bar.sync 0; setp.ge.u32 %p, %t, " + std::to_string(8 * count) +
          "; @%p mov.u32 %a, 1;\n"; // addresses of other lanes are not looked at
  if (generic)
    text += "cvt.u64.u32 %d, %a; cvta.shared.u64 %d, %d;\n";
  text += "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") +
          (generic ? ".b16 {" : ".shared.b16 {") + registers + "}, [" + (generic ? "%d" : "%a") + "];\n";
  for (int k = 0; k < count; ++k)
    text += "mad.lo.u32 %a, %t, " + std::to_string(count) + ", " + std::to_string(k) +
            "; mad.wide.u32 %d, %a, 4, %out; st.global.u32 [%d], %x" + std::to_string(k) + ";\n";
  Machine machine(module(text + "ret; }\n"));
  void *const out = machine.put(std::vector<uint32_t>(size_t(32 * count)));
  machine.run({address(out)});
  REQUIRE(machine.error() == "");
  return machine.get<uint32_t>(out, size_t(32 * count));
}

TEST_CASE("matrices are loaded from shared memory", "[emulator]") {
  for (int count : {1, 2, 4})
    for (bool transposed : {false, true})
      for (bool generic : {false, true}) {
        const std::vector<uint32_t> found = fragments(count, transposed, generic);
        for (int l = 0; l < 32; ++l)
          for (int m = 0; m < count; ++m) {
            // Entry (r, c) of matrix m holds 64 m + 8 r + c.
            const auto entry = [=](int r, int c) {
              return uint32_t(transposed ? 64 * m + 8 * c + r : 64 * m + 8 * r + c);
            };
            CHECK(found[size_t(l * count + m)] == (entry(l / 4, 2 * (l % 4)) | entry(l / 4, 2 * (l % 4) + 1) << 16));
          }
      }
}
