// The emulator as a device: memory, copies, launches, launches that are recorded, counts.
#include "Harness.h"

#include <catch2/catch.hpp>
#include <set>
#include <thread>

using namespace nnterp;
using namespace nnterp::gpu;
using namespace nnterp::gpu::test;

/// out[i] = in[i] + add, for i below n.
static const std::string addKernel =
    module(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 n, .param .u64 add) {\n"
           ".reg .b64 %in, %out, %n, %i, %x, %add; .reg .b32 %t, %c, %s; .reg .pred %p;\n"
           "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %n, [n]; ld.param.u64 %add, [add];\n"
           "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %s, %ntid.x; mad.wide.u32 %i, %c, %s, 0; cvt.u64.u32 %x, "
           "%t; add.u64 %i, %i, %x;\n"
           "setp.ge.u64 %p, %i, %n; @%p bra END; shl.b64 %i, %i, 3; add.u64 %in, %in, %i; add.u64 %out, %out, %i;\n"
           "ld.global.u64 %x, [%in]; add.u64 %x, %x, %add; st.global.u64 [%out], %x;\nEND: ret; }\n"
           ".visible .entry few() .maxntid 64, 1, 1 .minnctapersm 2 { ret; }\n.visible .entry exact() .reqntid 32, 2 { "
           "ret; }\n"
           ".shared .b8 half[100000];\n.visible .entry big() { .reg .b32 %a; mov.b32 %a, half; ret; }\n");

static std::vector<KernelSpec> kernels() { return {{"k", ""}, {"few", ""}, {"exact", ""}, {"big", ""}}; }

TEST_CASE("a launch does its work when it is handed in", "[emulator]") {
  for (int threads : {1, 2, 5}) {
    EmulatorOptions options;
    options.threads = threads;
    Machine machine(addKernel, options, kernels());
    CHECK(machine.device->description() ==
          "emulator, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
    std::vector<uint64_t> in(10000);
    for (size_t k = 0; k < in.size(); ++k)
      in[k] = k * k;
    void *const from = machine.put(in), *const to = machine.device->allocate(80000);
    for (int repeat = 0; repeat < 20; ++repeat)
      REQUIRE(machine.run({address(from), address(to), 10000, uint64_t(repeat)}, 96, 105));
    const std::vector<uint64_t> out = machine.get<uint64_t>(to, 10000);
    for (size_t k = 0; k < in.size(); ++k)
      REQUIRE(out[k] == in[k] + 19);
    CHECK(machine.device->wait(machine.diags));
    CHECK(machine.error() == "");
  }
  EmulatorOptions all;
  CHECK(makeEmulator(all)->description() == "emulator, " +
                                                std::to_string(std::max(1u, std::thread::hardware_concurrency())) +
                                                (std::thread::hardware_concurrency() > 1 ? " threads" : " thread"));
}

TEST_CASE("memory is aligned, apart, and of exact size", "[emulator]") {
  Machine machine(addKernel, {}, kernels());
  std::set<uint64_t> starts;
  for (uint64_t bytes : {0, 1, 255, 256, 257, 100000}) {
    void *memory = machine.device->allocate(bytes);
    REQUIRE(memory);
    CHECK(address(memory) % 256 == 0);
    CHECK(starts.insert(address(memory)).second);
  }
  CHECK(machine.device->allocate(~uint64_t(0)) == nullptr);
  machine.device->release(nullptr); // nobody's
  CHECK(machine.error() == "");
}

TEST_CASE("copies between host and device", "[emulator]") {
  Machine machine(addKernel, {}, kernels());
  void *const a = machine.put(std::vector<uint32_t>{1, 2, 3, 4}), *const b = machine.device->allocate(16);
  char *const inside = static_cast<char *>(b) + 4;
  CHECK(machine.device->copy(b, a, 16, machine.diags));
  CHECK(machine.device->copy(inside, b, 12, machine.diags)); // overlapping
  CHECK(machine.device->upload(b, nullptr, 0, machine.diags));
  CHECK(machine.get<uint32_t>(b, 4) == std::vector<uint32_t>{1, 1, 2, 3});
  CHECK(machine.error() == "");
}

TEST_CASE("copies that leave an allocation", "[emulator]") {
  uint64_t word = 0;
  const auto failure = [&](const std::function<void(Machine &, char *)> &action) {
    Machine machine(addKernel, {}, kernels());
    action(machine, static_cast<char *>(machine.put(std::vector<uint8_t>(16))));
    return machine.error();
  };
  CHECK(failure([&](Machine &m, char *at) { m.device->upload(at + 12, &word, 8, m.diags); }) ==
        "error NNT1720: an upload of 8 bytes leaves an allocation: 4 bytes are left there\n");
  CHECK(failure([&](Machine &m, char *at) { m.device->download(&word, at - 8, 8, m.diags); }) ==
        "error NNT1720: a download of 8 bytes is of memory that was not allocated\n");
  CHECK(failure([&](Machine &m, char *at) { m.device->copy(&word, at, 8, m.diags); }) ==
        "error NNT1720: a copy of 8 bytes is of memory that was not allocated\n");
}

TEST_CASE("launches that no device could do", "[emulator]") {
  const auto failure = [](int64_t kernel, const std::vector<uint32_t> &grid, const std::vector<uint32_t> &block,
                          uint32_t shared = 0) {
    Machine machine(addKernel, {}, kernels());
    Launch launch;
    launch.kernel = kernel;
    launch.dynamicShared = shared;
    std::copy(grid.begin(), grid.end(), launch.grid);
    std::copy(block.begin(), block.end(), launch.block);
    CHECK(!machine.run({0, 0, 0, 0}, launch));
    return machine.error();
  };
  CHECK(failure(4, {1, 1, 1}, {1, 1, 1}) == "error NNT1719: kernel number 4 is launched, of 4\n");
  CHECK(failure(0, {0, 1, 1}, {1, 1, 1}) == "error NNT1719: kernel k is launched with a grid of (0, 1, 1) blocks; each "
                                            "extent is 1 to (2147483647, 65535, 65535)\n");
  CHECK(failure(0, {1, 70000, 1}, {1, 1, 1}) == "error NNT1719: kernel k is launched with a grid of (1, 70000, 1) "
                                                "blocks; each extent is 1 to (2147483647, 65535, 65535)\n");
  CHECK(
      failure(0, {1, 1, 1}, {1, 1, 65}) ==
      "error NNT1719: kernel k is launched with blocks of (1, 1, 65) threads; each extent is 1 to (1024, 1024, 64)\n");
  CHECK(failure(0, {1, 1, 1}, {64, 32, 1}) ==
        "error NNT1719: kernel k is launched with blocks of 2048 threads; a block has at most 1024\n");
  CHECK(failure(1, {1, 1, 1}, {65, 1, 1}) ==
        "error NNT1719: kernel few is launched with blocks of 65 threads; .maxntid allows 64\n");
  CHECK(failure(2, {1, 1, 1}, {64, 1, 1}) ==
        "error NNT1719: kernel exact is launched with blocks of (64, 1, 1) threads; .reqntid wants (32, 2, 1)\n");
  CHECK(failure(3, {1, 1, 1}, {1, 1, 1}, 70000) ==
        "error NNT1719: kernel big is launched with 170000 bytes of shared memory; a block has at most 166912\n");
}

TEST_CASE("launches are recorded with their parameters and repeated", "[emulator]") {
  Machine machine(addKernel, {}, kernels());
  Device &device = *machine.device;
  void *const a = machine.put(std::vector<uint64_t>{1, 2, 3}), *const b = machine.put(std::vector<uint64_t>(3)),
              *const c = machine.put(std::vector<uint64_t>(3));
  REQUIRE(device.beginCapture(machine.diags));
  CHECK(machine.run({address(a), address(b), 3, 10}));
  CHECK(machine.run({address(b), address(c), 3, 100}));
  const int64_t first = device.endCapture(machine.diags);
  CHECK(machine.get<uint64_t>(c, 3) == std::vector<uint64_t>{0, 0, 0}); // nothing was done
  REQUIRE(device.beginCapture(machine.diags));
  CHECK(machine.run({address(c), address(a), 3, 0}));
  const int64_t second = device.endCapture(machine.diags);
  CHECK(first >= 0);
  CHECK(second != first);
  for (int repeat = 0; repeat < 2; ++repeat) {
    CHECK(device.replay(first, machine.diags));
    CHECK(device.replay(second, machine.diags));
  }
  CHECK(machine.get<uint64_t>(a, 3) == std::vector<uint64_t>{221, 222, 223});
  device.forget(first);
  CHECK(machine.error() == "");
  CHECK(!device.replay(first, machine.diags));
  CHECK(machine.error() == "error NNT1721: recorded launches number 0 are replayed, which are not there\n");
}

TEST_CASE("what cannot be recorded", "[emulator]") {
  const auto failure = [](const std::function<void(Machine &)> &action, bool begin = true) {
    Machine machine(addKernel, {}, kernels());
    if (begin)
      REQUIRE(machine.device->beginCapture(machine.diags));
    action(machine);
    return machine.error();
  };
  uint64_t word = 0;
  const std::string tail = " while launches are recorded, which cannot be repeated\n";
  CHECK(failure([&](Machine &m) { m.device->upload(&word, &word, 8, m.diags); }) == "error NNT1721: an upload" + tail);
  CHECK(failure([&](Machine &m) { m.device->download(&word, &word, 8, m.diags); }) ==
        "error NNT1721: a download" + tail);
  CHECK(failure([&](Machine &m) { m.device->copy(&word, &word, 8, m.diags); }) == "error NNT1721: a copy" + tail);
  CHECK(failure([&](Machine &m) { m.device->wait(m.diags); }) == "error NNT1721: a wait" + tail);
  CHECK(failure([&](Machine &m) { m.device->replay(0, m.diags); }) == "error NNT1721: a replay" + tail);
  CHECK(failure([&](Machine &m) { m.device->allocate(8), m.device->endCapture(m.diags); }) ==
        "error NNT1721: an allocation" + tail);
  CHECK(failure([&](Machine &m) { m.device->beginCapture(m.diags); }) ==
        "error NNT1721: recording of launches begins while it is under way\n");
  CHECK(failure([&](Machine &m) { CHECK(m.device->endCapture(m.diags) == -1); }, false) ==
        "error NNT1721: recording of launches ends and was not begun\n");
}

TEST_CASE("instructions are counted by kernel, thread by thread", "[emulator]") {
  std::vector<EmulatorCounts> counts;
  EmulatorOptions options;
  options.counts = &counts;
  options.threads = 2;
  Machine machine(module(".visible .entry a() { .reg .b32 %t, %n; .reg .pred %p; mov.u32 %t, %tid.x; setp.lt.u32 %p, "
                         "%t, 8; @%p bra L; add.u32 %n, %t, 1; add.u32 %n, %n, 1;\nL: ret; }\n"
                         ".visible .entry b() { ret; }\n"),
                  options, {{"b", ""}, {"a", ""}});
  REQUIRE(machine.error() == "");
  CHECK(machine.run({}, 32, 10, 0, 1));
  CHECK(machine.run({}, 20, 1, 0, 1));
  REQUIRE(counts.size() == 2);
  CHECK(counts[0].launches == 0);
  CHECK(counts[1].launches == 2);
  CHECK(counts[1].blocks == 11);
  CHECK(counts[1].warpInstructions == 11 * 6);
  CHECK(counts[1].laneInstructions == 10 * (4 * 32 + 2 * 24) + 4 * 20 + 2 * 12);
  CHECK(counts[1].seconds > 0);
}
