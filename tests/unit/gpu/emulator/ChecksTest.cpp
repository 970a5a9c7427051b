// Kernels with planted errors: each is found, and the report says where.
#include "Harness.h"

#include <catch2/catch.hpp>

using namespace nnterp;
using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

/// A kernel on `in` and `out`, of which each thread has its own place of 4 bytes in %pin and %pout; lines begin at 10.
static std::string kernel(const std::string &body) {
  return module(".shared .align 16 .b8 tile[512];\n.visible .entry k(.param .u64 in, .param .u64 out) {\n"
                ".reg .b64 %in, %out, %pin, %pout, %d<8>; .reg .b32 %t, %r<16>, %a; .reg .pred %p<4>;\n"
                "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
                "mad.wide.u32 %pin, %t, 4, %in; mad.wide.u32 %pout, %t, 4, %out; mov.u32 %a, tile; mad.lo.u32 %a, %t, "
                "4, %a;\n\n" +
                body + "\nret;\n}\n");
}

static std::string failure(const std::string &body, uint32_t threads = 32, uint32_t blocks = 1,
                           EmulatorOptions options = {}) {
  options.threads = 1;
  Machine machine(kernel(body), options, {{"k", "layers[0].mlp: gate and up"}});
  REQUIRE(machine.error() == "");
  void *const in = machine.put(std::vector<uint32_t>(64, 5)), *const out = machine.put(std::vector<uint32_t>(64, 6));
  const bool good = machine.run({address(in), address(out)}, threads, blocks);
  CHECK(good == machine.error().empty());
  if (!good) { // the device is dead, and quiet about it
    const size_t count = machine.diags.all().size();
    uint32_t word = 0;
    CHECK(count == 1);
    CHECK(!machine.run({address(in), address(out)}, threads, blocks));
    CHECK(!machine.device->download(&word, in, 4, machine.diags));
    CHECK(!machine.device->wait(machine.diags));
    CHECK(machine.diags.all().size() == count);
  }
  return machine.error();
}

/// What every report begins and ends with.
static std::string report(const std::string &code, const std::string &message, const std::string &line,
                          const std::string &thread, const std::vector<std::string> &notes, int number = 10) {
  std::string text = "device code:" + std::to_string(number) + ": error " + code + ": kernel k: " + message +
                     "\n  note: " + line + "\n  note: " + thread + "\n";
  for (const std::string &note : notes)
    text += "  note: " + note + "\n";
  return text + "  note: the kernel is layers[0].mlp: gate and up\n";
}

static EmulatorOptions withRaces() {
  EmulatorOptions options;
  options.races = true;
  return options;
}

TEST_CASE("accesses out of bounds", "[emulator]") {
  CHECK(failure("ld.global.u32 %r1, [%pin+136];") ==
        report("NNT1710", "a read of 4 bytes is out of bounds", "ld.global.u32 %r1, [%pin+136];",
               "thread (30, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is 0 bytes behind the end of allocation 1 of parameter 0 (256 bytes)"}));
  CHECK(failure("st.global.u32 [%pout+-8], %t;") ==
        report("NNT1710", "a write of 4 bytes is out of bounds", "st.global.u32 [%pout+-8], %t;",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is 8 bytes before allocation 2 of parameter 1 (256 bytes)"}));
  CHECK(failure("mov.u64 %d1, 0; ld.u32 %r1, [%d1+16];") ==
        report("NNT1710", "a read of 4 bytes is out of bounds", "mov.u64 %d1, 0; ld.u32 %r1, [%d1+16];",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"global address 0x10 is nowhere near memory that this launch was given"}));
  CHECK(failure("st.shared.u32 [%a+504], %t;") ==
        report("NNT1710", "a write of 4 bytes is out of bounds", "st.shared.u32 [%a+504], %t;",
               "thread (2, 0, 0) of block (0, 0, 0)",
               {"shared address 0x300 is 0 bytes behind the end of tile (512 bytes)"}));
  CHECK(failure(".local .align 4 .b8 depot[8]; st.local.u32 [depot+8], 1;") ==
        report("NNT1710", "a write of 4 bytes is out of bounds",
               ".local .align 4 .b8 depot[8]; st.local.u32 [depot+8], 1;", "thread (0, 0, 0) of block (0, 0, 0)",
               {"local address 0x48 is 0 bytes behind the end of depot (8 bytes)"}));
  CHECK(failure("atom.global.add.u32 %r1, [%out+256], 1;") ==
        report("NNT1710", "an atomic operation of 4 bytes is out of bounds", "atom.global.add.u32 %r1, [%out+256], 1;",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is 0 bytes behind the end of allocation 2 of parameter 1 (256 bytes)"}));
  CHECK(failure("cp.async.ca.shared.global [%a], [%in+256], 4;") ==
        report("NNT1710", "a read of 4 bytes is out of bounds", "cp.async.ca.shared.global [%a], [%in+256], 4;",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is 0 bytes behind the end of allocation 1 of parameter 0 (256 bytes)"}));
  CHECK(failure(".const .b32 one = 1; mov.u64 %d1, one; st.u32 [%d1], 2;") ==
        report("NNT1710", "a write of 4 bytes is out of bounds",
               ".const .b32 one = 1; mov.u64 %d1, one; st.u32 [%d1], 2;", "thread (0, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is byte 0 of the variable one (4 bytes)"}));
}

TEST_CASE("memory that a launch was not given is out of bounds", "[emulator]") {
  // The address of one allocation arrives inside another.
  Machine machine(kernel("ld.global.u64 %d1, [%in]; ld.global.u32 %r1, [%d1];"));
  void *const secret = machine.put(std::vector<uint32_t>(4)), *const in =
                                                                  machine.put(std::vector<uint64_t>{address(secret)});
  machine.run({address(in), address(in)}, 1);
  CHECK(machine.error().find("NNT1710: kernel k: a read of 4 bytes is out of bounds") != std::string::npos);
}

TEST_CASE("released memory is out of bounds", "[emulator]") {
  Machine machine(kernel("ld.global.u32 %r1, [%in];"));
  void *const in = machine.put(std::vector<uint32_t>(4));
  machine.device->release(in);
  machine.run({address(in), 0}, 1);
  CHECK(machine.error().find("NNT1710") != std::string::npos);
}

TEST_CASE("misaligned accesses", "[emulator]") {
  CHECK(failure("ld.global.u32 %r1, [%pin+2];") ==
        report("NNT1711", "a read of 4 bytes is misaligned", "ld.global.u32 %r1, [%pin+2];",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is byte 2 of allocation 1 of parameter 0 (256 bytes)",
                "the address has to be a multiple of 4"}));
  CHECK(failure("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%pin];") ==
        report("NNT1711", "a read of 16 bytes is misaligned", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%pin];",
               "thread (1, 0, 0) of block (0, 0, 0)",
               {"global address 0x… is byte 4 of allocation 1 of parameter 0 (256 bytes)",
                "the address has to be a multiple of 16"}));
  CHECK(failure("st.shared.u64 [%a+4], %d1;\n").substr(0, 19) == "device code:10: err");
  CHECK(failure("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%a];")
            .find("NNT1711: kernel k: a read of 16 bytes is misaligned") != std::string::npos);
}

TEST_CASE("shared memory that nobody wrote", "[emulator]") {
  CHECK(failure("st.shared.u16 [%a], 1;\nld.shared.u32 %r1, [%a];") ==
        report("NNT1712", "shared memory is read that no thread of the block wrote", "ld.shared.u32 %r1, [%a];",
               "thread (0, 0, 0) of block (0, 0, 0)", {"shared address 0x102 is byte 2 of tile (512 bytes)"}, 11));
  CHECK(failure("setp.ne.u32 %p1, %t, 9; @%p1 st.shared.u32 [%a], 1; xor.b32 %r1, %a, 4;\nld.shared.u32 %r1, [%r1];") ==
        report("NNT1712", "shared memory is read that no thread of the block wrote", "ld.shared.u32 %r1, [%r1];",
               "thread (8, 0, 0) of block (0, 0, 0)", {"shared address 0x124 is byte 36 of tile (512 bytes)"}, 11));
  CHECK(failure("atom.shared.add.u32 %r1, [tile], 1;").find("NNT1712") != std::string::npos);
  // What one block wrote is not there for the next.
  CHECK(failure("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%a], 1;\nld.shared.u32 %r1, [%a];",
                32, 2) == report("NNT1712", "shared memory is read that no thread of the block wrote",
                                 "ld.shared.u32 %r1, [%a];", "thread (0, 0, 0) of block (1, 0, 0)",
                                 {"shared address 0x100 is byte 0 of tile (512 bytes)"}, 11));
}

TEST_CASE("a copy that was not waited for", "[emulator]") {
  CHECK(failure("st.shared.u32 [%a], 1; cp.async.ca.shared.global [%a], [%pin], 4; "
                "cp.async.commit_group;\nld.shared.u32 %r1, [%a];") ==
        report("NNT1722", "shared memory is read before the copy to it was waited for", "ld.shared.u32 %r1, [%a];",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"shared address 0x100 is byte 0 of tile (512 bytes)",
                "a cp.async to it is on its way; cp.async.wait_group or wait_all has to come first"},
               11));
}

TEST_CASE("registers that nobody wrote", "[emulator]") {
  CHECK(failure("add.u32 %r1, %r2, 1;") ==
        report("NNT1713", "the register %r2 is read and was not written", "add.u32 %r1, %r2, 1;",
               "thread (0, 0, 0) of block (0, 0, 0)",
               {"there is a path to this instruction on which nothing writes it, and the thread took that path"}));
  // Only the threads that did not pass by.
  const std::string some = "setp.eq.u32 %p1, %t, 7; @%p1 bra SKIP; mov.u32 %r2, 1;\nSKIP:\n";
  CHECK(failure(some + "add.u32 %r1, %r2, 1;") ==
        report("NNT1713", "the register %r2 is read and was not written", "add.u32 %r1, %r2, 1;",
               "thread (7, 0, 0) of block (0, 0, 0)",
               {"there is a path to this instruction on which nothing writes it, and the thread took that path"}, 12));
  // A copy is no use, nor is a choice against it; what is computed from the copy is.
  CHECK(failure(some + "mov.u32 %r3, %r2; selp.u32 %r4, 5, %r3, %p1; st.global.u32 [%pout], %r4;") == "");
  CHECK(failure(some + "mov.u32 %r3, %r2; selp.u32 %r4, %r3, 5, %p1;").find("thread (7, 0, 0)") != std::string::npos);
  CHECK(failure(some + "mov.u32 %r3, %r2;\nst.global.u32 [%pout], %r3;").find("register %r3") != std::string::npos);
  CHECK(failure(some + "@!%p1 add.u32 %r1, %r2, 1;") == "");
  CHECK(failure(some + "@!%p1 add.u32 %r1, %r2, 1; @!%p1 st.global.u32 [%pout], %r1;") == "");
  CHECK(failure("@%p2 add.u32 %r1, %t, 1;").find("register %p2") != std::string::npos);
  CHECK(failure("mov.b64 %d1, {%t, %r2}; cvt.u32.u64 %r3, %d1; st.global.u32 [%pout], %r3;") == "");
  // Written in a loop that runs at least once.
  CHECK(failure("mov.u32 %r1, 0;\nLOOP: mov.u32 %r2, %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %t; @%p1 bra "
                "LOOP;\nadd.u32 %r3, %r2, 1;") == "");
}

TEST_CASE("barriers that not all threads reach", "[emulator]") {
  CHECK(failure("setp.lt.u32 %p1, %t, 40; @%p1 bra SKIP;\nbar.sync 0;\nSKIP:", 64) ==
        report("NNT1714", "a barrier is reached by some threads of a warp only", "bar.sync 0;",
               "thread (40, 0, 0) of block (0, 0, 0)", {"thread (32, 0, 0) took another path"}, 11));
  CHECK(failure("setp.eq.u32 %p1, %t, 3; @%p1 exit;\nbar.sync 0;") ==
        report("NNT1714", "a barrier is reached by some threads of a warp only", "bar.sync 0;",
               "thread (0, 0, 0) of block (0, 0, 0)", {"thread (3, 0, 0) has ended"}, 11));
  CHECK(failure("setp.ge.u32 %p1, %t, 32; @%p1 bra SKIP;\nbar.sync 0;\nSKIP:", 64) ==
        report("NNT1714", "some warps wait at a barrier that others never reach", "bar.sync 0;",
               "warp 0 of block (0, 0, 0)", {"warp 0 waits at barrier 0, line 11: bar.sync 0;", "warp 1 has ended"},
               11));
  // Two barriers where one was meant.
  CHECK(failure("setp.ge.u32 %p1, %t, 32; @%p1 bra OTHER;\nbar.sync 1; bra ALL;\nOTHER: bar.sync 2;\nALL:", 64) ==
        report("NNT1714", "some warps wait at a barrier that others never reach", "bar.sync 1; bra ALL;",
               "warp 0 of block (0, 0, 0)",
               {"warp 0 waits at barrier 1, line 11: bar.sync 1; bra ALL;",
                "warp 1 waits at barrier 2, line 12: OTHER: bar.sync 2;"},
               11));
  CHECK(failure("setp.lt.u32 %p1, %t, 16;\n@%p1 bar.sync 0;").find("thread (16, 0, 0) took another path") !=
        std::string::npos);
  CHECK(failure("bar.sync 16;") == report("NNT1714", "there are 16 barriers", "bar.sync 16;",
                                          "thread (0, 0, 0) of block (0, 0, 0)", {"found barrier 16"}));
  CHECK(failure("bar.sync 0, 33;") == report("NNT1714", "a barrier is for a multiple of 32 threads", "bar.sync 0, 33;",
                                             "thread (0, 0, 0) of block (0, 0, 0)", {"found 33"}));
  CHECK(failure("shr.u32 %r1, %t, 5; mad.lo.u32 %r1, %r1, 32, 64;\nbar.sync 0, %r1;", 64) ==
        report("NNT1714", "threads at one barrier disagree on how many they are", "bar.sync 0, %r1;",
               "thread (32, 0, 0) of block (0, 0, 0)", {"found 96, and 64 before"}, 11));
}

TEST_CASE("instructions of the warp that only some of its threads reach", "[emulator]") {
  const std::string half = "setp.lt.u32 %p1, %t, 16; @%p1 bra SKIP;\n";
  CHECK(failure(half + "shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;\nSKIP:") ==
        report("NNT1715", "an instruction of the warp is reached by some of its threads only",
               "shfl.sync.bfly.b32 %r1, %t, 1, 31, -1;", "thread (16, 0, 0) of block (0, 0, 0)",
               {"thread (0, 0, 0) is named by the mask and took another path"}, 11));
  CHECK(failure(half + "vote.sync.ballot.b32 %r1, %p1, 0xff0000ff;\nSKIP:") ==
        report("NNT1715", "a thread executes an instruction of the warp whose mask leaves it out",
               "vote.sync.ballot.b32 %r1, %p1, 0xff0000ff;", "thread (16, 0, 0) of block (0, 0, 0)",
               {"the mask names other threads"}, 11));
  CHECK(failure(half + "shfl.sync.bfly.b32 %r1, %t, 16, 31, 0xffff0000;\nSKIP:") ==
        report("NNT1715", "a thread takes a value from one that does not take part",
               "shfl.sync.bfly.b32 %r1, %t, 16, 31, 0xffff0000;", "thread (16, 0, 0) of block (0, 0, 0)",
               {"it would come from lane 0"}, 11));
  CHECK(failure("shfl.sync.down.b32 %r1, %t, 8, 31, -1;", 24).find("it would come from lane 24") != std::string::npos);
  CHECK(failure(half + "bar.warp.sync -1;\nSKIP:").find("NNT1715") != std::string::npos);
  CHECK(failure("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%t,%t}, {%t}, {%t,%t,%t,%t};",
                16) ==
        report("NNT1715", "an instruction of the warp needs all of its 32 threads",
               "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r1,%r2,%r3,%r4}, {%t,%t}, {%t}, {%t,%t,%t,%t};",
               "thread (0, 0, 0) of block (0, 0, 0)", {"some do not exist or have ended"}));
}

TEST_CASE("races in shared memory", "[emulator]") {
  const std::string write = "st.shared.u32 [%a], %t;\n", readOther = "xor.b32 %r1, %a, 128; ld.shared.u32 %r2, [%r1];";
  // The other half of the block writes what is read; without a barrier it depends on luck, with one it does not.
  CHECK(failure(write + "bar.sync 0;\n" + readOther, 64, 1, withRaces()) == "");
  CHECK(
      failure("setp.ge.u32 %p1, %t, 32; @%p1 bra READ;\n" + write +
                  "bra ALL;\nREAD: sub.u32 %r1, %a, 128; ld.shared.u32 %r2, [%r1];\nALL:",
              64, 1, withRaces()) ==
      report("NNT1716", "shared memory: a read of 4 bytes races with that of another thread",
             "READ: sub.u32 %r1, %a, 128; ld.shared.u32 %r2, [%r1];", "thread (32, 0, 0) of block (0, 0, 0)",
             {"shared address 0x100 is byte 0 of tile (512 bytes)", "the other is thread (0, 0, 0) of block (0, 0, 0)",
              "its access is at line 11: st.shared.u32 [%a], %t;"},
             13));
  // A missing barrier between reading and the next writing.
  const std::string loop = write + "bar.sync 0;\n" + readOther + "\n";
  CHECK(failure(loop + "bar.sync 0;\n" + write, 64, 1, withRaces()) == "");
  CHECK(failure(loop + write, 64, 1, withRaces()).find("NNT1716: kernel k: shared memory: a read of 4 bytes races") !=
        std::string::npos);
  // Two threads write one place; atomics may.
  CHECK(failure("st.shared.u32 [tile], %t;", 2, 1, withRaces())
            .find("NNT1716: kernel k: shared memory: a write of 4 bytes races") != std::string::npos);
  CHECK(failure("setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [tile], 0; bar.sync 0; atom.shared.add.u32 %r1, [tile], 1; "
                "bar.sync 0; ld.shared.u32 %r1, [tile];",
                64, 1, withRaces()) == "");
  // Within a warp, bar.warp.sync orders.
  const std::string neighbour = "xor.b32 %r1, %a, 4; ld.shared.u32 %r2, [%r1];";
  CHECK(failure(write + "bar.warp.sync -1;\n" + neighbour, 32, 1, withRaces()) == "");
  CHECK(failure(write + neighbour, 32, 1, withRaces()).find("NNT1716") != std::string::npos);
  // Unasked for, nothing is said.
  CHECK(failure(write + neighbour) == "");
}

TEST_CASE("races in global memory", "[emulator]") {
  CHECK(failure("st.global.u32 [%pout], %t;", 32, 2, withRaces()) ==
        report("NNT1717", "global memory: a write of 4 bytes races with that of another thread",
               "st.global.u32 [%pout], %t;", "thread (0, 0, 0) of block (1, 0, 0)",
               {"global address 0x… is byte 0 of allocation 2 of parameter 1 (256 bytes)",
                "the other is thread (0, 0, 0) of block (0, 0, 0)",
                "its access is at line 10: st.global.u32 [%pout], %t;"}));
  CHECK(failure("st.global.u32 [%pout], %t; bar.sync 0; xor.b32 %r1, %t, 32; mad.wide.u32 %d1, %r1, 4, %out; "
                "ld.global.u32 %r2, [%d1];",
                64, 1, withRaces()) == "");
  CHECK(failure(
            "st.global.u32 [%pout], %t; xor.b32 %r1, %t, 32; mad.wide.u32 %d1, %r1, 4, %out; ld.global.u32 %r2, [%d1];",
            64, 1, withRaces())
            .find("NNT1717") != std::string::npos);
  CHECK(failure("red.global.add.u32 [%out], 1; ld.global.u32 %r1, [%pin];", 64, 3, withRaces()) == "");
  CHECK(failure("red.global.add.u32 [%out], 1; ld.global.u32 %r1, [%out];", 64, 1, withRaces())
            .find("NNT1717: kernel k: global memory: a read of 4 bytes races") != std::string::npos);
  // Bytes of one word are places of their own.
  CHECK(failure("add.u64 %d1, %out, %d2; st.global.u8 [%d1], 1;", 32, 1, withRaces()).find("NNT1713") !=
        std::string::npos);
  CHECK(failure("cvt.u64.u32 %d2, %t; add.u64 %d1, %out, %d2; st.global.u8 [%d1], 1;", 32, 1, withRaces()) == "");
  CHECK(failure("setp.eq.u32 %p1, %t, 0; @%p1 st.global.u32 [%out], 1; @!%p1 st.global.u8 [%out+3], 1;", 2, 1,
                withRaces())
            .find("NNT1717: kernel k: global memory: a write of 1 byte races") != std::string::npos);
  CHECK(failure("setp.eq.u32 %p1, %t, 0; @%p1 st.global.u8 [%out+3], 1; @!%p1 ld.global.u32 %r1, [%out];", 2, 1,
                withRaces())
            .find("is byte 3 of allocation 2") != std::string::npos);
  // Each launch begins anew.
  Machine machine(kernel("st.global.u32 [%pout], %t;"), withRaces());
  void *const out = machine.put(std::vector<uint32_t>(64));
  CHECK(machine.run({address(out), address(out)}));
  CHECK(machine.run({address(out), address(out)}));
}

TEST_CASE("global memory that nobody wrote", "[emulator]") {
  EmulatorOptions options;
  options.unwritten = true;
  Machine machine(kernel("ld.global.u32 %r1, [%pin];\nst.global.u32 [%pout], %r1;"), options);
  void *const in = machine.device->allocate(128), *const out = machine.device->allocate(128);
  std::vector<uint32_t> values(31, 7);
  machine.device->upload(in, values.data(), 124, machine.diags);
  CHECK(machine.run({address(in), address(out)}, 31));
  CHECK(machine.run({address(out), address(in)}, 31));
  CHECK(!machine.run({address(out), address(in)}, 32));
  CHECK(machine.error() == "device code:10: error NNT1723: kernel k: global memory is read that nobody wrote\n  note: "
                           "ld.global.u32 %r1, [%pin];\n"
                           "  note: thread (31, 0, 0) of block (0, 0, 0)\n  note: global address 0x… is byte 124 of "
                           "allocation 2 of parameter 0 (128 bytes)\n");
}

TEST_CASE("traps, endless loops, jumps to nowhere", "[emulator]") {
  CHECK(failure("setp.eq.u32 %p1, %t, 5;\n@%p1 trap;") ==
        report("NNT1718", "a trap was reached", "@%p1 trap;", "thread (5, 0, 0) of block (0, 0, 0)", {}, 11));
  EmulatorOptions options;
  options.maxInstructions = 3000000;
  CHECK(failure("LOOP: bra LOOP;", 32, 1, options) == report("NNT1724", "a warp does not come to an end",
                                                             "LOOP: bra LOOP;", "warp 0 of block (0, 0, 0)",
                                                             {"it has executed 3145728 instructions"}));
  CHECK(failure("T: .branchtargets A, B;\nbrx.idx %t, T;\nA: mov.u32 %r1, 1;\nB:") ==
        report("NNT1725", "a jump is outside its list of labels", "brx.idx %t, T;",
               "thread (2, 0, 0) of block (0, 0, 0)", {"the index is 2 of 2 labels"}, 11));
}

TEST_CASE("a failure in one block ends the launch on all threads", "[emulator]") {
  EmulatorOptions options;
  options.threads = 4;
  Machine machine(kernel("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 77; @%p1 trap; st.global.u32 [%pout], %t;"),
                  options);
  void *const out = machine.put(std::vector<uint32_t>(64));
  CHECK(!machine.run({address(out), address(out)}, 32, 100000));
  CHECK(machine.error().find("NNT1718") != std::string::npos);
  CHECK(machine.error().find("block (77, 0, 0)") != std::string::npos);
}
