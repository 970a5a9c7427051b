// The memory that compiled programs allocate from: blocks are kept and handed out again, so a run settles quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nnterp {

/// Blocks of 64-byte alignment in size classes, each with a list of free blocks. Small blocks are cut from chunks,
/// large ones are allocated on their own. Memory goes back to the system when the arena is destroyed. Thread-safe.
class Arena {
public:
  Arena() = default;
  ~Arena();
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// A block of at least `bytes` (0 is served too); null only when the system has no memory left.
  void *allocate(uint64_t bytes);
  /// Gives back what `allocate` returned; null is ignored.
  void release(void *memory);

  /// Takes back every block that is handed out and returns all memory to the system.
  void clear();
  /// From now on the peak is that of what follows.
  void restartPeak() { peak = current; }

  uint64_t currentBytes() const { return current; }   ///< in blocks handed out, as rounded up to their class
  uint64_t peakBytes() const { return peak; }         ///< the most that was handed out at once
  uint64_t reservedBytes() const { return reserved; } ///< taken from the system
  uint64_t systemAllocations() const { return taken; } ///< how often the system was asked for memory

private:
  struct Header;

  void *carve(uint64_t bytes);
  void *reserve(uint64_t bytes);

  std::mutex mutex;
  std::vector<Header *> freeBlocks; ///< heads of the lists, by class
  std::vector<void *> chunks;       ///< what came from the system
  char *cursor = nullptr;           ///< free part of the newest chunk of small blocks
  uint64_t left = 0;
  uint64_t nextChunk = uint64_t(1) << 20;
  uint64_t current = 0, peak = 0, reserved = 0, taken = 0;
};

} // namespace nnterp
