// Calls of a program whose kernels run on a device.
#pragma once

#include "runtime/abi/Frame.h"
#include "runtime/abi/Manifest.h"
#include "runtime/exec/DeviceArena.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

namespace gpu {
class Device;
}

/// A device with a program's kernels on it.
///
/// Steps are repeated: the first one with some descriptor table runs as any call does, the second is recorded, and from then on the
/// recording is replayed as long as the table stays as it is. A table changes when caches grow.
class DeviceCalls {
public:
  /// Loads the kernels. Errors: those of gpu::Device::load, NNT1742.
  static std::unique_ptr<DeviceCalls> make(std::shared_ptr<gpu::Device> device, std::string_view code,
                                           const Manifest &manifest, Diagnostics &diags);
  ~DeviceCalls();
  DeviceCalls(const DeviceCalls &) = delete;

  /// One call: `enter` runs the program's host code on a frame, false when it was left because memory ran out. False
  /// after an error, or when `enter` said so. Errors: those of gpu::Device, NNT1743.
  bool call(const std::vector<abi::Slot> &slots, bool step, const std::function<bool(const abi::Frame &)> &enter,
            Diagnostics &diags);
  /// What the host code hands in.
  void launch(int64_t kernel, const int64_t *geometry, const void *const *parameters);

  /// What kernels stored in the last call: by the plan's entry, 0 or a reason. Waits for the call. Errors: those of gpu::Device.
  bool failures(std::vector<int64_t> &reasons, Diagnostics &diags);

  Arena &memory() { return arena; }
  /// Gives memory back that no call holds; whether there was any.
  bool trim() { return arena.trim(); }
  int64_t replays() const { return replayed; } ///< steps that were replayed
  std::string description() const;

private:
  DeviceCalls(std::shared_ptr<gpu::Device> device, size_t kernels, size_t failures);
  bool record(const std::function<bool(const abi::Frame &)> &enter, const abi::Frame &frame, Diagnostics &diags);
  void forget();

  std::shared_ptr<gpu::Device> device;
  const int64_t kernels;
  DeviceArena arena;
  std::vector<int64_t> zeros; ///< as many as there may be failures
  int64_t *stored = nullptr;  ///< on the device
  Diagnostics *diags = nullptr; ///< of the call in progress
  bool good = true;             ///< of its launches
  std::vector<abi::Slot> seen;  ///< the table of the last step
  uint64_t generation = 0;      ///< of the arena when the recording was made
  int64_t recording = -1, replayed = 0;
};

} // namespace nnterp
