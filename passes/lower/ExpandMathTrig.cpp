// sin and cos in float64 arithmetic, with an exact reduction of the argument up to 2^20.
#include "passes/lower/ExpandMathCoefficients.h"
#include "passes/lower/ExpandMathReal.h"

namespace nnterp::expand {
using namespace coefficients;

namespace {
struct Reduced {
  Real high, low; ///< x - quarter pi/2 as a sum of two, |high| <= pi/4
  Bits quarter;   ///< the integer nearest to x / (pi/2)
};
struct Sum {
  Real high, low;
};
} // namespace

/// a - b = high + low, exactly (Knuth).
static Sum exactDifference(Real a, Real b) {
  Real high = a - b;
  Real part = high - a;
  return {high, (a - (high - part)) - (b + part)};
}

/// The parts of pi/2 times `quarter` are exact while |x| <= 2^20, so `high` and `low` lose nothing even where x is as
/// near to a multiple of pi/2 as a float64 can be. Beyond, errors grow with x; what leaves the polynomials' range
/// becomes 0.
static Reduced reduce(Real x) {
  Real shifted = x * twoOverPi + integerShift;
  Bits quarter = shifted.bits() - integerShiftBits;
  Real count = shifted - integerShift;
  Real high = x, low = x;
  if (x.emitter->single) {
    high = (x - count * halfPi32[0]) - count * halfPi32[1];
    low = x.constant(0.0);
  } else {
    Sum first = exactDifference(x - count * halfPi64[0], count * halfPi64[1]);
    Sum second = exactDifference(first.high, count * halfPi64[2]);
    Real rest = (first.low + second.low) - count * halfPi64[3];
    high = second.high + rest;
    low = (second.high - high) + rest;
  }
  mlir::Value inside = high.magnitude() < 0.7855;
  return {high.constant(0.0).where(inside, high), low.constant(0.0).where(inside, low), quarter};
}

static Real sinPolynomial(const Reduced &r) {
  Real square = r.high * r.high;
  Real cube = square * r.high;
  if (r.high.emitter->single)
    return r.high + cube * polynomial(sin32, square);
  return r.high + (cube * polynomial(sin64, square) + r.low * (1.0 - square * 0.5));
}

static Real cosPolynomial(const Reduced &r) {
  Real square = r.high * r.high;
  if (r.high.emitter->single)
    return 1.0 - (square * 0.5 - square * square * polynomial(cos32, square));
  Real half = square * 0.5;
  Real leading = 1.0 - half;
  return leading + (((1.0 - leading) - half) + (square * square * polynomial(cos64, square) - r.high * r.low));
}

/// sin of x + turn pi/2.
static Real sinShifted(Real x, int64_t turn) {
  Reduced reduced = reduce(x);
  Bits quarter = reduced.quarter + turn;
  Real magnitude = cosPolynomial(reduced).where((quarter & 1) == 0, sinPolynomial(reduced));
  Real result = fromBits(magnitude.bits() ^ ((quarter & 2) << 62));
  return result + (x - x); // infinity and NaN give NaN
}

Real sin(Real x) { return sinShifted(x, 0).where(x == 0.0, x); }
Real cos(Real x) { return sinShifted(x, 1); }

} // namespace nnterp::expand
