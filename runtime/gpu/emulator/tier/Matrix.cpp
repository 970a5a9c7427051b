// ldmatrix and mma.sync: how the fragments of small matrices lie in the registers of a warp, and their product.
#include "runtime/gpu/emulator/tier/Access.h"
#include "runtime/gpu/emulator/tier/Real.h"
#include "runtime/gpu/emulator/tier/Tables.h"

#include <math.h>

namespace nnterp::gpu::emulator::NNTERP_TIER {

/// Lane 8·m + r gives the address of row r of matrix m, 8 values of 16 bits. Lane l receives of each matrix the values
/// 2·(l % 4) and the one behind of row l / 4; transposed, of column l / 4.
template <bool transposed, bool generic> const Inst *loadMatrix(Warp &w, const Inst *i) {
  if (w.active != allLanes && !wholeWarp(w, i))
    return nullptr;
  Addresses a;
  addresses(w, i, a);
  const int given = 8 * int(i->c);
  for (int l = 0; l < lanes; ++l) {
    a.of[l] = a.of[l < given ? l : 0]; // addresses of other lanes are not looked at
    if (generic && l < given && (a.of[l] & windowMask) == sharedWindow)
      a.of[l] -= sharedWindow;
  }
  if (!admitted(w, i, Memory::shared, a, Pattern::mixed, 16, Access::read) ||
      !initialised<uint64_t>(w, i, a, Pattern::mixed, 2))
    return nullptr;
  if (w.block->observed) {
    w.active = given == lanes ? allLanes : (uint32_t(1) << given) - 1;
    const bool good = observe(w, i, Memory::shared, a.of, 16, Access::read);
    w.active = allLanes;
    if (!good)
      return nullptr;
  }
  const char *shared = w.block->shared;
  for (uint32_t m = 0; m < i->c; ++m) {
    // Pairs of a row lie in four neighbouring lanes, rows one behind the other: the registers are the matrix as it
    // stands.
    alignas(64) uint16_t rows[64], columns[64];
    for (int r = 0; r < 8; ++r)
      __builtin_memcpy(rows + 8 * r, shared + a.of[8 * m + r], 16);
    if (transposed)
      for (int k = 0; k < 64; ++k)
        columns[k] = rows[8 * (k % 8) + k / 8];
    __builtin_memcpy(at<uint32_t>(w, w.block->lists[i->d + m]), transposed ? columns : rows, sizeof rows);
  }
  return i + 1;
}

/// D = A·B + C, A [16, depth] by rows, B [depth, 8] by columns. Lane l holds, with g = l / 4 and t = 2·(l % 4): of A
/// the values at (g, t), (g, t+1), then row g + 8, then both again at columns + 8; of B those at (t, g), (t+1, g), then
/// rows + 8; of C and D those at (g, t), (g, t+1), (g+8, t), (g+8, t+1). Sums are rounded to float32 term by term, from
/// k = 0 on.
#if defined(__AVX512F__)
template <class S> inline void widenPairs(__m512i pairs, __m512 (&result)[2]) {
  if (S::isBrain) {
    result[0] = _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16));
    result[1] = _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(int(0xffff0000))));
  } else {
    result[0] = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(pairs));
    result[1] = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(pairs, 16)));
  }
}

/// The registers of C are the accumulators: four neighbouring lanes share a row, so that A's values are spread within
/// them, and B's are the same for all groups of four.
template <class S, int depth> inline void multiplyFragments(Warp &w, const Slot *list) {
  constexpr int aCount = depth / 4, bCount = depth / 8;
  __m512 a[aCount][2][2],
      c[4][2]; // by register, lower half of the lanes and upper; of A also by the first and second of a pair
  alignas(64) float b[bCount][2][4][8]; // k = 8 r + 2 t + second; even columns, then odd ones
  for (int r = 0; r < aCount; ++r)
    for (int v = 0; v < 2; ++v)
      widenPairs<S>(_mm512_load_si512(at<uint32_t>(w, list[4 + r]) + 16 * v), a[r][v]);
  // Lane 4 n + t holds column n: from those of t and t + 1, columns 0, 2, 4, 6 and then 1, 3, 5, 7.
  const __m512i order = _mm512_setr_epi32(0, 8, 16, 24, 4, 12, 20, 28, 1, 9, 17, 25, 5, 13, 21, 29);
  for (int r = 0; r < bCount; ++r) {
    const uint32_t *pairs = at<uint32_t>(w, list[4 + aCount + r]);
    __m512 low[2], high[2];
    widenPairs<S>(_mm512_load_si512(pairs), low);
    widenPairs<S>(_mm512_load_si512(pairs + 16), high);
    for (int second = 0; second < 2; ++second)
      for (int t = 0; t < 4; t += 2)
        _mm512_store_ps(b[r][second][t], _mm512_permutex2var_ps(
                                             low[second], _mm512_add_epi32(order, _mm512_set1_epi32(t)), high[second]));
  }
  for (int r = 0; r < 4; ++r)
    for (int v = 0; v < 2; ++v)
      c[r][v] = _mm512_load_ps(at<float>(w, list[4 + aCount + bCount + r]) + 16 * v);
#pragma GCC unroll 16
  for (int k = 0; k < depth; ++k) {
    const int r = k / 8, t = k % 8 / 2, second = k & 1;
    const __m512 even = _mm512_broadcast_f32x4(_mm_load_ps(b[r][second][t])),
                 odd = _mm512_broadcast_f32x4(_mm_load_ps(b[r][second][t] + 4));
    for (int v = 0; v < 2; ++v) {
      const __m512 upper = _mm512_permutevar_ps(a[2 * r][v][second], _mm512_set1_epi32(t));
      const __m512 lower = _mm512_permutevar_ps(a[2 * r + 1][v][second], _mm512_set1_epi32(t));
      c[0][v] = _mm512_fmadd_ps(upper, even, c[0][v]);
      c[1][v] = _mm512_fmadd_ps(upper, odd, c[1][v]);
      c[2][v] = _mm512_fmadd_ps(lower, even, c[2][v]);
      c[3][v] = _mm512_fmadd_ps(lower, odd, c[3][v]);
    }
  }
  for (int r = 0; r < 4; ++r)
    for (int v = 0; v < 2; ++v)
      _mm512_store_ps(at<float>(w, list[r]) + 16 * v, c[r][v]);
}
#else
template <class S, int depth> inline void multiplyFragments(Warp &w, const Slot *list) {
  constexpr int aCount = depth / 4, bCount = depth / 8;
  alignas(64) float a[16][depth], b[depth][8], c[16][8];
  for (int k = 0; k < aCount; ++k) {
    const uint32_t *pairs = at<uint32_t>(w, list[4 + k]);
    for (int l = 0; l < lanes; ++l) {
      float *to = &a[l / 4 + 8 * (k & 1)][2 * (l % 4) + 8 * (k >> 1)];
      to[0] = S::widen(uint16_t(pairs[l]));
      to[1] = S::widen(uint16_t(pairs[l] >> 16));
    }
  }
  for (int k = 0; k < bCount; ++k) {
    const uint32_t *pairs = at<uint32_t>(w, list[4 + aCount + k]);
    for (int l = 0; l < lanes; ++l) {
      b[2 * (l % 4) + 8 * k][l / 4] = S::widen(uint16_t(pairs[l]));
      b[2 * (l % 4) + 1 + 8 * k][l / 4] = S::widen(uint16_t(pairs[l] >> 16));
    }
  }
  for (int k = 0; k < 4; ++k) {
    const float *from = at<float>(w, list[4 + aCount + bCount + k]);
    for (int l = 0; l < lanes; ++l)
      c[l / 4 + 8 * (k >> 1)][2 * (l % 4) + (k & 1)] = from[l];
  }
  for (int m = 0; m < 16; ++m)
    for (int k = 0; k < depth; ++k)
      for (int n = 0; n < 8; ++n)
        c[m][n] = __builtin_fmaf(a[m][k], b[k][n], c[m][n]); // the product is exact, so that this rounds the sum once
  for (int k = 0; k < 4; ++k) {
    float *to = at<float>(w, list[k]);
    for (int l = 0; l < lanes; ++l)
      to[l] = c[l / 4 + 8 * (k >> 1)][2 * (l % 4) + (k & 1)];
  }
}
#endif

template <class S, int depth> const Inst *multiply(Warp &w, const Inst *i) {
  if (w.active != allLanes && !wholeWarp(w, i))
    return nullptr;
  multiplyFragments<S, depth>(w, w.block->lists + i->x);
  return i + 1;
}

static const NamedHandler entries[] = {
    {"ldmatrix.shared", loadMatrix<false, false>},      {"ldmatrix.generic", loadMatrix<false, true>},
    {"ldmatrix.trans.shared", loadMatrix<true, false>}, {"ldmatrix.trans.generic", loadMatrix<true, true>},
    {"mma.m16n8k16.bf16", multiply<Brain, 16>},         {"mma.m16n8k16.f16", multiply<Half, 16>},
    {"mma.m16n8k8.bf16", multiply<Brain, 8>},           {"mma.m16n8k8.f16", multiply<Half, 8>},
};

HandlerTable matrixTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
