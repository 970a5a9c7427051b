// The memory that compiled programs allocate from: blocks are kept and handed out again, so a run settles quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace nnterp {

/// Intermediate values of a program's calls, here or on a device.
class Arena {
public:
  virtual ~Arena() = default;

  /// A block of at least `bytes` (0 is served too); null only when there is no memory left.
  virtual void *allocate(uint64_t bytes) = 0;
  /// Gives back what `allocate` returned; null is ignored.
  virtual void release(void *memory) = 0;
  /// Takes back every block that is handed out and returns all memory to where it came from.
  virtual void clear() = 0;

  /// From now on the peak is that of what follows.
  void restartPeak() { peak = current; }
  uint64_t currentBytes() const { return current; }    ///< in blocks handed out, as rounded up to their class
  uint64_t peakBytes() const { return peak; }          ///< the most that was handed out at once
  uint64_t reservedBytes() const { return reserved; }  ///< taken from the system or the device
  uint64_t systemAllocations() const { return taken; } ///< how often that was asked for memory

protected:
  uint64_t current = 0, peak = 0, reserved = 0, taken = 0;
};

/// Size classes of blocks, four per power of two: at most a quarter of a block is unused.
struct SizeClass {
  size_t index;
  uint64_t bytes;
  static SizeClass of(uint64_t bytes);
};

/// Blocks of 64-byte alignment in the process's memory, by size class with a list of free blocks each. Small blocks are cut from
/// chunks, large ones are allocated on their own. Memory goes back to the system when the arena is destroyed. Thread-safe.
class HostArena : public Arena {
public:
  HostArena() = default;
  ~HostArena() override;
  HostArena(const HostArena &) = delete;
  HostArena &operator=(const HostArena &) = delete;

  void *allocate(uint64_t bytes) override;
  void release(void *memory) override;
  void clear() override;

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
};

} // namespace nnterp
