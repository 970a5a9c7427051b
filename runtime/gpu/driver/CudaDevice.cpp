// Speaks to the CUDA driver.
#include "runtime/gpu/driver/CudaDevice.h"

#include <cstring>

namespace nnterp::gpu {

/// Bytes of dynamic shared memory that a kernel may have without being asked for.
static constexpr uint32_t plainSharedBytes = 48 << 10;
/// The oldest GPUs that the compiler writes PTX for.
static constexpr int oldestCapability = 80;

static CUdeviceptr address(const void *memory) { return CUdeviceptr(reinterpret_cast<uintptr_t>(memory)); }

std::unique_ptr<Device> openCuda(const CudaOptions &options, Diagnostics &diags) {
  std::unique_ptr<DriverApi> api = DriverApi::open(options.library, diags);
  if (!api)
    return nullptr;
  auto device = std::make_unique<CudaDevice>(std::move(api));
  return device->open(options.ordinal, diags) ? std::move(device) : nullptr;
}

/// Reports the first call that fails. What a kernel does wrong is known only later, by a call that has nothing to do
/// with it.
bool CudaDevice::check(CUresult result, const char *call, Diagnostics &diags) {
  if (result == cu::success)
    return true;
  if (failed)
    return false;
  failed = true;
  Diagnostic &error = diags.error("NNT1745", {}, std::string(call) + " failed: " + api->text(result));
  if (lastKernel >= 0) {
    const KernelSpec &kernel = kernels[size_t(lastKernel)].spec;
    Diagnostic::Note note;
    note.message = "kernels were under way, the last one started was " + kernel.name +
                   (kernel.location.empty() ? "" : " (" + kernel.location + ")");
    error.notes.push_back(std::move(note));
  }
  return false;
}

/// Whether anything can be done at all; nothing but launches while they are recorded.
bool CudaDevice::ready(const char *what, Diagnostics &diags) {
  if (failed)
    return false;
  if (capturing) {
    failed = true;
    diags.error("NNT1743", {}, std::string(what) + " is not possible while launches are recorded");
    return false;
  }
  return check(api->contextSetCurrent(context), "cuCtxSetCurrent", diags);
}

bool CudaDevice::open(int ordinal, Diagnostics &diags) {
  int version = 0, count = 0, major = 0, minor = 0, pools = 0;
  char name[256] = "";
  if (!check(api->init(0), "cuInit", diags) || !check(api->driverVersion(&version), "cuDriverGetVersion", diags) ||
      !check(api->deviceCount(&count), "cuDeviceGetCount", diags))
    return false;
  if (ordinal >= count) {
    diags.error("NNT1744", {},
                "there is no GPU " + std::to_string(ordinal) + ": the machine has " + std::to_string(count) +
                    (count == 1 ? " GPU" : " GPUs") + ", counted from 0");
    return false;
  }
  if (!check(api->deviceGet(&device, ordinal), "cuDeviceGet", diags) ||
      !check(api->deviceName(name, sizeof name, device), "cuDeviceGetName", diags) ||
      !check(api->deviceAttribute(&major, cu::computeCapabilityMajor, device), "cuDeviceGetAttribute", diags) ||
      !check(api->deviceAttribute(&minor, cu::computeCapabilityMinor, device), "cuDeviceGetAttribute", diags) ||
      !check(api->deviceAttribute(&pools, cu::memoryPoolsSupported, device), "cuDeviceGetAttribute", diags))
    return false;
  if (10 * major + minor < oldestCapability) {
    diags.error("NNT1744", {},
                "GPU " + std::to_string(ordinal) + ", " + name + ", has compute capability " + std::to_string(major) +
                    "." + std::to_string(minor) + "; expected 8.0 or newer");
    return false;
  }
  shown = std::string(name) + ", driver " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  if (!check(api->contextRetain(&context, device), "cuDevicePrimaryCtxRetain", diags) ||
      !check(api->contextSetCurrent(context), "cuCtxSetCurrent", diags) ||
      !check(api->streamCreate(&stream, cu::streamNonBlocking), "cuStreamCreate", diags))
    return false;
  uploads.emplace(*api);
  downloads.emplace(*api);
  if (!pools)
    return true;
  unsigned long long keepAll = ~0ull; // what was released is for the next call, not for the system
  return check(api->defaultPool(&pool, device), "cuDeviceGetDefaultMemPool", diags) &&
         check(api->poolSetAttribute(pool, cu::releaseThreshold, &keepAll), "cuMemPoolSetAttribute", diags);
}

CudaDevice::~CudaDevice() {
  if (!context)
    return;
  api->contextSetCurrent(context);
  if (stream)
    api->streamSynchronize(stream);
  unload();
  uploads.reset();
  downloads.reset();
  if (stream)
    api->streamDestroy(stream);
  if (pool)
    api->poolTrim(pool, 0);
  api->contextRelease(device);
}

void CudaDevice::unload() {
  for (const auto &[number, graph] : graphs)
    api->graphExecDestroy(graph);
  graphs.clear();
  kernels.clear();
  lastKernel = -1;
  if (module)
    api->moduleUnload(module);
  module = nullptr;
}

bool CudaDevice::load(std::string_view ptx, const std::vector<KernelSpec> &specs, Diagnostics &diags) {
  if (!ready("loading a program", diags) || !wait(diags))
    return false;
  unload();
  const std::string text(ptx); // ends with the zero that the driver looks for
  std::vector<char> info(16384, 0), error(16384, 0);
  int options[] = {cu::infoLogBuffer, cu::infoLogBufferBytes, cu::errorLogBuffer, cu::errorLogBufferBytes};
  void *values[] = {info.data(), reinterpret_cast<void *>(info.size()), error.data(),
                    reinterpret_cast<void *>(error.size())};
  const CUresult result = api->moduleLoad(&module, text.c_str(), 4, options, values);
  if (result != cu::success) {
    failed = true;
    std::string log(error.data(), strnlen(error.data(), error.size()));
    while (!log.empty() && (log.back() == '\n' || log.back() == ' '))
      log.pop_back();
    diags.error("NNT1746", {},
                "the driver cannot load the program's PTX, " + api->text(result) + (log.empty() ? "" : ":\n" + log));
    return false;
  }
  for (const KernelSpec &spec : specs) {
    Kernel kernel{spec};
    const CUresult found = api->moduleFunction(&kernel.function, module, spec.name.c_str());
    if (found != cu::success) {
      failed = true;
      diags.error("NNT1746", {}, "the program's PTX has no kernel \"" + spec.name + "\": " + api->text(found));
      return false;
    }
    kernels.push_back(std::move(kernel));
  }
  return true;
}

void *CudaDevice::allocate(uint64_t bytes) {
  if (failed || capturing || api->contextSetCurrent(context) != cu::success)
    return nullptr;
  CUdeviceptr memory = 0;
  const size_t size = bytes ? bytes : 1;
  auto attempt = [&] { return pool ? api->allocateAsync(&memory, size, stream) : api->allocate(&memory, size); };
  CUresult result = attempt();
  if (result == cu::errorOutOfMemory && pool) { // what was released, but in pieces of other sizes
    api->streamSynchronize(stream);
    api->poolTrim(pool, 0);
    result = attempt();
  }
  return result == cu::success ? reinterpret_cast<void *>(uintptr_t(memory)) : nullptr;
}

void CudaDevice::release(void *memory) {
  if (!memory || failed || api->contextSetCurrent(context) != cu::success)
    return;
  if (pool) {
    api->freeAsync(address(memory), stream);
    return;
  }
  api->streamSynchronize(stream);
  api->free(address(memory));
}

bool CudaDevice::upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  return ready("an upload", diags) &&
         check(uploads->upload(address(to), from, bytes, stream), "copying to the device", diags);
}

bool CudaDevice::download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  if (!ready("a download", diags) ||
      !check(downloads->download(to, address(from), bytes, stream), "copying from the device", diags))
    return false;
  lastKernel = -1;
  return true;
}

bool CudaDevice::copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  return ready("a copy", diags) && (bytes == 0 || check(api->copyOnDevice(address(to), address(from), bytes, stream),
                                                        "cuMemcpyDtoDAsync", diags));
}

bool CudaDevice::launch(const Launch &launch, Diagnostics &diags) {
  if (failed)
    return false;
  Kernel &kernel = kernels[size_t(launch.kernel)];
  if (launch.dynamicShared > plainSharedBytes && launch.dynamicShared > kernel.dynamicShared) {
    if (!check(api->functionSetAttribute(kernel.function, cu::maxDynamicSharedBytes, int(launch.dynamicShared)),
               "cuFuncSetAttribute", diags))
      return false;
    kernel.dynamicShared = launch.dynamicShared;
  }
  lastKernel = launch.kernel;
  const uint32_t *grid = launch.grid, *block = launch.block;
  return check(api->launch(kernel.function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                           launch.dynamicShared, stream, const_cast<void **>(launch.parameters), nullptr),
               "cuLaunchKernel", diags);
}

bool CudaDevice::wait(Diagnostics &diags) {
  if (!ready("waiting", diags) || !check(api->streamSynchronize(stream), "cuStreamSynchronize", diags))
    return false;
  lastKernel = -1;
  return true;
}

bool CudaDevice::beginCapture(Diagnostics &diags) {
  capturing = ready("recording", diags) &&
              check(api->beginCapture(stream, cu::captureThreadLocal), "cuStreamBeginCapture", diags);
  return capturing;
}

int64_t CudaDevice::endCapture(Diagnostics &diags) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  const CUresult ended = capturing ? api->endCapture(stream, &graph) : cu::success;
  capturing = false;
  const bool good = !failed && check(ended, "cuStreamEndCapture", diags) && graph &&
                    check(api->graphInstantiate(&exec, graph, 0), "cuGraphInstantiate", diags);
  if (graph)
    api->graphDestroy(graph);
  if (!good)
    return -1;
  graphs[nextGraph] = exec;
  return nextGraph++;
}

bool CudaDevice::replay(int64_t captured, Diagnostics &diags) {
  auto found = graphs.find(captured);
  return ready("a replay", diags) && found != graphs.end() &&
         check(api->graphLaunch(found->second, stream), "cuGraphLaunch", diags);
}

void CudaDevice::forget(int64_t captured) {
  auto found = graphs.find(captured);
  if (found == graphs.end())
    return;
  if (api->contextSetCurrent(context) == cu::success)
    api->graphExecDestroy(found->second);
  graphs.erase(found);
}

} // namespace nnterp::gpu
