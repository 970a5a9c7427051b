// What PTX says of float32 and float64 beyond IEEE 754: flushing subnormals, saturation, minima, and the 16-bit floats.
#pragma once

#include "runtime/gpu/emulator/tier/Lanes.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

template <class To, class From> inline To cast(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  __builtin_memcpy(&result, &value, sizeof result);
  return result;
}

/// Subnormal numbers to zero of their sign.
inline float flush(float a) {
  const uint32_t bits = cast<uint32_t>(a);
  return cast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}
inline double flush(double a) { return a; }

/// To [0, 1]; NaN to +0.
template <class T> inline T saturate(T a) { return a > T(0) ? (a < T(1) ? a : T(1)) : T(0); }

inline float canonicalNan(float) { return cast<float>(uint32_t(0x7fffffff)); }
inline double canonicalNan(double) { return cast<double>(uint64_t(0x7fffffffffffffff)); }

inline bool negative(float a) { return cast<uint32_t>(a) >> 31; }
inline bool negative(double a) { return cast<uint64_t>(a) >> 63; }

/// -0 is less than +0; of a NaN and a number the result is the number, or NaN if `nan` says so.
template <bool nan, class T> inline T minimum(T a, T b) {
  const T less = a < b || (a == b && negative(a)) ? a : b;
  if (a != a)
    return nan || b != b ? canonicalNan(a) : b;
  return b != b ? (nan ? canonicalNan(a) : a) : less;
}
template <bool nan, class T> inline T maximum(T a, T b) {
  const T more = a > b || (a == b && !negative(a)) ? a : b;
  if (a != a)
    return nan || b != b ? canonicalNan(a) : b;
  return b != b ? (nan ? canonicalNan(a) : a) : more;
}

// 16-bit floats as their bits.

inline float fromBrain(uint16_t a) { return cast<float>(uint32_t(a) << 16); }

inline float fromHalf(uint16_t a) {
  // The exponent is rebiased by a product, which also normalises subnormals; infinities and NaN come out too small.
  const uint32_t sign = uint32_t(a & 0x8000) << 16, rest = uint32_t(a & 0x7fff) << 13;
  const float scaled = cast<float>(rest) * cast<float>(uint32_t(0x77800000)); // 2^112
  const uint32_t bits = rest >= 0x0f800000 ? rest | 0x7f800000 : cast<uint32_t>(scaled);
  return cast<float>(sign | bits);
}

enum class Round { nearest, zero };

/// A float32 to bfloat16; NaN becomes 0x7fff.
template <Round round = Round::nearest> inline uint16_t toBrain(float a) {
  const uint32_t bits = cast<uint32_t>(a);
  const uint32_t rounded = round == Round::nearest ? bits + 0x7fff + (bits >> 16 & 1) : bits;
  return a != a ? uint16_t(0x7fff) : uint16_t(rounded >> 16);
}

/// A float32 to float16; NaN becomes 0x7fff.
template <Round round = Round::nearest> inline uint16_t toHalf(float a) {
  const uint32_t bits = cast<uint32_t>(a), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000)
    return 0x7fff;
  if (rest >= 0x47800000) // 2^16 and above
    return uint16_t(sign | (round == Round::zero && rest != 0x7f800000 ? 0x7bff : 0x7c00));
  if (rest < 0x33000000) // below half of the smallest
    return uint16_t(sign);
  const int exponent = int(rest >> 23);
  // Bits of the fraction that are cut off: 13, more for results that are subnormal.
  const int cut = exponent < 113 ? 126 - exponent : 13;
  const uint32_t fraction = exponent < 113 ? (rest & 0x7fffff) | 0x800000 : rest - (112u << 23);
  uint32_t result = fraction >> cut;
  if (round == Round::nearest) {
    const uint32_t lost = fraction & ((uint32_t(1) << cut) - 1), half = uint32_t(1) << (cut - 1);
    result += lost > half || (lost == half && (result & 1)); // may carry into the exponent, up to infinity
  }
  return uint16_t(sign | result);
}

/// float64 to float32 by rounding to odd: what is lost leaves its mark in the last bit, so that a further rounding to 16 bits is right.
inline float toOdd(double value) {
  const float near = float(value);
  const double back = double(near);
  if (back == value || value != value)
    return near;
  const uint32_t toZero = cast<uint32_t>(near) - (value > 0 ? back > value : back < value);
  return cast<float>(toZero | 1);
}

struct Half {
  static constexpr bool isBrain = false;
  static float widen(uint16_t a) { return fromHalf(a); }
  static uint16_t narrow(float a) { return toHalf(a); }
};
struct Brain {
  static constexpr bool isBrain = true;
  static float widen(uint16_t a) { return fromBrain(a); }
  static uint16_t narrow(float a) { return toBrain(a); }
};

} // namespace nnterp::gpu::emulator::NNTERP_TIER
