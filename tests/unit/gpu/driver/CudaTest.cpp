// Tests of the way to the CUDA driver, on a driver that the build makes: in which order it is called, what becomes of
// its errors, and that everything is given back.
#include "FakeCuda.h"
#include "runtime/gpu/driver/Cuda.h"
#include "runtime/gpu/driver/Staging.h"

#include <catch2/catch.hpp>
#include <dlfcn.h>

using namespace nnterp;
using namespace nnterp::gpu;
using nnterp::test::FakeCuda;

namespace {

std::string text(const Diagnostics &diags) {
  std::string all;
  for (const Diagnostic &diagnostic : diags.all())
    all += format(diagnostic);
  return all;
}

/// The driver of the tests, as new.
FakeCuda &driver() {
  void *library = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  auto *fake = static_cast<FakeCuda *>(dlsym(library, "fakeCuda"));
  REQUIRE(fake);
  *fake = FakeCuda();
  return *fake;
}

struct Gpu {
  FakeCuda &fake = driver();
  Diagnostics diags;
  std::unique_ptr<Device> device = openCuda({1, FAKE_CUDA}, diags);
  std::vector<KernelSpec> kernels = {{"linear_1", "hybrid.linear at plan.json:3:5"}, {"softmax_2", ""}};

  bool load() { return device->load("the text", kernels, diags); }
  bool start(int64_t kernel, int64_t value, uint32_t shared = 0) {
    const void *parameters[] = {&value};
    Launch launch;
    launch.kernel = kernel;
    launch.grid[1] = 7;
    launch.block[0] = 128;
    launch.dynamicShared = shared;
    launch.parameters = parameters;
    return device->launch(launch, diags);
  }
  std::vector<std::string> takeLog() {
    std::vector<std::string> log;
    log.swap(fake.log);
    return log;
  }
};

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("a GPU opens, says what it is, and is given back", "[cuda]") {
  FakeCuda &fake = driver();
  {
    Gpu gpu;
    INFO(text(gpu.diags));
    REQUIRE(gpu.device);
    CHECK(gpu.device->description() == "Fake GPU, driver 13.0");
    CHECK_FALSE(gpu.device->checksAccesses());
    CHECK(gpu.takeLog() == Lines{"retain 101", "pool attribute 4 = 18446744073709551615"});
    REQUIRE(gpu.load());
    void *memory = gpu.device->allocate(100);
    CHECK(gpu.device->upload(memory, "abc", 3, gpu.diags));
    REQUIRE(gpu.device->beginCapture(gpu.diags));
    CHECK(gpu.start(0, 1));
    CHECK(gpu.device->endCapture(gpu.diags) == 0);
    gpu.device->release(memory);
  }
  CHECK(fake.contexts == 0);
  CHECK(fake.streams == 0);
  CHECK(fake.events == 0);
  CHECK(fake.modules == 0);
  CHECK(fake.graphs == 0);
  CHECK(fake.pinned == 0);
  CHECK(fake.used == 0);
}

TEST_CASE("work is done in order, and what is uploaded may change at once", "[cuda]") {
  Gpu gpu;
  REQUIRE(gpu.load());
  gpu.takeLog();
  auto *memory = static_cast<char *>(gpu.device->allocate(64));
  auto *other = static_cast<char *>(gpu.device->allocate(64));
  std::string words = "first";
  REQUIRE(gpu.device->upload(memory, words.data(), 5, gpu.diags));
  words = "again";
  REQUIRE(gpu.device->upload(memory + 5, words.data(), 5, gpu.diags));
  words = "wrong";
  REQUIRE(gpu.start(0, 41));
  REQUIRE(gpu.device->copy(other + 1, memory, 10, gpu.diags));
  REQUIRE(gpu.start(1, 42));
  CHECK(gpu.takeLog().empty()); // nothing was done so far
  char back[10];
  REQUIRE(gpu.device->download(back, other + 1, 10, gpu.diags));
  CHECK(std::string(back, 10) == "firstagain");
  CHECK(gpu.takeLog() == Lines{"linear_1 <<<1,7,1 128,1,1 0>>> 41", "softmax_2 <<<1,7,1 128,1,1 0>>> 42"});
  gpu.device->release(memory);
  gpu.device->release(other);
  CHECK(gpu.fake.used == 128);
  REQUIRE(gpu.device->wait(gpu.diags));
  CHECK(gpu.fake.used == 0);
}

TEST_CASE("large copies go through both halves of pinned memory", "[cuda]") {
  Gpu gpu;
  for (uint64_t bytes :
       {Staging::halfBytes - 1, Staging::halfBytes, 2 * Staging::halfBytes + 5, 5 * Staging::halfBytes}) {
    std::vector<unsigned char> data(bytes), back(bytes);
    for (uint64_t i = 0; i < bytes; ++i)
      data[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    const std::vector<unsigned char> kept = data;
    void *memory = gpu.device->allocate(bytes);
    REQUIRE(gpu.device->upload(memory, data.data(), bytes, gpu.diags));
    std::fill(data.begin(), data.end(), static_cast<unsigned char>(0));
    REQUIRE(
        gpu.device->upload(static_cast<char *>(memory) + 3, kept.data() + 3, 1, gpu.diags)); // a small one behind it
    REQUIRE(gpu.device->download(back.data(), memory, bytes, gpu.diags));
    CHECK(back == kept);
    gpu.device->release(memory);
  }
  CHECK(gpu.fake.pinned == 4 * Staging::halfBytes);
}

TEST_CASE("small uploads stand side by side and wait for nothing", "[cuda]") {
  Gpu gpu;
  auto *memory = static_cast<char *>(gpu.device->allocate(100 * 8));
  for (int64_t i = 0; i < 100; ++i)
    REQUIRE(gpu.device->upload(memory + 8 * i, &i, 8, gpu.diags));
  CHECK(gpu.fake.waits == 0);
  std::vector<int64_t> back(100);
  REQUIRE(gpu.device->download(back.data(), memory, 800, gpu.diags));
  for (int64_t i = 0; i < 100; ++i)
    CHECK(back[size_t(i)] == i);
  gpu.device->release(memory);
}

TEST_CASE("launches are recorded and replayed", "[cuda]") {
  Gpu gpu;
  REQUIRE(gpu.load());
  gpu.takeLog();
  REQUIRE(gpu.device->beginCapture(gpu.diags));
  REQUIRE(gpu.start(0, 1));
  REQUIRE(gpu.start(1, 2));
  const int64_t recorded = gpu.device->endCapture(gpu.diags);
  REQUIRE(recorded >= 0);
  REQUIRE(gpu.device->wait(gpu.diags));
  CHECK(gpu.takeLog().empty());
  for (int time = 0; time < 2; ++time)
    REQUIRE(gpu.device->replay(recorded, gpu.diags));
  REQUIRE(gpu.device->wait(gpu.diags));
  const Lines once = {"graph: linear_1 <<<1,7,1 128,1,1 0>>> 1", "graph: softmax_2 <<<1,7,1 128,1,1 0>>> 2"};
  Lines twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  CHECK(gpu.takeLog() == twice);
  CHECK(gpu.fake.graphs == 1); // the driver's own form; what it was made from is gone
  gpu.device->forget(recorded);
  CHECK(gpu.fake.graphs == 0);
  CHECK_FALSE(gpu.device->replay(recorded, gpu.diags));
}

TEST_CASE("a kernel with much shared memory says so once", "[cuda]") {
  Gpu gpu;
  REQUIRE(gpu.load());
  gpu.takeLog();
  REQUIRE(gpu.start(0, 1, 48 << 10));
  REQUIRE(gpu.start(0, 1, 100000));
  REQUIRE(gpu.start(0, 1, 90000));
  REQUIRE(gpu.start(0, 1, 120000));
  REQUIRE(gpu.start(1, 1, 90000));
  CHECK(gpu.takeLog() == Lines{"attribute 8 of linear_1 = 100000", "attribute 8 of linear_1 = 120000",
                               "attribute 8 of softmax_2 = 90000"});
}

TEST_CASE("a program that is loaded takes the place of the one before", "[cuda]") {
  Gpu gpu;
  REQUIRE(gpu.load());
  REQUIRE(gpu.device->beginCapture(gpu.diags));
  REQUIRE(gpu.device->endCapture(gpu.diags) == 0);
  gpu.takeLog();
  REQUIRE(gpu.device->load("another text", {{"other_3", ""}}, gpu.diags));
  CHECK(gpu.takeLog() == Lines{"unload", "load another text"});
  CHECK(gpu.fake.graphs == 0);
  REQUIRE(gpu.start(0, 5));
  REQUIRE(gpu.device->wait(gpu.diags));
  CHECK(gpu.takeLog() == Lines{"other_3 <<<1,7,1 128,1,1 0>>> 5"});
}

TEST_CASE("memory comes from the pool where there is one", "[cuda]") {
  Gpu gpu;
  gpu.fake.room = 1000;
  void *first = gpu.device->allocate(600);
  REQUIRE(first);
  CHECK(gpu.device->allocate(600) == nullptr);
  gpu.device->release(first);
  void *second = gpu.device->allocate(700); // the pool still holds the first: it is emptied, and asked again
  CHECK(second);
  gpu.device->release(second);
  CHECK(gpu.device->allocate(0) != nullptr);

  FakeCuda &plain = driver();
  plain.pools = 0;
  Diagnostics diags;
  std::unique_ptr<Device> device = openCuda({0, FAKE_CUDA}, diags);
  REQUIRE(device);
  plain.failing = "cuMemAllocAsync"; // which such a device does not have
  plain.result = 801;
  void *memory = device->allocate(10);
  REQUIRE(memory);
  device->release(memory);
  CHECK(plain.used == 0);
  CHECK(plain.pooled == 0);
}

TEST_CASE("NNT1740: no CUDA driver", "[cuda]") {
  Diagnostics none;
  CHECK_FALSE(openCuda({0, "/nowhere/libcuda.so.1"}, none));
  CHECK(text(none) ==
        "error NNT1740: no CUDA driver on this machine: /nowhere/libcuda.so.1: cannot open shared object file: No "
        "such file or directory; --target=emulator runs the same program without a GPU\n");
  Diagnostics old;
  CHECK_FALSE(openCuda({0, FAKE_OLD_CUDA}, old));
  CHECK(text(old).find("error NNT1740: no CUDA driver on this machine: " FAKE_OLD_CUDA
                       " is too old, it has no cuDriverGetVersion, ") == 0);
  CHECK(text(old).find("; expected CUDA 11.4 or newer; --target=emulator runs the same program without a GPU\n") !=
        std::string::npos);
}

TEST_CASE("NNT1744: no such GPU", "[cuda]") {
  driver();
  Diagnostics third;
  CHECK_FALSE(openCuda({2, FAKE_CUDA}, third));
  CHECK(text(third) == "error NNT1744: there is no GPU 2: the machine has 2 GPUs, counted from 0\n");
  FakeCuda &old = driver();
  old.major = 7;
  old.minor = 5;
  Diagnostics diags;
  CHECK_FALSE(openCuda({0, FAKE_CUDA}, diags));
  CHECK(text(diags) == "error NNT1744: GPU 0, Fake GPU, has compute capability 7.5; expected 8.0 or newer\n");
}

TEST_CASE("NNT1745: call of the CUDA driver failed", "[cuda]") {
  for (const char *symbol : {"cuInit", "cuDriverGetVersion", "cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName",
                             "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate",
                             "cuDeviceGetDefaultMemPool", "cuMemPoolSetAttribute"}) {
    FakeCuda &fake = driver();
    fake.failing = symbol;
    fake.result = 718;
    Diagnostics diags;
    CHECK_FALSE(openCuda({0, FAKE_CUDA}, diags));
    CHECK(text(diags) ==
          "error NNT1745: " + std::string(symbol) + " failed: CUDA_ERROR_INVALID_PC: invalid program counter\n");
    CHECK(fake.contexts == 0);
    CHECK(fake.streams == 0);
  }

  Gpu gpu;
  REQUIRE(gpu.load());
  REQUIRE(gpu.start(0, 1));
  gpu.fake.failing = "cuStreamSynchronize";
  gpu.fake.result = 718;
  CHECK_FALSE(gpu.device->wait(gpu.diags));
  const std::string expected =
      "error NNT1745: cuStreamSynchronize failed: CUDA_ERROR_INVALID_PC: invalid program counter\n"
      "  note: kernels were under way, the last one started was linear_1 (hybrid.linear at "
      "plan.json:3:5)\n";
  CHECK(text(gpu.diags) == expected);
  // What follows fails without another word.
  char byte = 0;
  CHECK(gpu.device->allocate(1) == nullptr);
  CHECK_FALSE(gpu.device->upload(&byte, &byte, 1, gpu.diags));
  CHECK_FALSE(gpu.device->download(&byte, &byte, 1, gpu.diags));
  CHECK_FALSE(gpu.device->copy(&byte, &byte, 1, gpu.diags));
  CHECK_FALSE(gpu.start(0, 1));
  CHECK_FALSE(gpu.device->beginCapture(gpu.diags));
  CHECK(gpu.device->endCapture(gpu.diags) == -1);
  CHECK_FALSE(gpu.load());
  CHECK(text(gpu.diags) == expected);
}

TEST_CASE("copies that fail are errors", "[cuda]") {
  for (const char *symbol :
       {"cuMemHostAlloc", "cuEventCreate", "cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuEventSynchronize"}) {
    Gpu gpu;
    const uint64_t bytes = 3 * Staging::halfBytes; // so that halves have to take turns
    void *memory = gpu.device->allocate(bytes);
    gpu.fake.failing = symbol;
    gpu.fake.result = 2;
    CHECK_FALSE(gpu.device->upload(memory, std::vector<char>(bytes).data(), bytes, gpu.diags));
    CHECK(text(gpu.diags) == "error NNT1745: copying to the device failed: CUDA_ERROR_OUT_OF_MEMORY\n");
  }
  for (const char *symbol : {"cuMemHostAlloc", "cuMemcpyDtoHAsync_v2", "cuEventRecord", "cuEventSynchronize"}) {
    Gpu gpu;
    std::vector<char> back(10);
    void *memory = gpu.device->allocate(10);
    gpu.fake.failing = symbol;
    gpu.fake.result = 2;
    CHECK_FALSE(gpu.device->download(back.data(), memory, 10, gpu.diags));
    CHECK(text(gpu.diags) == "error NNT1745: copying from the device failed: CUDA_ERROR_OUT_OF_MEMORY\n");
  }
}

TEST_CASE("recordings that fail are errors", "[cuda]") {
  for (const auto &[symbol, shown] : {std::pair("cuStreamEndCapture", "cuStreamEndCapture"),
                                      std::pair("cuGraphInstantiateWithFlags", "cuGraphInstantiate")}) {
    Gpu gpu;
    REQUIRE(gpu.load());
    gpu.fake.failing = symbol;
    gpu.fake.result = 999;
    REQUIRE(gpu.device->beginCapture(gpu.diags));
    CHECK(gpu.device->endCapture(gpu.diags) == -1);
    CHECK(text(gpu.diags) == "error NNT1745: " + std::string(shown) + " failed: error 999\n");
    CHECK(gpu.fake.graphs == 0);
  }
}

TEST_CASE("NNT1743: what cannot be repeated is refused while launches are recorded", "[cuda]") {
  Gpu gpu;
  REQUIRE(gpu.load());
  void *memory = gpu.device->allocate(10);
  REQUIRE(gpu.device->beginCapture(gpu.diags));
  CHECK(gpu.device->allocate(10) == nullptr);
  CHECK_FALSE(gpu.device->upload(memory, "abc", 3, gpu.diags));
  CHECK(gpu.device->endCapture(gpu.diags) == -1);
  CHECK(text(gpu.diags) == "error NNT1743: an upload is not possible while launches are recorded\n");
}

TEST_CASE("NNT1746: driver refuses the kernels", "[cuda]") {
  Gpu gpu;
  gpu.fake.jitLog = "ptxas application ptx input, line 12; fatal   : Unknown modifier '.wrong'\n \n";
  CHECK_FALSE(gpu.load());
  CHECK(text(gpu.diags) == "error NNT1746: the driver cannot load the program's PTX, CUDA_ERROR_INVALID_PTX:\n"
                           "ptxas application ptx input, line 12; fatal   : Unknown modifier '.wrong'\n");
  Gpu other;
  CHECK_FALSE(other.device->load("the text", {{"none_of_these", ""}}, other.diags));
  CHECK(text(other.diags) ==
        "error NNT1746: the program's PTX has no kernel \"none_of_these\": CUDA_ERROR_NOT_FOUND\n");
}
