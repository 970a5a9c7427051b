// float64 values and their bits as C++ values with operators, so that nnterp-expand-math reads like the formulas it
// emits.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nnterp::expand {

/// Where and on which shape to emit; `single` says that the result will be rounded to float32, so shorter forms do.
struct Emitter {
  Emitter(mlir::ImplicitLocOpBuilder &builder, mlir::Type shapedLike, bool single);

  mlir::Value constant(double value);
  mlir::Value constant(int64_t value);

  mlir::ImplicitLocOpBuilder &builder;
  mlir::Type real, integer; ///< f64 and i64, or vectors of them
  bool single;
};

/// An i64 (or a vector of them) seen as the bits of a Real or as a small number.
struct Bits {
  Emitter *emitter;
  mlir::Value value;

  Bits operator+(Bits other) const;
  Bits operator+(int64_t other) const;
  Bits operator-(Bits other) const;
  Bits operator-(int64_t other) const;
  Bits operator&(int64_t mask) const;
  Bits operator|(Bits other) const;
  Bits operator^(Bits other) const;
  Bits operator<<(int64_t count) const;
  Bits operator>>(int64_t count) const; ///< arithmetic
  mlir::Value operator==(int64_t other) const;
};

/// A float64 (or a vector of them). Operators emit one rounded operation each; nothing may be contracted or reordered.
struct Real {
  Emitter *emitter;
  mlir::Value value;

  Real operator+(Real other) const;
  Real operator-(Real other) const;
  Real operator*(Real other) const;
  Real operator/(Real other) const;
  Real operator+(double other) const { return *this + constant(other); }
  Real operator-(double other) const { return *this - constant(other); }
  Real operator*(double other) const { return *this * constant(other); }
  Real operator/(double other) const { return *this / constant(other); }

  /// Comparisons that are false for NaN.
  mlir::Value operator<(double other) const;
  mlir::Value operator>(double other) const;
  mlir::Value operator==(double other) const;
  /// True for NaN as well.
  mlir::Value notBelow(double other) const;

  Real constant(double number) const { return {emitter, emitter->constant(number)}; }
  Bits bits() const;
  Real magnitude() const;
  /// This value's magnitude with the sign of `other`; this value must not be negative.
  Real withSign(Real other) const;
  /// `other` where the condition holds, else this value.
  Real where(mlir::Value condition, Real other) const;
  Real where(mlir::Value condition, double other) const { return where(condition, constant(other)); }
};

inline Real operator+(double a, Real b) { return b.constant(a) + b; }
inline Real operator-(double a, Real b) { return b.constant(a) - b; }
inline Real operator*(double a, Real b) { return b.constant(a) * b; }
inline Real operator/(double a, Real b) { return b.constant(a) / b; }

Real fromBits(Bits bits);

/// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
Real polynomial(llvm::ArrayRef<double> coefficients, Real x);

/// The sum of this constant and an integer n, |n| < 2^50, holds n in its low bits: rounding and conversion without a
/// conversion instruction, and without undefined results for NaN.
inline constexpr double integerShift = 0x1.8p+52;
inline constexpr int64_t integerShiftBits = 0x4338000000000000;

/// A small integer as a Real.
Real toReal(Bits integer);

/// 2^exponent, for -1023 < exponent < 1024; any value otherwise.
Real powerOfTwo(Bits exponent);

// The functions. Each takes and returns float64; with `single` set the result is right for float32 arguments and
// results.
Real exp(Real x);
Real log(Real x);
Real log1p(Real x);
Real tanh(Real x);
Real erf(Real x);
Real sin(Real x);
Real cos(Real x);
Real rsqrt(Real x);

} // namespace nnterp::expand
