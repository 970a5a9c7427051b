// Compares accesses to a byte with those before.
#include "runtime/gpu/emulator/run/Races.h"

namespace nnterp::gpu::emulator {

const Accessor *ByteHistory::add(const Accessor &access, bool write) {
  if (writer && access.unorderedWith(writer) && !(access.atomic && writer.atomic))
    return &writer;
  if (!write) {
    if (reader && access.unorderedWith(reader))
      otherReader = reader;
    reader = access;
    return nullptr;
  }
  for (const Accessor *earlier : {&reader, &otherReader})
    if (*earlier && access.unorderedWith(*earlier))
      return earlier;
  writer = access;
  reader = otherReader = {}; // ordered before this write, and so before all that is ordered behind it
  return nullptr;
}

const Accessor *addAccess(ByteHistory *histories, uint64_t address, uint32_t bytes, const Accessor &access, bool write,
                          uint32_t &at) {
  constexpr uint32_t word = 4;
  at = 0;
  if (bytes < word) {
    ByteHistory *first = histories - address % word;
    if (!first->single) {
      for (uint32_t k = 1; k < word; ++k)
        first[k] = *first;
      first->single = true;
    }
  }
  while (at < bytes) {
    if (const Accessor *other = histories[at].add(access, write))
      return other;
    at += bytes >= word && at % word == 0 && !histories[at].single ? word : 1;
  }
  return nullptr;
}

} // namespace nnterp::gpu::emulator
