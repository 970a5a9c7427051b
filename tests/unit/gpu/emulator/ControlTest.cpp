// Branches and barriers: what threads of a warp that part and meet compute, against the same program in C++.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

/// Runs a body that leaves its result in %r for each of `threads` threads (%t), and compares.
static void checkThreads(const std::string &body, const std::function<uint32_t(uint32_t)> &expected,
                         uint32_t threads = 64, const std::string &before = "") {
  const std::string text = module(before +
                                  "\n.visible .entry k(.param .u64 out) {\n.reg .b64 %out, %d<8>; .reg .b32 %t, %r, "
                                  "%n, %m, %s, %u<8>; .reg .pred %p<8>;\n"
                                  "ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n" +
                                  body + "\nmad.wide.u32 %out, %t, 4, %out; st.global.u32 [%out], %r;\nEND: ret;\n}\n");
  Machine machine(text);
  REQUIRE(machine.error() == "");
  void *const out = machine.put(std::vector<uint32_t>(threads, 0xffff));
  machine.run({address(out)}, threads);
  REQUIRE(machine.error() == "");
  const std::vector<uint32_t> found = machine.get<uint32_t>(out, threads);
  for (uint32_t t = 0; t < threads; ++t) {
    INFO("thread " << t);
    REQUIRE(found[t] == expected(t));
  }
}

TEST_CASE("two sides of a branch meet again", "[emulator]") {
  // Where they meet all lanes are active.
  checkThreads("and.b32 %n, %t, 1; setp.eq.u32 %p1, %n, 0; @%p1 bra EVEN; mov.u32 %m, 100; bra.uni MEET;\n"
               "EVEN: mov.u32 %m, 200;\nMEET: activemask.b32 %n; popc.b32 %n, %n; add.u32 %r, %n, %m;",
               [](uint32_t t) { return t % 2 ? 132 : 232; });
}

TEST_CASE("loops run as often as each thread wants", "[emulator]") {
  checkThreads("mov.u32 %r, 0; mov.u32 %n, 0;\nLOOP: setp.ge.u32 %p1, %n, %t; @%p1 bra DONE; add.u32 %n, %n, 1; "
               "mad.lo.u32 %r, %n, %n, %r; bra LOOP;\n"
               "DONE: activemask.b32 %m; setp.ne.u32 %p2, %m, -1; @%p2 mov.u32 %r, 0;",
               [](uint32_t t) { return t * (t + 1) * (2 * t + 1) / 6; });
}

TEST_CASE("loops within loops, with a way out of both", "[emulator]") {
  checkThreads("mov.u32 %r, 0; mov.u32 %n, 0;\n"
               "OUTER: mov.u32 %m, 0;\n"
               "INNER: add.u32 %r, %r, 1; mul.lo.u32 %s, %n, %m; setp.gt.u32 %p1, %s, %t; @%p1 bra OUT;\n"
               "add.u32 %m, %m, 1; setp.lt.u32 %p2, %m, %t; @%p2 bra INNER;\n"
               "add.u32 %n, %n, 1; setp.lt.u32 %p3, %n, 5; @%p3 bra OUTER;\n"
               "add.u32 %r, %r, 1000;\n"
               "OUT: activemask.b32 %u1; popc.b32 %u1, %u1; mad.lo.u32 %r, %u1, 100000, %r;",
               [](uint32_t t) {
                 uint32_t r = 0;
                 for (uint32_t n = 0; n < 5; ++n) {
                   uint32_t m = 0;
                   do {
                     ++r;
                     if (n * m > t)
                       return r + 3200000;
                     ++m;
                   } while (m < t);
                 }
                 return r + 1000 + 3200000;
               });
}

TEST_CASE("branches within branches", "[emulator]") {
  checkThreads("and.b32 %n, %t, 3; mov.u32 %r, 1; setp.lt.u32 %p1, %n, 2; @!%p1 bra HIGH; setp.eq.u32 %p2, %n, 0; @%p2 "
               "bra ZERO;\n"
               "add.u32 %r, %r, 10; bra LOW;\nZERO: add.u32 %r, %r, 20;\nLOW: activemask.b32 %m; popc.b32 %m, %m; "
               "mad.lo.u32 %r, %m, 1000, %r; bra ALL;\n"
               "HIGH: setp.eq.u32 %p3, %n, 3; @%p3 bra ALL; add.u32 %r, %r, 40;\nALL: activemask.b32 %m; popc.b32 %m, "
               "%m; mad.lo.u32 %r, %m, 100000, %r;",
               [](uint32_t t) {
                 const uint32_t values[] = {16021, 16011, 41, 1};
                 return 3200000 + values[t % 4];
               });
}

TEST_CASE("threads that end early leave the others alone", "[emulator]") {
  checkThreads(
      "mov.u32 %r, 7; setp.gt.u32 %p1, %t, 20; and.b32 %n, %t, 1; setp.eq.u32 %p2, %n, 0; @%p2 bra REST; @%p1 exit;\n"
      "REST: activemask.b32 %m; popc.b32 %r, %m;",
      [](uint32_t t) { return t > 20 && t % 2 ? 0xffff
                              : t < 32        ? 26
                                              : 16; });
  checkThreads("setp.gt.u32 %p1, %t, 9; mov.u32 %r, 1; @%p1 ret; mov.u32 %r, 2;",
               [](uint32_t t) { return t > 9 ? 0xffff : 2; });
}

TEST_CASE("jumps through a list of labels", "[emulator]") {
  checkThreads("and.b32 %n, %t, 3; T: .branchtargets A, B, C, B; brx.idx %n, T;\n"
               "A: mov.u32 %r, 10; bra ALL;\nB: mov.u32 %r, 20; bra ALL;\nC: mov.u32 %r, 30;\nALL: activemask.b32 %m; "
               "popc.b32 %m, %m; add.u32 %r, %r, %m;",
               [](uint32_t t) {
                 return std::vector<uint32_t>{42, 52, 62, 52}[t % 4];
               });
  checkThreads("mov.u32 %n, 1; T: .branchtargets A, B; brx.idx %n, T;\nA: mov.u32 %r, 10; bra ALL;\nB: mov.u32 %r, "
               "20;\nALL: add.u32 %r, %r, 1;",
               [](uint32_t) { return 21; });
}

TEST_CASE("guarded instructions change their lanes only", "[emulator]") {
  checkThreads("setp.lt.u32 %p1, %t, 10; mov.u32 %r, 1; @%p1 add.u32 %r, %r, 5; @!%p1 mul.lo.u32 %r, %t, 2;",
               [](uint32_t t) { return t < 10 ? 6 : 2 * t; });
  checkThreads("setp.lt.u32 %p1, %t, 10; setp.eq.u32 %p2, 1, 1; @%p1 setp.gt.u32 %p2, %t, 4; selp.u32 %r, 1, 0, %p2;",
               [](uint32_t t) { return t >= 10 || t > 4; });
  checkThreads("setp.lt.u32 %p1, %t, 10; mov.f32 %u1, 0f3F800001; mov.f32 %u2, 0f33800000; mov.u32 %r, 0; @%p1 "
               "add.rp.f32 %r, %u1, %u2;",
               [](uint32_t t) { return t < 10 ? 0x3f800002 : 0; });
}

TEST_CASE("scopes hide registers", "[emulator]") {
  checkThreads("mov.u32 %r, 1; { .reg .b32 %r; mov.u32 %r, 5; { .reg .b32 %q<2>; add.u32 %q1, %r, 1; mov.u32 %n, %q1; "
               "} } add.u32 %r, %r, %n;",
               [](uint32_t) { return 7; });
}

TEST_CASE("a barrier lets every warp see what the others wrote", "[emulator]") {
  checkThreads(
      "shl.b32 %n, %t, 2; mov.u32 %m, tile; add.u32 %n, %n, %m; st.shared.u32 [%n], %t; bar.sync 0; mov.u32 %s, "
      "%ntid.x; sub.u32 %s, %s, %t; sub.u32 %s, %s, 1;\n"
      "mad.lo.u32 %s, %s, 4, %m; ld.shared.u32 %r, [%s];",
      [](uint32_t t) { return 255 - t; }, 256, ".shared .b32 tile[256];");
  // Barriers in a loop that all threads run equally often.
  checkThreads(
      "mov.u32 %n, 0; mov.u32 %m, tile; mad.lo.u32 %s, %t, 4, %m; st.shared.u32 [%s], 1; barrier.sync.aligned 1;\n"
      "STEP: add.u32 %u1, %t, 1; and.b32 %u1, %u1, 127; mad.lo.u32 %u1, %u1, 4, %m; ld.shared.u32 %u2, [%u1]; "
      "barrier.cta.sync.aligned 1, 128;\n"
      "ld.shared.u32 %u3, [%s]; add.u32 %u3, %u3, %u2; st.shared.u32 [%s], %u3; bar.sync 1; add.u32 %n, %n, 1; "
      "setp.lt.u32 %p1, %n, 5; @%p1 bra STEP; ld.shared.u32 %r, [%s];",
      [](uint32_t) { return 32; }, 128, ".shared .b32 tile[128];");
}

TEST_CASE("barriers for some warps", "[emulator]") {
  // The first warp hands a value to the second through barrier 3, the third and fourth use barrier 4.
  checkThreads(
      "shr.u32 %n, %t, 5; setp.ge.u32 %p1, %n, 2; mov.u32 %m, tile; @%p1 bra LAST; setp.eq.u32 %p2, %n, 0; @%p2 bra "
      "FIRST;\n"
      "bar.sync 3, 64; ld.shared.u32 %r, [%m]; bra ALL;\nFIRST: st.shared.u32 [%m], 77; bar.arrive 3, 64; mov.u32 %r, "
      "1; bra ALL;\n"
      "LAST: bar.sync 4, 64; mov.u32 %r, 2;\nALL: bar.sync 0;",
      [](uint32_t t) { return t < 32   ? 1
                              : t < 64 ? 77
                                       : 2; }, 128, ".shared .b32 tile[1];");
}

TEST_CASE("barriers that count", "[emulator]") {
  checkThreads(
      "setp.lt.u32 %p1, %t, 40; bar.red.popc.u32 %r, 0, %p1; bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, "
      "!%p1;\n"
      "selp.u32 %n, 1000, 0, %p2; selp.u32 %m, 2000, 0, %p3; add.u32 %r, %r, %n; add.u32 %r, %r, %m;",
      [](uint32_t) { return 2040; }, 96);
}

TEST_CASE("fences, prefetches and clocks do no harm", "[emulator]") {
  checkThreads(
      "membar.gl; fence.acq_rel.gpu; fence.sc.sys; bar.warp.sync -1; prefetch.global.L2 [%out]; .pragma "
      "\"nounroll\";\n.loc 1 5 3, function_name $L__info, inlined_at 1 2 3\n"
      "mov.u32 %n, %clock; mov.u64 %d1, %clock64; mov.u32 %m, %clock; setp.gt.u32 %p1, %m, %n; selp.u32 %r, 1, 0, %p1;",
      [](uint32_t) { return 1; });
}
