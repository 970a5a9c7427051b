// Global memory: allocations of exact size with gaps between them.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace nnterp::gpu::emulator {

struct Allocation {
  uint64_t address = 0, bytes = 0;
  uint64_t number = 0; ///< counted from 1, for messages
  void *raw = nullptr; ///< what the system gave
  std::vector<uint8_t> written; ///< by byte, if that is followed
};

class GlobalMemory {
public:
  explicit GlobalMemory(bool followWritten) : followWritten(followWritten) {}
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory &) = delete;

  /// Aligned to 256 bytes, filled with a pattern that is no sensible number unless it is very large; null if the system has none left.
  void *allocate(uint64_t bytes);
  /// False if it is not the beginning of an allocation.
  bool release(void *memory);
  /// The allocation that holds the address, or begins there and has no bytes; null if there is none.
  Allocation *find(uint64_t address);
  /// The allocation that holds all of these bytes.
  Allocation *findRange(uint64_t address, uint64_t bytes);

private:
  const bool followWritten;
  uint64_t count = 0;
  std::map<uint64_t, Allocation> allocations; ///< by address
};

} // namespace nnterp::gpu::emulator
