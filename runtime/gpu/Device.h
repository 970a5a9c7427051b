// A place where generated kernels run: a GPU behind the CUDA driver, or the emulator. Both are given the same PTX and the same launches.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Manifest.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp::gpu {

/// One launch. `parameters[i]` points to the value of the kernel's i-th parameter, as in cuLaunchKernel; values are read before the
/// call returns.
struct Launch {
  int64_t kernel = 0; ///< index in the list given to `load`
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t dynamicShared = 0; ///< bytes behind the kernel's own shared memory
  const void *const *parameters = nullptr;
};

/// Work is done in the order in which it was handed in, but not before `wait` or `download` return. One thread at a time. After an
/// error every later call fails quietly: the first error is reported once.
class Device {
public:
  virtual ~Device() = default;

  /// "NVIDIA H200, driver 13.0" or "emulator, 2 threads".
  virtual std::string description() const = 0;

  /// Whether every access is checked against the allocation it falls into: then memory is worth asking for in exact sizes.
  virtual bool checksAccesses() const { return false; }

  /// Loads a program's PTX; its kernels are those of `kernels`, in order. A program loaded before is gone. Errors: NNT17xx.
  virtual bool load(std::string_view ptx, const std::vector<KernelSpec> &kernels, Diagnostics &diags) = 0;

  /// Memory of at least `bytes` (0 is served too), 256-byte aligned, undefined contents; null when there is none left.
  virtual void *allocate(uint64_t bytes) = 0;
  /// Gives memory back once the work handed in so far is done.
  virtual void release(void *memory) = 0;

  /// `from` may be changed as soon as the call returns.
  virtual bool upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) = 0;
  /// Waits for everything handed in before.
  virtual bool download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) = 0;
  virtual bool copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) = 0; ///< within the device
  virtual bool launch(const Launch &launch, Diagnostics &diags) = 0;
  virtual bool wait(Diagnostics &diags) = 0;

  /// Between the two, launches are recorded and not done. Uploads, downloads, waits and allocations in between are errors: what is
  /// recorded must be repeatable. Returns a number for `replay`; -1 after an error.
  virtual bool beginCapture(Diagnostics &diags) = 0;
  virtual int64_t endCapture(Diagnostics &diags) = 0;
  virtual bool replay(int64_t captured, Diagnostics &diags) = 0;
  virtual void forget(int64_t captured) = 0;
};

} // namespace nnterp::gpu
