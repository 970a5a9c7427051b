// Finds data races: for each byte, who wrote and who read it last, and in which interval between barriers.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace nnterp::gpu::emulator {

/// A thread at one of its accesses; line 0: nobody.
struct Accessor {
  uint32_t block = 0;    ///< number in the grid
  uint32_t interval = 0; ///< barriers of the block before
  uint16_t thread = 0;   ///< number in the block
  uint16_t syncs = 0;    ///< bar.warp.sync of the warp before
  uint32_t line : 31;
  uint32_t atomic : 1;

  Accessor() : line(0), atomic(0) {}
  explicit operator bool() const { return line != 0; }
  /// Nothing orders the two, and they are two threads.
  bool unorderedWith(const Accessor &other) const {
    if (block != other.block)
      return true;
    if (thread == other.thread || interval != other.interval)
      return false;
    return thread / 32 != other.thread / 32 || syncs == other.syncs;
  }
};

/// History of one byte. Of readers, the last one and one that was in another thread are enough: a writer differs from one of them.
struct ByteHistory {
  Accessor writer, reader, otherReader;
  bool single = false; ///< of the first byte of a word of 4: its bytes have histories of their own

  /// The earlier access that races with this one, or null; then the history takes it in.
  const Accessor *add(const Accessor &access, bool write);
};

/// The same for the bytes of an aligned access, whose histories begin at `histories`; `at` is the byte that the race is about. Words of
/// 4 bytes share a history until one of their bytes is accessed by itself.
const Accessor *addAccess(ByteHistory *histories, uint64_t address, uint32_t bytes, const Accessor &access, bool write, uint32_t &at);

class SharedRaces {
public:
  void begin(uint64_t bytes) { histories.assign(bytes + 4, {}); } // a last word may be cut off
  ByteHistory *at(uint64_t address) { return &histories[address]; }

private:
  std::vector<ByteHistory> histories;
};

/// Of one launch. Pages of histories appear as they are touched; an aligned access lies in one of them.
class GlobalRaces {
public:
  ByteHistory *at(uint64_t address) {
    if (address >> pageBits != lastNumber) {
      auto &page = pages[address >> pageBits];
      if (!page)
        page = std::make_unique<ByteHistory[]>(size_t(1) << pageBits);
      lastNumber = address >> pageBits;
      last = page.get();
    }
    return last + (address & ((uint64_t(1) << pageBits) - 1));
  }

private:
  static constexpr int pageBits = 8;
  std::unordered_map<uint64_t, std::unique_ptr<ByteHistory[]>> pages;
  uint64_t lastNumber = ~uint64_t(0);
  ByteHistory *last = nullptr;
};

} // namespace nnterp::gpu::emulator
