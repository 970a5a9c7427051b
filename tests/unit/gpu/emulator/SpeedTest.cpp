// How fast the emulator is: prints, and tests nothing. Not run unless asked for: nnterpEmulatorTests "[speed]".
#include "Harness.h"

#include <catch2/catch.hpp>
#include <cstdio>

using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

/// A loop of 1000 rounds around the body, in each of 256 threads; %t is the thread, %a its place in shared memory, %in
/// in global.
static std::string loopAround(const std::string &body) {
  return module(".shared .align 16 .b8 tile[8192];\n.visible .entry k(.param .u64 in) {\n.reg .b64 %in, %d<8>; .reg "
                ".b32 %t, %n, %a, %r<16>; .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .pred %p;\n"
                "ld.param.u64 %in, [in]; mov.u32 %t, %tid.x; mov.u32 %a, tile; mad.lo.u32 %a, %t, 16, %a; mad.wide.u32 "
                "%in, %t, 16, %in;\n"
                "st.shared.v4.b32 [%a], {%t, %t, %t, %t}; st.shared.v4.b32 [%a+4096], {%t, %t, %t, %t}; bar.sync 0; "
                "cvt.rn.f32.u32 %f1, %t; mov.f32 %f2, 0f3F000000; cvt.f64.f32 %g1, %f1;\n"
                "mov.f64 %g2, 0d3FE0000000000000; mov.u32 %r1, %t; mov.u32 %r2, 3; cvt.u64.u32 %d1, %t; mov.u32 %r5, "
                "%t; mov.u32 %r6, %t; mov.u32 %r7, %t; mov.u32 %r8, %t; mov.u32 %n, 0;\n"
                "mov.u32 %r14, tile; mad.lo.u32 %r14, %t, 4, %r14;\n"
                "LOOP:\n" +
                body + "\nadd.u32 %n, %n, 1; setp.lt.u32 %p, %n, 1000; @%p bra LOOP; ret; }\n");
}

TEST_CASE("speed of the emulator", "[.speed]") {
  const std::pair<const char *, const char *> bodies[] = {
      {"float32 fma", "fma.rn.f32 %f1, %f1, %f2, %f2;"},
      {"float64 fma", "fma.rn.f64 %g1, %g1, %g2, %g2;"},
      {"integers of 64 bits", "mad.lo.u64 %d1, %d1, %d1, %d1;"},
      {"division of 32 bits", "div.u32 %r1, %r5, %r2;"},
      {"shared loads, a row", "ld.shared.f32 %f3, [%r14];"},
      {"shared loads, 16 bytes apart", "ld.shared.f32 %f3, [%a];"},
      {"shared loads, one place", "ld.shared.f32 %f3, [tile];"},
      {"global loads of 16 bytes", "ld.global.v4.b32 {%r1, %r3, %r4, %r9}, [%in];"},
      {"shuffles", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;"},
      {"mma m16n8k16 bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r6, %r7, "
                            "%r8}, {%r5, %r6}, {%f1, %f2, %f1, %f2};"},
      {"ldmatrix x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r3, %r4, %r9}, [%a];"},
  };
  for (const auto &[name, body] : bodies) {
    std::string eight;
    for (int k = 0; k < 8; ++k)
      eight += std::string(body) + "\n";
    std::vector<EmulatorCounts> counts;
    EmulatorOptions options;
    options.counts = &counts;
    options.threads = 1;
    Machine machine(loopAround(eight), options);
    void *const in = machine.put(std::vector<uint32_t>(1024));
    // The best of some launches: others may be using the machine.
    double seconds = 1e9;
    const EmulatorCounts &count = counts[0];
    for (int repeat = 0; repeat < 15; ++repeat) {
      const double before = count.seconds;
      machine.run({address(in)}, 256);
      seconds = std::min(seconds, count.seconds - before);
    }
    REQUIRE(machine.error() == "");
    const double warps = double(count.warpInstructions) / 15, threads = double(count.laneInstructions) / 15;
    std::printf("%-28s %6.1f ns a warp instruction, %6.0f million instructions of a thread per second\n", name,
                seconds * 1e9 / warps, threads / seconds / 1e6);
  }
}
