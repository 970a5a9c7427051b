// Loops over the lanes of a warp. Included only by files that are compiled once per instruction set of the CPU: everything is in a
// namespace of the tier.
#pragma once

#include "runtime/gpu/emulator/run/Machine.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Lanes are independent: a destination is the same register as a source or another one altogether.
#if defined(__clang__)
#define NNTERP_LANES(l) _Pragma("clang loop vectorize(assume_safety)") for (int l = 0; l < lanes; ++l)
#else
#define NNTERP_LANES(l) _Pragma("GCC ivdep") for (int l = 0; l < lanes; ++l)
#endif

// A loop becomes vector instructions only if what its body captures is in registers.
#define NNTERP_INLINE inline __attribute__((always_inline))

namespace nnterp::gpu::emulator::NNTERP_TIER {

template <class T> inline T *at(Warp &w, Slot slot) {
  return static_cast<T *>(__builtin_assume_aligned(w.base[slot & 3] + (slot & ~3u), sizeof(T) * lanes < 64 ? sizeof(T) * lanes : 64));
}
inline uint32_t &predicate(Warp &w, Slot slot) { return *reinterpret_cast<uint32_t *>(w.base[slot & 3] + (slot & ~3u)); }
inline bool has(uint32_t mask, int lane) { return mask >> lane & 1; }

/// Writes the results of active lanes.
template <class T> inline void blend(T *d, const T *results, uint32_t mask) {
  NNTERP_LANES(l) d[l] = has(mask, l) ? results[l] : d[l];
}

template <class T, class F> NNTERP_INLINE void store(Warp &w, Slot slot, F &&result) {
  T *d = at<T>(w, slot);
  if (__builtin_expect(w.active == allLanes, 1)) {
    NNTERP_LANES(l) d[l] = result(l);
    return;
  }
  alignas(64) T results[lanes];
  NNTERP_LANES(l) results[l] = result(l);
  blend(d, results, w.active);
}

template <class Op, class D, class A = D> const Inst *unary(Warp &w, const Inst *i) {
  const A *a = at<A>(w, i->a);
  store<D>(w, i->d, [=](int l) __attribute__((always_inline)) { return D(Op::run(a[l])); });
  return i + 1;
}

template <class Op, class D, class A = D, class B = A> const Inst *binary(Warp &w, const Inst *i) {
  const A *a = at<A>(w, i->a);
  const B *b = at<B>(w, i->b);
  store<D>(w, i->d, [=](int l) __attribute__((always_inline)) { return D(Op::run(a[l], b[l])); });
  return i + 1;
}

template <class Op, class D, class A = D, class B = A, class C = B> const Inst *ternary(Warp &w, const Inst *i) {
  const A *a = at<A>(w, i->a);
  const B *b = at<B>(w, i->b);
  const C *c = at<C>(w, i->c);
  store<D>(w, i->d, [=](int l) __attribute__((always_inline)) { return D(Op::run(a[l], b[l], c[l])); });
  return i + 1;
}

/// One bit of each lane's 0 or -1.
inline uint32_t pack(const int32_t *flags) {
  uint32_t mask = 0;
#if defined(__AVX512DQ__)
  for (int l = 0; l < lanes; l += 16)
    mask |= uint32_t(_mm512_movepi32_mask(_mm512_load_si512(flags + l))) << l;
#elif defined(__AVX2__)
  for (int l = 0; l < lanes; l += 8)
    mask |= uint32_t(_mm256_movemask_ps(_mm256_load_ps(reinterpret_cast<const float *>(flags + l)))) << l;
#elif defined(__x86_64__)
  for (int l = 0; l < lanes; l += 4)
    mask |= uint32_t(_mm_movemask_ps(_mm_load_ps(reinterpret_cast<const float *>(flags + l)))) << l;
#else
  for (int l = 0; l < lanes; ++l)
    mask |= uint32_t(flags[l] & 1) << l;
#endif
  return mask;
}

/// The lanes for which `holds` is true.
template <class F> NNTERP_INLINE uint32_t lanesWhere(F &&holds) {
  alignas(64) int32_t flags[lanes];
  NNTERP_LANES(l) flags[l] = holds(l) ? -1 : 0;
  return pack(flags);
}

inline void storePredicate(Warp &w, Slot slot, uint32_t value) {
  uint32_t &d = predicate(w, slot);
  d = (d & ~w.active) | (value & w.active);
}

} // namespace nnterp::gpu::emulator::NNTERP_TIER
