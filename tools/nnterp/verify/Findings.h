// What a check found: how much it compared, how much differs, and where first.
#pragma once

#include "tools/nnterp/verify/TokenValues.h"

#include <string>

namespace nnterp::verify {

class Findings {
public:
  /// Element for element the numbers that `expected(i)` gives; 0 and -0 are the same number.
  template <class Expected>
  void exact(const TokenValues &values, int64_t row, int64_t token, const TokenSlice &found, Expected expected) {
    within(values, row, token, found, 0, expected);
  }
  /// Within `limit` of the numbers that `expected(i)` gives.
  template <class Expected>
  void within(const TokenValues &values, int64_t row, int64_t token, const TokenSlice &found, double limit,
              Expected expected) {
    if (found.count() == 0)
      missing(values.name, row, token);
    for (int64_t i = 0; i < found.count(); ++i)
      number(values.name, row, token, i, found.at(i), expected(i), limit);
  }
  /// The same bytes; with `tolerance`, numbers within so much of the slice's largest one, or of 1 where that is smaller.
  void same(const TokenValues &values, int64_t row, int64_t token, const TokenSlice &found, const TokenSlice &expected,
            double tolerance = 0);
  /// One number; `limit` 0: exactly.
  void number(const std::string &name, int64_t row, int64_t token, int64_t element, double found, double expected, double limit);
  /// What is no number: that a head was reached at all, that a value exists.
  void require(bool holds, const std::string &problem);
  /// The check has no meaning on this model or these prompts.
  void skip(const std::string &reason) { skipped = reason; }

  bool passed() const { return different == 0; }
  int64_t compared = 0, different = 0;
  double largest = 0;  ///< distance of a number from what was expected, tolerated ones included
  double limit = 0;    ///< the largest that was tolerated
  std::string first;   ///< the first difference: what was expected and what was found
  std::string skipped; ///< why, or ""

private:
  void missing(const std::string &name, int64_t row, int64_t token);
  void differs(const std::string &what);
};

} // namespace nnterp::verify
