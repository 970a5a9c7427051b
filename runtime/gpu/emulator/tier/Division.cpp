// Quotients and remainders of integers, in float64 where that is exact: the CPU has no vectors of integer divisions.
#include "runtime/gpu/emulator/tier/IntegerTypes.h"
#include "runtime/gpu/emulator/tier/Real.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

// What a GPU gives for division by zero is all ones, and the dividend as remainder; the lowest number by -1 wraps.
struct Quotient {
  template <class T> static T run(T a, T b) {
    if (b == 0)
      return T(~T(0));
    return isSigned<T> && b == T(-1) ? T(Unsigned<T>(0) - Unsigned<T>(a)) : T(a / b);
  }
};
struct Remainder {
  template <class T> static T run(T a, T b) {
    if (b == 0)
      return a;
    return isSigned<T> && b == T(-1) ? T(0) : T(a % b);
  }
};

// Whole numbers below 2^52 stand as they are in the fraction of a float64 between 2^52 and 2^53.
constexpr u64 fractionOf = 0x4330000000000000;
inline double toReal(u64 a) { return cast<double>(a | fractionOf) - cast<double>(fractionOf); }
inline u64 toWhole(double a) { return cast<u64>(a + cast<double>(fractionOf)) ^ fractionOf; }

/// Numbers below 2^52: the rounded quotient is off by less than the distance to the next whole number, so that cutting
/// it off is right.
template <class Exact, bool remainder, class T> const Inst *divide(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a), *b = at<T>(w, i->b);
  alignas(64) u64 x[lanes], y[lanes];
  u64 all = 0;
  NNTERP_LANES(l) {
    x[l] = u64(a[l] < T(0) ? Unsigned<T>(Unsigned<T>(0) - Unsigned<T>(a[l])) : Unsigned<T>(a[l]));
    y[l] = u64(b[l] < T(0) ? Unsigned<T>(Unsigned<T>(0) - Unsigned<T>(b[l])) : Unsigned<T>(b[l]));
    all |= x[l] | y[l];
  }
  if (sizeof(T) == 8 && all >> 52)
    return binary<Exact, T>(w, i);
  store<T>(
      w, i->d, [&](int l) __attribute__((always_inline)) {
        const u64 quotient = toWhole(__builtin_trunc(toReal(x[l]) / toReal(y[l])));
        if (remainder) {
          const T rest = T(x[l] - quotient * y[l]);
          return y[l] == 0 ? a[l] : a[l] < T(0) ? T(Unsigned<T>(0) - Unsigned<T>(rest)) : rest;
        }
        const T size = T(quotient);
        return y[l] == 0 ? T(~T(0)) : (a[l] < T(0)) != (b[l] < T(0)) ? T(Unsigned<T>(0) - Unsigned<T>(size)) : size;
      });
  return i + 1;
}

template <bool remainder, class T> const Inst *divide(Warp &w, const Inst *i) {
  if (remainder)
    return divide<Remainder, true, T>(w, i);
  return divide<Quotient, false, T>(w, i);
}

static const NamedHandler entries[] = {
    {"div.s16", divide<false, s16>}, {"div.s32", divide<false, s32>}, {"div.s64", divide<false, s64>},
    {"div.u16", divide<false, u16>}, {"div.u32", divide<false, u32>}, {"div.u64", divide<false, u64>},
    {"rem.s16", divide<true, s16>},  {"rem.s32", divide<true, s32>},  {"rem.s64", divide<true, s64>},
    {"rem.u16", divide<true, u16>},  {"rem.u32", divide<true, u32>},  {"rem.u64", divide<true, u64>},
};

HandlerTable divisionTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
