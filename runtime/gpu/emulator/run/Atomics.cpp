// Atomic operations, lane by lane; on global memory by the CPU's own, because blocks run on several threads.
#include "runtime/gpu/emulator/run/Control.h"
#include "runtime/gpu/emulator/run/Execution.h"

#include <cstring>

namespace nnterp::gpu::emulator {

struct Add {
  template <class T> static T run(T old, T b, T) { return T(old + b); }
};
struct Min {
  template <class T> static T run(T old, T b, T) { return old < b ? old : b; }
};
struct Max {
  template <class T> static T run(T old, T b, T) { return old > b ? old : b; }
};
struct And {
  template <class T> static T run(T old, T b, T) { return T(old & b); }
};
struct Or {
  template <class T> static T run(T old, T b, T) { return T(old | b); }
};
struct Xor {
  template <class T> static T run(T old, T b, T) { return T(old ^ b); }
};
struct Exchange {
  template <class T> static T run(T, T b, T) { return b; }
};
struct CompareSwap {
  template <class T> static T run(T old, T b, T c) { return old == b ? c : old; }
};
struct Increment {
  template <class T> static T run(T old, T b, T) { return old >= b ? T(0) : T(old + 1); }
};
struct Decrement {
  template <class T> static T run(T old, T b, T) { return old == 0 || old > b ? b : T(old - 1); }
};

template <class T> struct Word { using Bits = T; };
template <> struct Word<float> { using Bits = uint32_t; };
template <> struct Word<double> { using Bits = uint64_t; };
template <class To, class From> static To cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

template <class Op, class T> static T update(char *address, T b, T c) {
  using Bits = typename Word<T>::Bits;
  Bits *memory = reinterpret_cast<Bits *>(address);
  Bits old = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(memory, &old, cast<Bits>(Op::run(cast<T>(old), b, c)), false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
    ;
  return cast<T>(old);
}

enum class Where { global, shared, generic };

template <class Op, class T, Where where> static const Inst *atomic(Warp &warp, const Inst *inst) {
  const auto at = [&](Slot slot) { return warp.base[slot & 3] + (slot & ~3u); };
  Execution &execution = *warp.block->execution;
  const uint32_t active = warp.active;
  T results[lanes];
  bool good = true;
  for (int l = 0; l < lanes && good; ++l) {
    if (!(active >> l & 1))
      continue;
    uint64_t addresses[lanes];
    addresses[l] = uint64_t(inst->imm) + (inst->b ? reinterpret_cast<uint32_t *>(at(inst->a))[l]
                                                  : reinterpret_cast<uint64_t *>(at(inst->a))[l]);
    const bool shared =
        where == Where::shared || (where == Where::generic && (addresses[l] & windowMask) == sharedWindow);
    if (where == Where::generic && shared)
      addresses[l] -= sharedWindow;
    const Memory memory = shared ? Memory::shared : Memory::global;
    warp.active = uint32_t(1) << l; // the checks are for this lane alone
    const Site site = warp.block->sites[inst->site + uint32_t(memory)];
    if (addresses[l] - site.low > site.span || addresses[l] % sizeof(T))
      good = admit(warp, inst, memory, addresses, sizeof(T), Access::atomic);
    if (good && shared)
      good = readable(warp, inst, addresses, sizeof(T));
    if (good && warp.block->observed)
      good = observe(warp, inst, memory, addresses, sizeof(T), Access::atomic);
    if (good)
      results[l] = update<Op>(shared ? execution.block.shared + addresses[l] : reinterpret_cast<char *>(addresses[l]),
                              reinterpret_cast<T *>(at(inst->x))[l], reinterpret_cast<T *>(at(inst->c))[l]);
  }
  warp.active = active;
  for (int l = 0; l < lanes && good; ++l)
    if (active >> l & 1)
      reinterpret_cast<T *>(at(inst->d))[l] = results[l];
  return good ? inst + 1 : nullptr;
}

#define EACH(key, Op, T)                                                                                               \
  {"atom.global." key, atomic<Op, T, Where::global>}, {"atom.shared." key, atomic<Op, T, Where::shared>}, {            \
    "atom.generic." key, atomic<Op, T, Where::generic>                                                                 \
  }

static const NamedHandler entries[] = {
    EACH("add.u32", Add, uint32_t),
    EACH("add.s32", Add, uint32_t),
    EACH("add.u64", Add, uint64_t),
    EACH("add.s64", Add, uint64_t),
    EACH("add.f32", Add, float),
    EACH("add.f64", Add, double),
    EACH("min.u32", Min, uint32_t),
    EACH("min.s32", Min, int32_t),
    EACH("min.u64", Min, uint64_t),
    EACH("min.s64", Min, int64_t),
    EACH("max.u32", Max, uint32_t),
    EACH("max.s32", Max, int32_t),
    EACH("max.u64", Max, uint64_t),
    EACH("max.s64", Max, int64_t),
    EACH("and.b32", And, uint32_t),
    EACH("and.b64", And, uint64_t),
    EACH("or.b32", Or, uint32_t),
    EACH("or.b64", Or, uint64_t),
    EACH("xor.b32", Xor, uint32_t),
    EACH("xor.b64", Xor, uint64_t),
    EACH("exch.b32", Exchange, uint32_t),
    EACH("exch.b64", Exchange, uint64_t),
    EACH("cas.b16", CompareSwap, uint16_t),
    EACH("cas.b32", CompareSwap, uint32_t),
    EACH("cas.b64", CompareSwap, uint64_t),
    EACH("inc.u32", Increment, uint32_t),
    EACH("dec.u32", Decrement, uint32_t),
};
HandlerTable atomicTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator
