// exp, tanh and erf in float64 arithmetic.
#include "passes/lower/ExpandMathCoefficients.h"
#include "passes/lower/ExpandMathReal.h"

namespace nnterp::expand {
using namespace coefficients;

namespace {
struct Scaled {
  Real mantissa;
  Bits exponent;
};
} // namespace

/// exp(x) = mantissa * 2^exponent with x = exponent ln2 + r, |r| <= ln2/2.
static Scaled reducedExp(Real x) {
  Real shifted = x * oneOverLn2 + integerShift;
  Bits exponent = shifted.bits() - integerShiftBits;
  Real count = shifted - integerShift;
  if (x.emitter->single) {
    Real r = x - count * ln2;
    return {1.0 + (r + r * r * polynomial(exp32, r)), exponent};
  }
  // r carries its rounding error along in `rest`.
  Real high = x - count * ln2High, low = count * ln2Low;
  Real r = high - low;
  Real rest = (high - r) - low;
  return {1.0 + (r + (rest + r * r * polynomial(exp64, r))), exponent};
}

/// exp of an argument whose result is neither too large nor denormal in float64.
static Real expInRange(Real x) {
  Scaled result = reducedExp(x);
  return result.mantissa * powerOfTwo(result.exponent);
}

/// x within the bounds; NaN stays NaN.
static Real clamp(Real x, double low, double high) { return x.where(x < low, low).where(x > high, high); }

Real exp(Real x) {
  // The bounds are where the rounded result no longer changes: infinity above, zero below.
  if (x.emitter->single)
    return expInRange(clamp(x, -104.0, 89.0));
  Scaled result = reducedExp(clamp(x, -746.0, 710.0));
  // Two steps, so that neither factor leaves the range of exponents and a denormal result is rounded once.
  Bits half = result.exponent >> 1;
  return result.mantissa * powerOfTwo(half) * powerOfTwo(result.exponent - half);
}

Real tanh(Real x) {
  bool single = x.emitter->single;
  Real a = x.magnitude();
  a = a.where(a > 20.0, 20.0);
  Real square = a * a;
  Real small = a + a * square * (single ? polynomial(tanh32, square) : polynomial(tanh64, square));
  Real large = 1.0 - 2.0 / (expInRange(a * 2.0) + 1.0);
  return large.where(a < (single ? 0.25 : 0.55), small).withSign(x);
}

Real erf(Real x) {
  bool single = x.emitter->single;
  Real a = x.magnitude();
  a = a.where(a > 6.0, 6.0);
  Real square = a * a;
  Real small = a + a * (single ? polynomial(erf32, square) : polynomial(erf64, square));
  Real t = (a - 2.375) / (a + 2.0);
  Real large = 1.0 - expInRange(0.0 - square) * (single ? polynomial(erfc32, t) : polynomial(erfc64, t));
  return large.where(a < 1.0, small).withSign(x);
}

} // namespace nnterp::expand
