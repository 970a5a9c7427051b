// Addresses of a warp's memory access, and the quick tests of them.
#pragma once

#include "runtime/gpu/emulator/run/Checks.h"
#include "runtime/gpu/emulator/tier/Lanes.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

/// What all 32 addresses have in common: each lane's behind the one before, all the same, or nothing.
enum class Pattern { rows, same, mixed };

struct Addresses {
  alignas(64) uint64_t of[lanes];
};

/// [a + imm]; `b` says that the register has 32 bits.
inline void addresses(Warp &w, const Inst *i, Addresses &result) {
  const uint64_t offset = uint64_t(i->imm);
  if (i->b) {
    const uint32_t *base = at<uint32_t>(w, i->a);
    NNTERP_LANES(l) result.of[l] = uint64_t(base[l]) + offset;
  } else {
    const uint64_t *base = at<uint64_t>(w, i->a);
    NNTERP_LANES(l) result.of[l] = base[l] + offset;
  }
}

/// Inactive lanes get the address of an active one, so that tests and loads need not tell them apart.
inline void fillInactive(Warp &w, Addresses &a) {
  if (__builtin_expect(w.active == allLanes, 1))
    return;
  const uint64_t some = a.of[__builtin_ctz(w.active)];
  const uint32_t active = w.active;
  NNTERP_LANES(l) a.of[l] = has(active, l) ? a.of[l] : some;
}

template <int count> inline Pattern patternOf(const uint64_t *a, uint32_t stride) {
  const uint64_t first = a[0];
  uint64_t rows = 0, same = 0;
  for (int l = 0; l < count; ++l) {
    rows |= a[l] ^ (first + uint64_t(l) * stride);
    same |= a[l] ^ first;
  }
  return !rows ? Pattern::rows : !same ? Pattern::same : Pattern::mixed;
}
inline Pattern pattern(const Addresses &a, uint32_t stride) { return patternOf<lanes>(a.of, stride); }

/// Tiles make patterns of groups of lanes where the whole warp has none.
constexpr int groupLanes = 4, groups = lanes / groupLanes;

/// Alignment and bounds against the piece of memory that this instruction found itself in last time, then the slow test.
inline bool admitted(Warp &w, const Inst *i, Memory memory, const Addresses &a, Pattern pattern, uint32_t bytes, Access access) {
  const Site site = w.block->sites[i->site + uint32_t(memory)];
  uint64_t wrong = 0;
  if (pattern == Pattern::mixed) {
    NNTERP_LANES(l) wrong |= (a.of[l] & (bytes - 1)) | uint64_t(a.of[l] - site.low > site.span);
  } else {
    const uint64_t first = a.of[0], last = a.of[lanes - 1];
    wrong = (first & (bytes - 1)) | uint64_t(first - site.low > site.span) | uint64_t(last - site.low > site.span);
  }
  return __builtin_expect(!wrong, 1) || admit(w, i, memory, a.of, bytes, access);
}

template <class T> constexpr T writtenState = T(0x0101010101010101);

template <class T> inline uint64_t missingAt(const uint8_t *states) {
  T state;
  __builtin_memcpy(&state, states, sizeof state);
  return uint64_t(T(state ^ writtenState<T>));
}

/// Not 0 if a byte of these, a multiple of 8, was not written.
inline uint64_t missingAmong(const uint8_t *states, uint32_t bytes) {
  uint64_t missing = 0;
  for (uint32_t k = 0; k < bytes; k += 8)
    missing |= missingAt<uint64_t>(states + k);
  return missing;
}

/// Whether the bytes of shared memory were written.
template <class T> inline bool initialised(Warp &w, const Inst *i, const Addresses &a, Pattern pattern, uint32_t count) {
  const uint8_t *shadow = w.block->shadow;
  const uint32_t bytes = count * sizeof(T);
  uint64_t missing = 0;
  if (pattern == Pattern::rows)
    missing = missingAmong(shadow + a.of[0], bytes * lanes);
  else
    for (int l = 0; l < (pattern == Pattern::same ? 1 : lanes); ++l)
      for (uint32_t k = 0; k < count; ++k)
        missing |= missingAt<T>(shadow + a.of[l] + k * sizeof(T));
  return __builtin_expect(!missing, 1) || readable(w, i, a.of, bytes);
}

template <Memory memory> inline char *pointer(Warp &w, uint64_t address, int lane) {
  if (memory == Memory::shared)
    return w.block->shared + address;
  if (memory == Memory::local)
    return w.local + uint64_t(lane) * w.localBytes + address;
  return reinterpret_cast<char *>(address);
}

template <Memory memory> struct MemoryTag {
  static constexpr Memory value = memory;
};

/// Calls `part(MemoryTag, addresses)` for the lanes of each memory that generic addresses point into. False after an error.
template <class Part> inline bool byWindow(Warp &w, Addresses &a, Part &&part) {
  fillInactive(w, a);
  uint64_t high = 0;
  NNTERP_LANES(l) high |= a.of[l] & windowMask;
  if (__builtin_expect(!high, 1))
    return part(MemoryTag<Memory::global>(), a);
  const uint32_t active = w.active;
  bool good = true;
  for (uint32_t left = active; left && good; left &= ~w.active) {
    const uint64_t window = a.of[__builtin_ctz(left)] & windowMask;
    w.active = left & lanesWhere([&](int l) { return (a.of[l] & windowMask) == window; });
    Addresses inside = a;
    NNTERP_LANES(l) inside.of[l] = window == sharedWindow || window == localWindow ? a.of[l] - window : a.of[l];
    good = window == sharedWindow ? part(MemoryTag<Memory::shared>(), inside)
           : window == localWindow ? part(MemoryTag<Memory::local>(), inside)
                                   : part(MemoryTag<Memory::global>(), inside);
  }
  w.active = active;
  return good;
}

} // namespace nnterp::gpu::emulator::NNTERP_TIER
