// The tests' device: does in order what was handed in, when somebody waits.
#include "TestDevice.h"
#include "TestSequenceRead.h"
#include "runtime/abi/Frame.h"

#include <catch2/catch.hpp>
#include <cstring>

namespace nnterp::test {

static uint64_t number(const void *address) { return reinterpret_cast<uintptr_t>(address); }
static void *pointer(uint64_t address) { return reinterpret_cast<void *>(uintptr_t(address)); }

TestDevice::~TestDevice() { CHECK(memory.empty()); } // everything that was allocated was given back

bool TestDevice::allowed(const char *what, Diagnostics &diags) {
  if (capturing && !failed)
    diags.error("NNT1743", {}, std::string(what) + " while launches are recorded");
  failed |= capturing;
  return !failed;
}

bool TestDevice::load(std::string_view code, const std::vector<KernelSpec> &kernels, Diagnostics &diags) {
  if (code.find(".entry read(") == 0 && kernels.size() == 1 && kernels[0].name == "read")
    return true;
  diags.error("NNT1746", {}, "no kernels of the test");
  return false;
}

void *TestDevice::allocate(uint64_t bytes) {
  if (capturing || failed || bytes > room - used)
    return nullptr;
  ++allocations;
  used += bytes;
  mostUsed = std::max(mostUsed, used);
  const uint64_t address = nextAddress;
  nextAddress += bytes / 256 * 256 + 512;
  memory[address].assign(bytes, char(0xcd));
  return pointer(address);
}

void TestDevice::release(void *given) {
  Diagnostics diags;
  const bool fine = failed || (!capturing && wait(diags));
  CHECK(fine);
  auto found = memory.find(number(given));
  REQUIRE(found != memory.end());
  used -= found->second.size();
  memory.erase(found);
}

void *TestDevice::host(const void *there, uint64_t bytes) {
  auto found = memory.upper_bound(number(there));
  REQUIRE(found != memory.begin());
  --found;
  const uint64_t offset = number(there) - found->first;
  REQUIRE(offset + bytes <= found->second.size());
  return found->second.data() + offset;
}

bool TestDevice::upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  if (!allowed("an upload", diags))
    return false;
  ++uploads;
  uploadedBytes += int64_t(bytes);
  std::vector<char> kept(static_cast<const char *>(from), static_cast<const char *>(from) + bytes);
  queue.push_back([this, to, kept] { std::memcpy(host(to, kept.size()), kept.data(), kept.size()); });
  return true;
}

bool TestDevice::download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  ++downloads;
  if (!wait(diags))
    return false;
  std::memcpy(to, host(from, bytes), bytes);
  return true;
}

bool TestDevice::copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  if (!allowed("a copy", diags))
    return false;
  queue.push_back([this, to, from, bytes] { std::memcpy(host(to, bytes), host(from, bytes), bytes); });
  return true;
}

void TestDevice::read(const std::vector<uint64_t> &p) {
  const auto B = int64_t(p[9]), W = int64_t(p[10]), V = int64_t(p[11]), capacity = int64_t(p[12]);
  auto integers = [&](size_t i, int64_t count) {
    return static_cast<const int64_t *>(host(pointer(p[i]), uint64_t(count) * 8));
  };
  std::memset(host(pointer(p[7]), uint64_t(W * 64)), 1, size_t(W * 64)); // the scratch memory is there
  auto *failures = static_cast<int64_t *>(host(pointer(p[8]), 16));
  if (!readTokens(integers(0, B * W), integers(1, B), integers(2, 3 * B * W), integers(3, B), integers(4, 1),
                  static_cast<float *>(host(pointer(p[5]), uint64_t(B * V) * 4)),
                  static_cast<float *>(host(pointer(p[6]), uint64_t(B * capacity) * 4)), B, W, V, capacity))
    failures[0] = abi::zeroDirection;
  if (reason)
    failures[1] = reason;
  ++executed;
}

bool TestDevice::launch(const gpu::Launch &launch, Diagnostics &diags) {
  if (failed)
    return false;
  if (launches++ == failAt) {
    failed = true;
    diags.error("NNT1745", {}, "the test's launch failed");
    return false;
  }
  std::vector<uint64_t> parameters(13);
  for (size_t i = 0; i < parameters.size(); ++i)
    std::memcpy(&parameters[i], launch.parameters[i], sizeof(uint64_t));
  (capturing ? captured : queue).push_back([this, parameters] { read(parameters); });
  return true;
}

bool TestDevice::wait(Diagnostics &diags) {
  if (!allowed("a wait", diags))
    return false;
  std::vector<Work> work;
  work.swap(queue);
  for (const Work &item : work)
    item();
  return true;
}

bool TestDevice::beginCapture(Diagnostics &diags) {
  capturing = allowed("recording", diags);
  captured.clear();
  ++captures;
  return capturing;
}

int64_t TestDevice::endCapture(Diagnostics &) {
  capturing = false;
  if (failed)
    return -1;
  graphs[nextGraph] = std::move(captured);
  return nextGraph++;
}

bool TestDevice::replay(int64_t number, Diagnostics &diags) {
  if (!allowed("a replay", diags))
    return false;
  ++replays;
  const std::vector<Work> &work = graphs.at(number);
  queue.insert(queue.end(), work.begin(), work.end());
  return true;
}

} // namespace nnterp::test
