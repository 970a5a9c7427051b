// A CUDA driver for tests: does copies when somebody waits for them, notes launches, and fails where it is told to.
// Only pinned memory may be copied from and to, as only then copies do not wait.
#include "FakeCuda.h"
#include "runtime/gpu/driver/DriverApi.h"

#include <cstring>
#include <functional>
#include <map>

using namespace nnterp::gpu;

namespace nnterp::test {

/// Of the whole library; found by the tests with dlsym.
extern "C" FakeCuda fakeCuda;
FakeCuda fakeCuda;

namespace {

struct Stream {
  std::vector<std::function<void()>> work;
  uint64_t done = 0; ///< of all that was ever handed in
  bool capturing = false;
  std::vector<std::string> captured;
};
struct Event {
  Stream *stream = nullptr;
  uint64_t at = 0;
};
struct Function {
  std::string name;
};
struct Graph {
  std::vector<std::string> launches;
};

constexpr CUresult invalidValue = 1, notFound = 500, invalidPtx = 218, illegalCapture = 900, refused = 718;

std::map<CUdeviceptr, std::vector<char>> memory;
std::map<char *, size_t> pinned;
std::map<std::string, Function> functions;
CUdeviceptr nextAddress = CUdeviceptr(1) << 52;

/// What a call does first: fails if it is the one.
CUresult enter(const char *symbol) {
  if (fakeCuda.failing != symbol || fakeCuda.skip-- > 0)
    return cu::success;
  fakeCuda.skip = 0;
  return fakeCuda.result;
}

void note(const std::string &line) { fakeCuda.log.push_back(line); }

template <class T, class Handle> T *as(Handle handle) { return reinterpret_cast<T *>(handle); }

char *inBlock(CUdeviceptr address, size_t bytes) {
  auto found = memory.upper_bound(address);
  if (found == memory.begin())
    return nullptr;
  --found;
  const CUdeviceptr offset = address - found->first;
  return offset + bytes <= found->second.size() ? found->second.data() + offset : nullptr;
}

bool isPinned(const void *address, size_t bytes) {
  for (const auto &[begin, size] : pinned)
    if (address >= begin && static_cast<const char *>(address) + bytes <= begin + size)
      return true;
  return false;
}

CUresult enqueue(CUstream handle, std::function<void()> work) {
  auto *stream = as<Stream>(handle);
  if (stream->capturing)
    return illegalCapture;
  stream->work.push_back(std::move(work));
  return cu::success;
}

void runUntil(Stream &stream, uint64_t at) {
  while (stream.done < at && !stream.work.empty()) {
    stream.work.front()();
    stream.work.erase(stream.work.begin());
    ++stream.done;
  }
}

CUresult allocateBlock(CUdeviceptr *address, size_t bytes) {
  if (bytes > fakeCuda.room - fakeCuda.used - fakeCuda.pooled)
    return cu::errorOutOfMemory;
  *address = nextAddress;
  nextAddress += bytes / 256 * 256 + 512;
  memory[*address].assign(bytes, char(0xcd));
  fakeCuda.used += bytes;
  return cu::success;
}

CUresult freeBlock(CUdeviceptr address, bool toPool) {
  auto found = memory.find(address);
  if (found == memory.end())
    return invalidValue;
  fakeCuda.used -= found->second.size();
  fakeCuda.pooled += toPool ? found->second.size() : 0;
  memory.erase(found);
  return cu::success;
}

} // namespace

#define ENTER(SYMBOL)                                                                                                  \
  if (CUresult result = enter(#SYMBOL))                                                                                \
    return result;

extern "C" {

CUresult cuInit(unsigned) {
  ENTER(cuInit)
  return cu::success;
}
CUresult cuDriverGetVersion(int *version) {
  ENTER(cuDriverGetVersion)
  *version = fakeCuda.version;
  return cu::success;
}
CUresult cuGetErrorName(CUresult error, const char **text) {
  *text = error == cu::errorOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == invalidPtx         ? "CUDA_ERROR_INVALID_PTX"
          : error == refused            ? "CUDA_ERROR_INVALID_PC"
          : error == notFound           ? "CUDA_ERROR_NOT_FOUND"
                                        : nullptr;
  return *text ? cu::success : invalidValue;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  *text = error == refused ? "invalid program counter" : nullptr;
  return *text ? cu::success : invalidValue;
}
CUresult cuDeviceGetCount(int *count) {
  ENTER(cuDeviceGetCount)
  *count = fakeCuda.devices;
  return cu::success;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  ENTER(cuDeviceGet)
  *device = 100 + ordinal;
  return cu::success;
}
CUresult cuDeviceGetName(char *name, int bytes, CUdevice) {
  ENTER(cuDeviceGetName)
  std::strncpy(name, "Fake GPU", size_t(bytes));
  return cu::success;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  ENTER(cuDeviceGetAttribute)
  *value = attribute == cu::computeCapabilityMajor   ? fakeCuda.major
           : attribute == cu::computeCapabilityMinor ? fakeCuda.minor
                                                     : fakeCuda.pools;
  return cu::success;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  ENTER(cuDevicePrimaryCtxRetain)
  note("retain " + std::to_string(device));
  ++fakeCuda.contexts;
  *context = reinterpret_cast<CUcontext>(&fakeCuda);
  return cu::success;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --fakeCuda.contexts;
  return cu::success;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  ENTER(cuCtxSetCurrent)
  return context == reinterpret_cast<CUcontext>(&fakeCuda) ? cu::success : invalidValue;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n, int *options, void **values) {
  char *errors = nullptr;
  size_t bytes = 0;
  for (unsigned i = 0; i < n; ++i) {
    if (options[i] == cu::errorLogBuffer)
      errors = static_cast<char *>(values[i]);
    if (options[i] == cu::errorLogBufferBytes)
      bytes = reinterpret_cast<size_t>(values[i]);
  }
  if (!fakeCuda.jitLog.empty()) {
    std::strncpy(errors, fakeCuda.jitLog.c_str(), bytes);
    return invalidPtx;
  }
  ENTER(cuModuleLoadDataEx)
  note("load " + std::string(static_cast<const char *>(image)));
  ++fakeCuda.modules;
  *module = reinterpret_cast<CUmodule>(&functions);
  return cu::success;
}
CUresult cuModuleUnload(CUmodule) {
  note("unload");
  --fakeCuda.modules;
  return cu::success;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  ENTER(cuModuleGetFunction)
  if (std::strncmp(name, "no", 2) == 0)
    return notFound;
  *function = reinterpret_cast<CUfunction>(&functions[name]);
  functions[name].name = name;
  return cu::success;
}
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value) {
  ENTER(cuFuncSetAttribute)
  note("attribute " + std::to_string(attribute) + " of " + as<Function>(function)->name + " = " +
       std::to_string(value));
  return cu::success;
}

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  ENTER(cuStreamCreate)
  ++fakeCuda.streams;
  *stream = reinterpret_cast<CUstream>(new Stream);
  return cu::success;
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  --fakeCuda.streams;
  delete as<Stream>(stream);
  return cu::success;
}
CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(cuStreamSynchronize)
  if (as<Stream>(stream)->capturing)
    return illegalCapture;
  ++fakeCuda.waits;
  runUntil(*as<Stream>(stream), ~uint64_t(0));
  return cu::success;
}
CUresult cuEventCreate(CUevent *event, unsigned) {
  ENTER(cuEventCreate)
  ++fakeCuda.events;
  *event = reinterpret_cast<CUevent>(new Event);
  return cu::success;
}
CUresult cuEventDestroy_v2(CUevent event) {
  --fakeCuda.events;
  delete as<Event>(event);
  return cu::success;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER(cuEventRecord)
  auto *s = as<Stream>(stream);
  *as<Event>(event) = {s, s->done + s->work.size()};
  return cu::success;
}
CUresult cuEventSynchronize(CUevent event) {
  ENTER(cuEventSynchronize)
  ++fakeCuda.waits;
  if (auto *e = as<Event>(event); e->stream)
    runUntil(*e->stream, e->at);
  return cu::success;
}

CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  ENTER(cuMemHostAlloc)
  auto *block = new char[bytes];
  pinned[block] = bytes;
  fakeCuda.pinned += bytes;
  *address = block;
  return cu::success;
}
CUresult cuMemFreeHost(void *address) {
  auto found = pinned.find(static_cast<char *>(address));
  if (found == pinned.end())
    return invalidValue;
  fakeCuda.pinned -= found->second;
  delete[] found->first;
  pinned.erase(found);
  return cu::success;
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  ENTER(cuMemAlloc_v2)
  return allocateBlock(address, bytes);
}
CUresult cuMemFree_v2(CUdeviceptr address) { return freeBlock(address, false); }
CUresult cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream) {
  ENTER(cuMemAllocAsync)
  return allocateBlock(address, bytes);
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return enqueue(stream, [address] { freeBlock(address, true); });
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice) {
  ENTER(cuDeviceGetDefaultMemPool)
  *pool = reinterpret_cast<CUmemoryPool>(&memory);
  return cu::success;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool, int attribute, void *value) {
  ENTER(cuMemPoolSetAttribute)
  note("pool attribute " + std::to_string(attribute) + " = " +
       std::to_string(*static_cast<unsigned long long *>(value)));
  return cu::success;
}
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t bytes) {
  note("trim " + std::to_string(bytes));
  fakeCuda.pooled = 0;
  return cu::success;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyHtoDAsync_v2)
  if (!isPinned(from, bytes) || !inBlock(to, bytes))
    return invalidValue;
  return enqueue(stream, [=] { std::memcpy(inBlock(to, bytes), from, bytes); });
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyDtoHAsync_v2)
  if (!isPinned(to, bytes) || !inBlock(from, bytes))
    return invalidValue;
  return enqueue(stream, [=] { std::memcpy(to, inBlock(from, bytes), bytes); });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER(cuMemcpyDtoDAsync_v2)
  if (!inBlock(to, bytes) || !inBlock(from, bytes))
    return invalidValue;
  return enqueue(stream, [=] { std::memcpy(inBlock(to, bytes), inBlock(from, bytes), bytes); });
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **parameters, void **) {
  ENTER(cuLaunchKernel)
  auto text = [](std::initializer_list<unsigned> list) {
    std::string all;
    for (unsigned item : list)
      all += (all.empty() ? "" : ",") + std::to_string(item);
    return all;
  };
  const std::string line = as<Function>(function)->name + " <<<" + text({gx, gy, gz}) + " " + text({bx, by, bz}) + " " +
                           std::to_string(shared) + ">>> " +
                           std::to_string(*static_cast<const int64_t *>(parameters[0]));
  if (auto *s = as<Stream>(stream); s->capturing) {
    s->captured.push_back(line);
    return cu::success;
  }
  return enqueue(stream, [line] { note(line); });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  ENTER(cuStreamBeginCapture_v2)
  as<Stream>(stream)->capturing = true;
  as<Stream>(stream)->captured.clear();
  return cu::success;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  as<Stream>(stream)->capturing = false;
  ENTER(cuStreamEndCapture)
  ++fakeCuda.graphs;
  *graph = reinterpret_cast<CUgraph>(new Graph{as<Stream>(stream)->captured});
  return cu::success;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  ENTER(cuGraphInstantiateWithFlags)
  ++fakeCuda.graphs;
  *exec = reinterpret_cast<CUgraphExec>(new Graph(*as<Graph>(graph)));
  return cu::success;
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  ENTER(cuGraphLaunch)
  const std::vector<std::string> launches = as<Graph>(exec)->launches;
  return enqueue(stream, [launches] {
    for (const std::string &line : launches)
      note("graph: " + line);
  });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  --fakeCuda.graphs;
  delete as<Graph>(exec);
  return cu::success;
}
CUresult cuGraphDestroy(CUgraph graph) {
  --fakeCuda.graphs;
  delete as<Graph>(graph);
  return cu::success;
}

} // extern "C"

} // namespace nnterp::test
