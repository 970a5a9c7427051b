// Loads and stores of registers and small vectors of them.
#include "runtime/gpu/emulator/tier/Access.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

// Fields: a address, b whether it has 32 bits, c how many registers, d the register or, of several, their place among
// the lists.
inline Slot operand(Warp &w, const Inst *i, uint32_t k) { return i->c == 1 ? i->d : w.block->lists[i->d + k]; }

/// One value for each lane whose addresses have no pattern as a whole; also whether one of them was not written, of
/// shared memory.
template <Memory memory, class T, class R> inline uint64_t gather(Warp &w, const Addresses &a, R *values) {
  const uint8_t *shadow = w.block->shadow;
  const char *base = memory == Memory::shared ? w.block->shared : nullptr;
  uint64_t missing = 0;
  for (int g = 0; g < groups; ++g) {
    const uint64_t *of = a.of + g * groupLanes;
    R *to = values + g * groupLanes;
    const T *first = reinterpret_cast<const T *>(base + of[0]);
    switch (patternOf<groupLanes>(of, sizeof(T))) {
    case Pattern::rows:
      for (int l = 0; l < groupLanes; ++l)
        to[l] = R(first[l]);
      if (memory == Memory::shared)
        missing |=
            sizeof(T) == 1 ? missingAt<uint32_t>(shadow + of[0]) : missingAmong(shadow + of[0], groupLanes * sizeof(T));
      break;
    case Pattern::same:
      for (int l = 0; l < groupLanes; ++l)
        to[l] = R(*first);
      if (memory == Memory::shared)
        missing |= missingAt<T>(shadow + of[0]);
      break;
    case Pattern::mixed:
      for (int l = 0; l < groupLanes; ++l) {
        to[l] = R(*reinterpret_cast<const T *>(base + of[l]));
        if (memory == Memory::shared)
          missing |= missingAt<T>(shadow + of[l]);
      }
      break;
    }
  }
  return missing;
}

template <Memory memory, class T, class R> inline bool loadFrom(Warp &w, const Inst *i, Addresses &a) {
  fillInactive(w, a);
  const uint32_t count = i->c, bytes = count * sizeof(T);
  const Pattern how = pattern(a, bytes);
  if (!admitted(w, i, memory, a, how, bytes, Access::read) ||
      (memory == Memory::shared && (count > 1 || how != Pattern::mixed) && !initialised<T>(w, i, a, how, count)) ||
      (w.block->observed && memory != Memory::local && !observe(w, i, memory, a.of, bytes, Access::read)))
    return false;
  if (count == 1 && how == Pattern::rows && memory != Memory::local) {
    const T *from = reinterpret_cast<const T *>(pointer<memory>(w, a.of[0], 0));
    store<R>(
        w, i->d, [=](int l) __attribute__((always_inline)) { return R(from[l]); });
    return true;
  }
  if (count == 1 && how == Pattern::mixed && memory != Memory::local) {
    alignas(64) R values[lanes];
    if (gather<memory, T>(w, a, values) && !readable(w, i, a.of, bytes))
      return false;
    store<R>(
        w, i->d, [&](int l) __attribute__((always_inline)) { return values[l]; });
    return true;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const Slot d = operand(w, i, k);
    if (how == Pattern::same && memory != Memory::local) {
      const R value = R(*reinterpret_cast<const T *>(pointer<memory>(w, a.of[0], 0) + k * sizeof(T)));
      store<R>(
          w, d, [=](int) __attribute__((always_inline)) { return value; });
      continue;
    }
    alignas(64) R values[lanes];
    for (int l = 0; l < lanes; ++l)
      values[l] = R(*reinterpret_cast<const T *>(pointer<memory>(w, a.of[l], l) + k * sizeof(T)));
    store<R>(
        w, d, [&](int l) __attribute__((always_inline)) { return values[l]; });
  }
  return true;
}

template <Memory memory, class T, class R> inline bool storeTo(Warp &w, const Inst *i, Addresses &a) {
  fillInactive(w, a);
  const uint32_t count = i->c, bytes = count * sizeof(T), active = w.active;
  const Pattern how = pattern(a, bytes);
  if (!admitted(w, i, memory, a, how, bytes, Access::write) ||
      (w.block->observed && memory != Memory::local && !observe(w, i, memory, a.of, bytes, Access::write)))
    return false;
  if (memory == Memory::shared) {
    uint8_t *shadow = w.block->shadow;
    if (how == Pattern::rows)
      __builtin_memset(shadow + a.of[0], written, bytes * lanes);
    else
      for (int l = 0; l < lanes; ++l) // inactive lanes repeat an active one
        for (uint32_t k = 0; k < count; ++k)
          __builtin_memcpy(shadow + a.of[l] + k * sizeof(T), &writtenState<T>, sizeof(T));
  }
  if (count == 1 && how == Pattern::rows && active == allLanes && memory != Memory::local) {
    T *to = reinterpret_cast<T *>(pointer<memory>(w, a.of[0], 0));
    const R *from = at<R>(w, i->d);
    NNTERP_LANES(l) to[l] = T(from[l]);
    return true;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const R *from = at<R>(w, operand(w, i, k));
    for (int l = 0; l < lanes; ++l)
      if (has(active, l))
        *reinterpret_cast<T *>(pointer<memory>(w, a.of[l], l) + k * sizeof(T)) = T(from[l]);
  }
  return true;
}

template <Memory memory, class T, class R> const Inst *load(Warp &w, const Inst *i) {
  Addresses a;
  addresses(w, i, a);
  return loadFrom<memory, T, R>(w, i, a) ? i + 1 : nullptr;
}
template <Memory memory, class T, class R> const Inst *write(Warp &w, const Inst *i) {
  Addresses a;
  addresses(w, i, a);
  return storeTo<memory, T, R>(w, i, a) ? i + 1 : nullptr;
}

template <class T, class R> const Inst *loadGeneric(Warp &w, const Inst *i) {
  Addresses a;
  addresses(w, i, a);
  return byWindow(w, a, [&](auto tag, Addresses &inside) { return loadFrom<decltype(tag)::value, T, R>(w, i, inside); })
             ? i + 1
             : nullptr;
}
template <class T, class R> const Inst *writeGeneric(Warp &w, const Inst *i) {
  Addresses a;
  addresses(w, i, a);
  return byWindow(w, a, [&](auto tag, Addresses &inside) { return storeTo<decltype(tag)::value, T, R>(w, i, inside); })
             ? i + 1
             : nullptr;
}

#define EACH(key, t, T, r, R)                                                                                          \
  {key ".global." t "." r, ACCESS(Memory::global, T, R)}, {key ".shared." t "." r, ACCESS(Memory::shared, T, R)},      \
      {key ".local." t "." r, ACCESS(Memory::local, T, R)}, {                                                          \
    key ".generic." t "." r, GENERIC(T, R)                                                                             \
  }
#define FROM8(key, t, T)                                                                                               \
  EACH(key, t, T, "b16", uint16_t), EACH(key, t, T, "b32", uint32_t), EACH(key, t, T, "b64", uint64_t)
#define FROM16(key, t, T) FROM8(key, t, T)
#define FROM32(key, t, T) EACH(key, t, T, "b32", uint32_t), EACH(key, t, T, "b64", uint64_t)

static const NamedHandler entries[] = {
#define ACCESS(memory, T, R) load<memory, T, R>
#define GENERIC(T, R) loadGeneric<T, R>
    FROM8("ld", "b8", uint8_t),
    FROM8("ld", "s8", int8_t),
    FROM16("ld", "b16", uint16_t),
    FROM16("ld", "s16", int16_t),
    FROM32("ld", "b32", uint32_t),
    FROM32("ld", "s32", int32_t),
    EACH("ld", "b64", uint64_t, "b64", uint64_t),
#undef ACCESS
#undef GENERIC
#define ACCESS(memory, T, R) write<memory, T, R>
#define GENERIC(T, R) writeGeneric<T, R>
    FROM8("st", "b8", uint8_t),
    FROM16("st", "b16", uint16_t),
    FROM32("st", "b32", uint32_t),
    EACH("st", "b64", uint64_t, "b64", uint64_t),
};

HandlerTable memoryTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
