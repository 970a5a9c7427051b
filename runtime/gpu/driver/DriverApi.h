// The part of the CUDA driver's interface that is used here, declared by us, and found at run time by the names that the driver exports.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <cstddef>
#include <memory>
#include <string>

namespace nnterp::gpu {

// As the driver's documentation defines them: handles are opaque pointers, addresses on the device 64-bit numbers.
using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUmemoryPool = struct CUmemPoolHandle_st *;

/// Results and options by the driver's names and numbers.
namespace cu {
constexpr CUresult success = 0, errorOutOfMemory = 2;
enum DeviceAttribute : int { computeCapabilityMajor = 75, computeCapabilityMinor = 76, memoryPoolsSupported = 115 };
enum JitOption : int { infoLogBuffer = 3, infoLogBufferBytes = 4, errorLogBuffer = 5, errorLogBufferBytes = 6 };
enum FunctionAttribute : int { maxDynamicSharedBytes = 8 };
enum MemoryPoolAttribute : int { releaseThreshold = 4 };
constexpr unsigned streamNonBlocking = 1, eventDisableTiming = 2;
constexpr int captureThreadLocal = 1;
} // namespace cu

/// Every function that is called: NNTERP_CUDA(member, symbol, parameters). Symbols with a version are those that cuda.h maps plain names to.
#define NNTERP_CUDA_FUNCTIONS                                                                                                          \
  NNTERP_CUDA(init, cuInit, (unsigned flags))                                                                                          \
  NNTERP_CUDA(driverVersion, cuDriverGetVersion, (int *version))                                                                       \
  NNTERP_CUDA(errorName, cuGetErrorName, (CUresult error, const char **text))                                                          \
  NNTERP_CUDA(errorString, cuGetErrorString, (CUresult error, const char **text))                                                      \
  NNTERP_CUDA(deviceCount, cuDeviceGetCount, (int *count))                                                                             \
  NNTERP_CUDA(deviceGet, cuDeviceGet, (CUdevice * device, int ordinal))                                                                \
  NNTERP_CUDA(deviceName, cuDeviceGetName, (char *name, int bytes, CUdevice device))                                                   \
  NNTERP_CUDA(deviceAttribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))                                     \
  NNTERP_CUDA(contextRetain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                         \
  NNTERP_CUDA(contextRelease, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                         \
  NNTERP_CUDA(contextSetCurrent, cuCtxSetCurrent, (CUcontext context))                                                                 \
  NNTERP_CUDA(moduleLoad, cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned n, int *options, void **values))         \
  NNTERP_CUDA(moduleUnload, cuModuleUnload, (CUmodule module))                                                                         \
  NNTERP_CUDA(moduleFunction, cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                         \
  NNTERP_CUDA(functionSetAttribute, cuFuncSetAttribute, (CUfunction function, int attribute, int value))                               \
  NNTERP_CUDA(streamCreate, cuStreamCreate, (CUstream * stream, unsigned flags))                                                       \
  NNTERP_CUDA(streamDestroy, cuStreamDestroy_v2, (CUstream stream))                                                                    \
  NNTERP_CUDA(streamSynchronize, cuStreamSynchronize, (CUstream stream))                                                               \
  NNTERP_CUDA(eventCreate, cuEventCreate, (CUevent * event, unsigned flags))                                                           \
  NNTERP_CUDA(eventDestroy, cuEventDestroy_v2, (CUevent event))                                                                        \
  NNTERP_CUDA(eventRecord, cuEventRecord, (CUevent event, CUstream stream))                                                            \
  NNTERP_CUDA(eventSynchronize, cuEventSynchronize, (CUevent event))                                                                   \
  NNTERP_CUDA(hostAllocate, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                             \
  NNTERP_CUDA(hostFree, cuMemFreeHost, (void *memory))                                                                                 \
  NNTERP_CUDA(allocate, cuMemAlloc_v2, (CUdeviceptr * memory, size_t bytes))                                                           \
  NNTERP_CUDA(free, cuMemFree_v2, (CUdeviceptr memory))                                                                                \
  NNTERP_CUDA(allocateAsync, cuMemAllocAsync, (CUdeviceptr * memory, size_t bytes, CUstream stream))                                   \
  NNTERP_CUDA(freeAsync, cuMemFreeAsync, (CUdeviceptr memory, CUstream stream))                                                        \
  NNTERP_CUDA(defaultPool, cuDeviceGetDefaultMemPool, (CUmemoryPool * pool, CUdevice device))                                          \
  NNTERP_CUDA(poolSetAttribute, cuMemPoolSetAttribute, (CUmemoryPool pool, int attribute, void *value))                                \
  NNTERP_CUDA(poolTrim, cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytesToKeep))                                                      \
  NNTERP_CUDA(copyToDevice, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                   \
  NNTERP_CUDA(copyToHost, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                           \
  NNTERP_CUDA(copyOnDevice, cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                   \
  NNTERP_CUDA(launch, cuLaunchKernel,                                                                                                  \
              (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, \
               unsigned sharedBytes, CUstream stream, void **parameters, void **extra))                                                \
  NNTERP_CUDA(beginCapture, cuStreamBeginCapture_v2, (CUstream stream, int mode))                                                      \
  NNTERP_CUDA(endCapture, cuStreamEndCapture, (CUstream stream, CUgraph * graph))                                                      \
  NNTERP_CUDA(graphInstantiate, cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, unsigned long long flags))            \
  NNTERP_CUDA(graphLaunch, cuGraphLaunch, (CUgraphExec exec, CUstream stream))                                                         \
  NNTERP_CUDA(graphExecDestroy, cuGraphExecDestroy, (CUgraphExec exec))                                                                \
  NNTERP_CUDA(graphDestroy, cuGraphDestroy, (CUgraph graph))

/// The driver's functions.
struct DriverApi {
#define NNTERP_CUDA(MEMBER, SYMBOL, PARAMETERS) CUresult(*MEMBER) PARAMETERS = nullptr;
  NNTERP_CUDA_FUNCTIONS
#undef NNTERP_CUDA

  /// Opens the driver's library ("" = libcuda.so.1), which stays open: the driver does not support being closed. Errors: NNT1740.
  static std::unique_ptr<DriverApi> open(const std::string &library, Diagnostics &diags);
  /// "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  std::string text(CUresult error) const;
};

} // namespace nnterp::gpu
