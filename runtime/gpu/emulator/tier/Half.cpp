// Arithmetic of 16-bit floats and of pairs of them. Sums and products are exact enough in float32 that one more
// rounding is right; a fused product and sum is rounded to odd in float64 first.
#include "runtime/gpu/emulator/tier/Real.h"
#include "runtime/gpu/emulator/tier/Tables.h"

#include <math.h>

namespace nnterp::gpu::emulator::NNTERP_TIER {

struct Add {
  static float run(float a, float b) { return a + b; }
};
struct Sub {
  static float run(float a, float b) { return a - b; }
};
struct Mul {
  static float run(float a, float b) { return a * b; }
};
struct Min {
  static float run(float a, float b) { return minimum<false>(a, b); }
};
struct Max {
  static float run(float a, float b) { return maximum<false>(a, b); }
};
struct MinNan {
  static float run(float a, float b) { return minimum<true>(a, b); }
};
struct MaxNan {
  static float run(float a, float b) { return maximum<true>(a, b); }
};
struct Exp2 {
  static float run(float a) { return float(exp2(double(a))); }
};
struct Tanh {
  static float run(float a) { return float(tanh(double(a))); }
};

/// a·b + c of 16-bit floats: the product is exact in float64, the sum gets its last bit from what was lost.
inline float fusedOdd(float a, float b, float c) {
  const double product = double(a) * double(b), sum = product + double(c);
  const double part = sum - product, lost = (product - (sum - part)) + (double(c) - part);
  uint64_t bits = cast<uint64_t>(sum);
  if (lost == lost && lost != 0 && !(bits & 1) && sum - sum == 0) {
    // The exact sum lies between two neighbours; the odd one of them is on the side of what was lost.
    bits += (lost > 0) == (sum > 0) ? 1 : -1;
  }
  return toOdd(cast<double>(bits));
}

// A subnormal of float16 has no bits in the exponent; bfloat16's are those of float32.
inline uint16_t flushHalf(uint16_t a) { return a & 0x7c00 ? a : a & 0x8000; }
template <class S> inline uint16_t relu(uint16_t a) {
  return (a & 0x7fff) > (S::widen(0x7f80) > 1e30f ? 0x7f80 : 0x7c00) ? uint16_t(0x7fff) : a & 0x8000 ? uint16_t(0) : a;
}
template <class S> inline uint16_t clamp01(uint16_t a) { return S::narrow(saturate(S::widen(a))); }

template <class S, class Op> struct Through {
  static uint16_t run(uint16_t a) { return S::narrow(Op::run(S::widen(a))); }
  static uint16_t run(uint16_t a, uint16_t b) { return S::narrow(Op::run(S::widen(a), S::widen(b))); }
};
template <class S> struct Fma {
  static uint16_t run(uint16_t a, uint16_t b, uint16_t c) {
    return S::narrow(fusedOdd(S::widen(a), S::widen(b), S::widen(c)));
  }
};
struct Abs {
  static uint16_t run(uint16_t a) { return a & 0x7fff; }
};
struct Neg {
  static uint16_t run(uint16_t a) { return a ^ 0x8000; }
};

template <class Op> struct Ftz {
  template <class... T> static uint16_t run(T... a) { return flushHalf(Op::run(flushHalf(a)...)); }
};
template <class S, class Op> struct Sat {
  template <class... T> static uint16_t run(T... a) { return clamp01<S>(Op::run(a...)); }
};
template <class S, class Op> struct Relu {
  template <class... T> static uint16_t run(T... a) { return relu<S>(Op::run(a...)); }
};

/// Both halves of 32 bits.
template <class Op> struct Pair {
  template <class... T> static uint32_t run(T... a) {
    return Op::run(uint16_t(a)...) | uint32_t(Op::run(uint16_t(a >> 16)...)) << 16;
  }
};

#define ONE(key, type, F, ...)                                                                                         \
  {key "." type, F<__VA_ARGS__, uint16_t>}, { key "." type "x2", F<Pair<__VA_ARGS__>, uint32_t> }
#define HALF(key, F, ...) ONE(key, "f16", F, __VA_ARGS__), ONE(key ".ftz", "f16", F, Ftz<__VA_ARGS__>)
#define BRAIN(key, F, ...) ONE(key, "bf16", F, __VA_ARGS__)
#define HALFSAT(key, F, ...)                                                                                           \
  HALF(key, F, __VA_ARGS__), ONE(key ".sat", "f16", F, Sat<Half, __VA_ARGS__>),                                        \
      ONE(key ".ftz.sat", "f16", F, Sat<Half, Ftz<__VA_ARGS__>>)

static const NamedHandler entries[] = {
    HALFSAT("add", binary, Through<Half, Add>),
    HALFSAT("sub", binary, Through<Half, Sub>),
    HALFSAT("mul", binary, Through<Half, Mul>),
    HALFSAT("fma", ternary, Fma<Half>),
    ONE("fma.relu", "f16", ternary, Relu<Half, Fma<Half>>),
    ONE("fma.ftz.relu", "f16", ternary, Relu<Half, Ftz<Fma<Half>>>),
    HALF("min", binary, Through<Half, Min>),
    HALF("max", binary, Through<Half, Max>),
    HALF("min.NaN", binary, Through<Half, MinNan>),
    HALF("max.NaN", binary, Through<Half, MaxNan>),
    HALF("abs", unary, Abs),
    HALF("neg", unary, Neg),
    ONE("ex2", "f16", unary, Through<Half, Exp2>),
    ONE("tanh", "f16", unary, Through<Half, Tanh>),
    BRAIN("add", binary, Through<Brain, Add>),
    BRAIN("sub", binary, Through<Brain, Sub>),
    BRAIN("mul", binary, Through<Brain, Mul>),
    BRAIN("fma", ternary, Fma<Brain>),
    BRAIN("fma.relu", ternary, Relu<Brain, Fma<Brain>>),
    BRAIN("min", binary, Through<Brain, Min>),
    BRAIN("max", binary, Through<Brain, Max>),
    BRAIN("min.NaN", binary, Through<Brain, MinNan>),
    BRAIN("max.NaN", binary, Through<Brain, MaxNan>),
    BRAIN("abs", unary, Abs),
    BRAIN("neg", unary, Neg),
};

HandlerTable halfTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
