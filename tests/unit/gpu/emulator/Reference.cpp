// Exact numbers to and from binary formats, digit by digit.
#include "Reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nnterp::gpu::test {

Format format(const std::string &name) {
  return name == "f16"    ? Format{16, 5, 10}
         : name == "bf16" ? Format{16, 8, 7}
         : name == "f32"  ? Format{32, 8, 23}
                          : Format{64, 11, 52};
}

bool isNan(Exact value) { return value != value; }

static Exact twoTo(int n) {
  constexpr int most = 2400;
  static const std::vector<Exact> powers = [] {
    std::vector<Exact> all(2 * most + 1, 1);
    for (int k = 1; k <= most; ++k) {
      all[size_t(most + k)] = all[size_t(most + k - 1)] * 2;
      all[size_t(most - k)] = all[size_t(most - k + 1)] / 2;
    }
    return all;
  }();
  return powers.at(size_t(most + n));
}

/// n with 2ⁿ <= size < 2ⁿ⁺¹.
static int exponentOf(Exact size) {
  int n = std::ilogb((long double)size);
  while (size < twoTo(n))
    --n;
  while (size >= twoTo(n + 1))
    ++n;
  return n;
}

Exact decode(uint64_t bits, Format format) {
  const bool negative = bits >> (format.bits - 1) & 1;
  const int64_t exponent = int64_t(bits >> format.fractionBits & ((uint64_t(1) << format.exponentBits) - 1));
  const uint64_t fraction = bits & ((uint64_t(1) << format.fractionBits) - 1);
  const int64_t top = (int64_t(1) << format.exponentBits) - 1, bias = top / 2;
  Exact value;
  if (exponent == top)
    value = fraction ? Exact(0) / Exact(0) : Exact(1) / Exact(0);
  else if (exponent == 0)
    value = Exact(fraction) * twoTo(int(1 - bias) - format.fractionBits);
  else
    value = Exact(fraction | uint64_t(1) << format.fractionBits) * twoTo(int(exponent - bias) - format.fractionBits);
  return negative ? -value : value;
}

uint64_t encode(Exact value, Format format, Rounding rounding) {
  const uint64_t top = (uint64_t(1) << format.exponentBits) - 1, sign = uint64_t(1) << (format.bits - 1),
                 infinity = top << format.fractionBits;
  if (isNan(value))
    return sign - 1;
  const bool negative = value < 0 || (value == 0 && 1 / value < 0);
  const uint64_t signBit = negative ? sign : 0;
  const Exact size = negative ? -value : value;
  if (size == Exact(1) / Exact(0))
    return signBit | infinity;
  // The exponent of the last digit: that of the number, or that of all subnormal ones.
  const int bias = int(top / 2), lowest = 1 - bias - format.fractionBits;
  const int exponent = size == 0 ? lowest : std::max(lowest, exponentOf(size) - format.fractionBits);
  const Exact unit = twoTo(exponent);
  uint64_t digits = uint64_t(size / unit); // cut off
  const Exact lost = size / unit - Exact(digits);
  const bool up = rounding == Rounding::nearest ? lost > Exact(0.5) || (lost == Exact(0.5) && (digits & 1))
                  : rounding == Rounding::up    ? lost > 0 && !negative
                  : rounding == Rounding::down  ? lost > 0 && negative
                                                : false;
  digits += up;
  // A carry out of the digits makes the next exponent, and above the largest number infinity, which a rounding toward
  // zero never gives.
  const uint64_t result = (uint64_t(exponent - lowest) << format.fractionBits) + digits;
  if (result >= infinity) {
    const bool away = rounding == Rounding::nearest || (rounding == Rounding::up && !negative) ||
                      (rounding == Rounding::down && negative);
    return signBit | (away ? infinity : infinity - 1);
  }
  return signBit | result;
}

Exact sum(Exact a, Exact b, Rounding rounding) {
  const Exact result = a + b;
  if (result == 0) {
    const bool bothNegative = a == 0 && b == 0 && 1 / a < 0 && 1 / b < 0,
               bothPositive = a == 0 && b == 0 && 1 / a > 0 && 1 / b > 0;
    return bothNegative || (!bothPositive && rounding == Rounding::down) ? -Exact(0) : Exact(0);
  }
  const Exact part = result - a, lost = (a - (result - part)) + (b - part);
  if (!(lost > 0) && !(lost < 0)) // nothing, or infinities
    return result;
  // Rounded to odd: of the two neighbours of the exact sum, the one whose last bit is set.
  const Exact size = result < 0 ? -result : result;
  const Exact last = twoTo(exponentOf(size) - 112);
  const bool odd = (unsigned __int128)(size / last) & 1;
  return odd ? result : lost > 0 ? result + last : result - last;
}

} // namespace nnterp::gpu::test
