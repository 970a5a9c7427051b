// A hash index over elements that are kept elsewhere: a quarter of a million vocabulary entries have to load at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace nnterp {

/// Finds elements by hash; what equality means is the caller's business. Open addressing, linear probing.
class FlatIndex {
public:
  void reserve(size_t elements) {
    size_t slotCount = 16;
    while (slotCount < 2 * elements)
      slotCount *= 2;
    if (slotCount > slots.size())
      rebuild(slotCount);
  }

  /// The number of the element with this hash for which `equal(number)` holds.
  template <class Equal> std::optional<uint32_t> find(uint32_t hash, Equal equal) const {
    if (slots.empty())
      return std::nullopt;
    for (size_t at = hash & (slots.size() - 1); slots[at].used; at = (at + 1) & (slots.size() - 1))
      if (slots[at].hash == hash && equal(slots[at].element))
        return slots[at].element;
    return std::nullopt;
  }

  /// Adds an element that is not there yet.
  void insert(uint32_t hash, uint32_t element) {
    reserve(++count);
    place({hash, element, true});
  }

private:
  struct Slot {
    uint32_t hash = 0, element = 0;
    bool used = false;
  };

  void place(const Slot &slot) {
    size_t at = slot.hash & (slots.size() - 1);
    while (slots[at].used)
      at = (at + 1) & (slots.size() - 1);
    slots[at] = slot;
  }

  void rebuild(size_t slotCount) {
    std::vector<Slot> old(slotCount);
    old.swap(slots);
    for (const Slot &slot : old)
      if (slot.used)
        place(slot);
  }

  std::vector<Slot> slots; ///< a power of two, at least twice the elements
  size_t count = 0;
};

} // namespace nnterp
