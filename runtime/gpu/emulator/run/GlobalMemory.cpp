// Allocations of the emulated device.
#include "runtime/gpu/emulator/run/GlobalMemory.h"

#include <cstdlib>
#include <cstring>

namespace nnterp::gpu::emulator {

// In front and behind, so that an access a little outside meets nobody's memory.
static constexpr uint64_t gap = 512, alignment = 256;

GlobalMemory::~GlobalMemory() {
  for (auto &[address, allocation] : allocations)
    std::free(allocation.raw);
}

void *GlobalMemory::allocate(uint64_t bytes) {
  if (bytes > uint64_t(1) << 46)
    return nullptr;
  Allocation allocation;
  allocation.raw = std::aligned_alloc(alignment, 2 * gap + (bytes + alignment - 1) / alignment * alignment);
  if (!allocation.raw)
    return nullptr;
  char *memory = static_cast<char *>(allocation.raw) + gap;
  if (bytes <= uint64_t(1) << 28)     // more is left untouched, lest memory be taken that nobody needs
    std::memset(memory, 0xff, bytes); // NaN in every float type, -1 as an integer
  allocation.address = reinterpret_cast<uint64_t>(memory);
  allocation.bytes = bytes;
  allocation.number = ++count;
  if (followWritten)
    allocation.written.assign(bytes, 0);
  allocations[allocation.address] = std::move(allocation);
  return memory;
}

bool GlobalMemory::release(void *memory) {
  const auto found = allocations.find(reinterpret_cast<uint64_t>(memory));
  if (found == allocations.end())
    return false;
  std::free(found->second.raw);
  allocations.erase(found);
  return true;
}

Allocation *GlobalMemory::find(uint64_t address) {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return nullptr;
  Allocation &allocation = std::prev(next)->second;
  return address == allocation.address || address - allocation.address < allocation.bytes ? &allocation : nullptr;
}

Allocation *GlobalMemory::findRange(uint64_t address, uint64_t bytes) {
  Allocation *found = find(address);
  return found && bytes <= found->bytes - (address - found->address) ? found : nullptr;
}

} // namespace nnterp::gpu::emulator
