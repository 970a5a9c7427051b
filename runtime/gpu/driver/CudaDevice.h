// A GPU behind the CUDA driver.
#pragma once

#include "runtime/gpu/driver/Cuda.h"
#include "runtime/gpu/driver/Staging.h"

#include <map>
#include <optional>

namespace nnterp::gpu {

/// One stream carries everything, so that work is done in order. Memory comes from the device's pool where it has one.
class CudaDevice : public Device {
public:
  explicit CudaDevice(std::unique_ptr<DriverApi> api) : api(std::move(api)) {}
  ~CudaDevice() override;
  bool open(int ordinal, Diagnostics &diags);

  std::string description() const override { return shown; }
  bool load(std::string_view ptx, const std::vector<KernelSpec> &kernels, Diagnostics &diags) override;
  void *allocate(uint64_t bytes) override;
  void release(void *memory) override;
  bool upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool launch(const Launch &launch, Diagnostics &diags) override;
  bool wait(Diagnostics &diags) override;
  bool beginCapture(Diagnostics &diags) override;
  int64_t endCapture(Diagnostics &diags) override;
  bool replay(int64_t captured, Diagnostics &diags) override;
  void forget(int64_t captured) override;

private:
  struct Kernel {
    KernelSpec spec;
    CUfunction function = nullptr;
    uint32_t dynamicShared = 0; ///< that it may be started with
  };

  bool check(CUresult result, const char *call, Diagnostics &diags);
  bool ready(const char *what, Diagnostics &diags);
  void unload();

  std::unique_ptr<DriverApi> api;
  std::string shown;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmemoryPool pool = nullptr; ///< null: the device has none
  CUmodule module = nullptr;
  std::vector<Kernel> kernels;
  std::optional<Staging> uploads, downloads;
  std::map<int64_t, CUgraphExec> graphs;
  int64_t nextGraph = 0, lastKernel = -1; ///< started since the last wait; -1: none
  bool failed = false, capturing = false;
};

} // namespace nnterp::gpu
