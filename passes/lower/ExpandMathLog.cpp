// log, log1p and the reciprocal square root in float64 arithmetic.
#include "passes/lower/ExpandMathCoefficients.h"
#include "passes/lower/ExpandMathReal.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace nnterp::expand {
using namespace coefficients;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// log(u) + correction for u > 0, finite, not denormal; `exponentOffset` is added to u's exponent.
///
/// u = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)]. With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 +
/// s (f^2/2 + R(s^2)), in which only the small terms carry rounding errors.
static Real correctedLog(Real u, Real correction, std::optional<Bits> exponentOffset = std::nullopt) {
  constexpr int64_t sqrtHalfBits = 0x3fe6a09e667f3bcd;
  Bits bits = u.bits();
  Bits exponent = (bits - sqrtHalfBits) >> 52;
  Real f = fromBits(bits - (exponent << 52)) - 1.0;
  Real k = toReal(exponentOffset ? exponent + *exponentOffset : exponent);
  Real s = f / (f + 2.0);
  Real z = s * s;
  Real r = z * (u.emitter->single ? polynomial(log32, z) : polynomial(log64, z));
  Real halfSquare = f * f * 0.5;
  return k * ln2High - ((halfSquare - (s * (halfSquare + r) + (k * ln2Low + correction))) - f);
}

Real log(Real x) {
  Real result = x;
  if (x.emitter->single) {
    result = correctedLog(x, x.constant(0.0)); // float32 denormals are normal here
  } else {
    mlir::Value denormal = x < 0x1p-1022;
    Bits offset = {x.emitter,
                   mlir::arith::SelectOp::create(x.emitter->builder, denormal, x.emitter->constant(int64_t(-54)),
                                                 x.emitter->constant(int64_t(0)))};
    result = correctedLog(x.where(denormal, x * 0x1p54), x.constant(0.0), offset);
  }
  return result.where(x.notBelow(infinity), x).where(x == 0.0, -infinity).where(x < 0.0, nan);
}

Real log1p(Real x) {
  // What u = 1 + x loses of x by rounding is exact in `lost`, and log(u + lost) = log(u) + lost / u.
  Real u = 1.0 + x;
  Real lost = (x - (u - 1.0)).where(x > 1.0, 1.0 - (u - x));
  Real result = correctedLog(u, lost / u);
  return result.where(x.notBelow(infinity), x).where(x == -1.0, -infinity).where(x < -1.0, nan).where(x == 0.0, x);
}

Real rsqrt(Real x) { return 1.0 / Real{x.emitter, mlir::math::SqrtOp::create(x.emitter->builder, x.value)}; }

} // namespace nnterp::expand
