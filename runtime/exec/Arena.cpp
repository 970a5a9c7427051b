// Size-class allocation for compiled programs.
#include "runtime/exec/Arena.h"

#include <algorithm>
#include <cstdlib>

namespace nnterp {

static constexpr uint64_t alignment = 64;
/// Blocks above this come from the system one by one.
static constexpr uint64_t largestSmall = uint64_t(1) << 18;
static constexpr uint64_t largestChunk = uint64_t(1) << 24;

/// Stands before each block. It takes one unit of alignment, so that what follows is aligned.
struct alignas(alignment) HostArena::Header {
  Header *next;
  uint64_t bytes; ///< of the block's class
  size_t sizeClass;
};

SizeClass SizeClass::of(uint64_t bytes) {
  const uint64_t units = std::max<uint64_t>(1, bytes / alignment + (bytes % alignment != 0));
  if (units <= 4)
    return {size_t(units - 1), units * alignment};
  const int shift = 61 - __builtin_clzll(units - 1); // the two bits below the leading one choose the step
  const uint64_t step = uint64_t(1) << shift, steps = (units + step - 1) / step; // 5 to 8
  return {size_t(shift) * 4 + size_t(steps - 1), steps * step * alignment};
}

HostArena::~HostArena() { clear(); }

void HostArena::clear() {
  std::lock_guard lock(mutex);
  for (void *chunk : chunks)
    std::free(chunk);
  chunks.clear();
  freeBlocks.clear();
  cursor = nullptr;
  left = current = peak = reserved = 0;
}

void *HostArena::reserve(uint64_t bytes) {
  void *memory = std::aligned_alloc(alignment, bytes);
  if (memory) {
    chunks.push_back(memory);
    reserved += bytes;
    ++taken;
  }
  return memory;
}

void *HostArena::carve(uint64_t bytes) {
  if (bytes > largestSmall)
    return reserve(bytes);
  if (bytes > left) { // what is left of the old chunk is given up: less than a block
    void *chunk = reserve(nextChunk);
    if (!chunk)
      return nullptr;
    cursor = static_cast<char *>(chunk);
    left = nextChunk;
    nextChunk = std::min(nextChunk * 2, largestChunk);
  }
  void *memory = cursor;
  cursor += bytes;
  left -= bytes;
  return memory;
}

void *HostArena::allocate(uint64_t bytes) {
  if (bytes > uint64_t(1) << 62)
    return nullptr;
  const SizeClass size = SizeClass::of(bytes);
  std::lock_guard lock(mutex);
  if (size.index >= freeBlocks.size())
    freeBlocks.resize(size.index + 1, nullptr);
  Header *header = freeBlocks[size.index];
  if (header) {
    freeBlocks[size.index] = header->next;
  } else {
    header = static_cast<Header *>(carve(size.bytes + sizeof(Header)));
    if (!header)
      return nullptr;
    *header = {nullptr, size.bytes, size.index};
  }
  current += size.bytes;
  peak = std::max(peak, current);
  return header + 1;
}

void HostArena::release(void *memory) {
  if (!memory)
    return;
  Header *header = static_cast<Header *>(memory) - 1;
  std::lock_guard lock(mutex);
  current -= header->bytes;
  header->next = freeBlocks[header->sizeClass];
  freeBlocks[header->sizeClass] = header;
}

} // namespace nnterp
