// Keeps blocks of a device's memory.
#include "runtime/exec/DeviceArena.h"
#include "runtime/gpu/Device.h"

#include <algorithm>

namespace nnterp {

void *DeviceArena::allocate(uint64_t bytes) {
  if (bytes > uint64_t(1) << 62)
    return nullptr;
  const uint64_t size = exact ? bytes : SizeClass::of(bytes).bytes;
  void *memory = nullptr;
  if (auto found = freeBlocks.find(size); found != freeBlocks.end() && !found->second.empty()) {
    memory = found->second.back();
    found->second.pop_back();
  } else {
    if (frozen)
      return nullptr;
    memory = device.allocate(size);
    if (!memory && trim())
      memory = device.allocate(size);
    if (!memory)
      return nullptr;
    reserved += size;
    ++taken;
  }
  held[memory] = size;
  current += size;
  peak = std::max(peak, current);
  return memory;
}

void DeviceArena::release(void *memory) {
  auto found = held.find(memory);
  if (found == held.end())
    return;
  const uint64_t size = found->second;
  held.erase(found);
  current -= size;
  if (!exact || keepExact) {
    freeBlocks[size].push_back(memory);
    return;
  }
  reserved -= size;
  device.release(memory);
}

bool DeviceArena::trim() {
  bool any = false;
  for (auto &[size, blocks] : freeBlocks)
    for (void *memory : blocks) {
      device.release(memory);
      reserved -= size;
      any = true;
    }
  freeBlocks.clear();
  returned += any;
  return any;
}

void DeviceArena::clear() {
  while (!held.empty()) {
    const auto [memory, size] = *held.begin();
    held.erase(held.begin());
    freeBlocks[size].push_back(memory);
  }
  current = 0;
  trim();
}

} // namespace nnterp
