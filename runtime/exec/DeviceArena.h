// Intermediate values on a device.
#pragma once

#include "runtime/exec/Arena.h"

#include <unordered_map>

namespace nnterp {

namespace gpu {
class Device;
}

/// Blocks of a device's memory, kept by size and handed out again, the last one released first: a call that allocates
/// as the one before it gets the same addresses, so that a recorded call stays right.
///
/// Where a device checks every access against the block it falls into, blocks are exactly as large as asked for, and
/// those that are not kept go back at once, so that nothing reads what was released.
class DeviceArena : public Arena {
public:
  DeviceArena(gpu::Device &device, bool exact) : device(device), exact(exact) {}
  ~DeviceArena() override { clear(); }
  DeviceArena(const DeviceArena &) = delete;
  DeviceArena &operator=(const DeviceArena &) = delete;

  void *allocate(uint64_t bytes) override;
  void release(void *memory) override;
  void clear() override;

  /// Gives blocks that nobody holds back to the device; whether there were any.
  bool trim();
  /// Whether blocks are kept from now on even where they are exact: calls are about to be repeated.
  void keep(bool kept) { keepExact = kept; }
  /// Whether the device may be asked for memory: not while a call is recorded.
  void freeze(bool frozen) { this->frozen = frozen; }
  /// Changes when blocks went back to the device: what was recorded before may use them no more.
  uint64_t generation() const { return returned; }

private:
  gpu::Device &device;
  const bool exact;
  bool keepExact = false, frozen = false;
  std::unordered_map<uint64_t, std::vector<void *>> freeBlocks; ///< by size
  std::unordered_map<void *, uint64_t> held;                    ///< sizes of blocks that are handed out
  uint64_t returned = 0;
};

} // namespace nnterp
