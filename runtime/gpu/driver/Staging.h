// Pinned memory between the host's tensors and the device: the driver copies from and to it without waiting.
#pragma once

#include "runtime/gpu/driver/DriverApi.h"

#include <cstdint>

namespace nnterp::gpu {

/// Two halves that take turns: while the device copies one, the host fills or empties the other. The methods return the driver's result and do
/// nothing more after an error.
class Staging {
public:
  static constexpr uint64_t halfBytes = uint64_t(8) << 20;

  explicit Staging(const DriverApi &api) : api(api) {}
  ~Staging();
  Staging(const Staging &) = delete;

  /// Copies into pinned memory, and has the stream copy that to the device. `from` is free when this returns.
  CUresult upload(CUdeviceptr to, const void *from, uint64_t bytes, CUstream stream);
  /// Has the stream copy, and waits for it.
  CUresult download(void *to, CUdeviceptr from, uint64_t bytes, CUstream stream);

private:
  struct Half {
    char *memory = nullptr;
    CUevent done = nullptr; ///< of the last copy that used it
    uint64_t used = 0;      ///< bytes that copies under way may still read
  };

  CUresult prepare(Half &half);
  CUresult turn(CUstream stream);

  const DriverApi &api;
  Half halves[2];
  int current = 0;
};

} // namespace nnterp::gpu
