// An amount that depends on the extents of a run: bytes of intermediate values, floating-point operations.
#pragma once

#include "runtime/abi/Json.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A sum of products of named extents with integer coefficients. The compiler names an extent after the slot that has it:
/// `ids.0` is the extent of `ids` on axis 0; `total` is the value of that slot.
class Polynomial {
public:
  using Monomial = std::vector<std::string>; ///< sorted, with repetitions; empty: the constant

  Polynomial() = default;
  Polynomial(int64_t constant) { // an amount that depends on nothing
    if (constant)
      terms[{}] = constant;
  }
  static Polynomial extent(std::string name);

  Polynomial &operator+=(const Polynomial &other);
  Polynomial &operator-=(const Polynomial &other);
  friend Polynomial operator+(Polynomial a, const Polynomial &b) { return a += b; }
  friend Polynomial operator*(const Polynomial &a, const Polynomial &b);
  friend bool operator==(const Polynomial &a, const Polynomial &b) { return a.terms == b.terms; }

  /// The smallest polynomial with integer coefficients that is nowhere less than a `divisor`th of this one; divisor > 0.
  Polynomial dividedBy(int64_t divisor) const;
  bool isZero() const { return terms.empty(); }
  /// Whether no coefficient of `other` is larger: then neither is its value in any run.
  bool covers(const Polynomial &other) const;
  /// The smallest polynomial that covers both.
  static Polynomial cover(const Polynomial &a, const Polynomial &b);
  /// The value where `extent(name)` is what the run has.
  double value(const std::function<int64_t(const std::string &)> &extent) const;

  /// `{"": 64, "ids.0*ids.1": 512}`
  Json toJson() const;
  static std::optional<Polynomial> fromJson(const Json &json);

private:
  std::map<Monomial, int64_t> terms; ///< none is 0
};

} // namespace nnterp
