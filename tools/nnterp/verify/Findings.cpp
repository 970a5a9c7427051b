// Counts and words differences.
#include "tools/nnterp/verify/Findings.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace nnterp::verify {

static std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

static std::string site(const std::string &name, int64_t row, int64_t token) {
  return name + ", row " + std::to_string(row) + ", token " + std::to_string(token);
}

void Findings::differs(const std::string &what) {
  if (different++ == 0)
    first = what;
}

void Findings::missing(const std::string &name, int64_t row, int64_t token) {
  ++compared;
  differs(site(name, row, token) + ": expected a value, found none");
}

void Findings::require(bool holds, const std::string &problem) {
  ++compared;
  if (!holds)
    differs(problem);
}

void Findings::number(const std::string &name, int64_t row, int64_t token, int64_t element, double found,
                      double expected, double allowed) {
  ++compared;
  limit = std::max(limit, allowed);
  if (found == expected || (std::isnan(found) && std::isnan(expected)))
    return;
  const double distance = std::abs(found - expected);
  largest = std::max(largest, std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance);
  if (!(distance <= allowed))
    differs(site(name, row, token) + ", element " + std::to_string(element) + ": expected " + numberText(expected) +
            (allowed > 0 ? " within " + numberText(allowed) : "") + ", found " + numberText(found));
}

void Findings::same(const TokenValues &values, int64_t row, int64_t token, const TokenSlice &found,
                    const TokenSlice &expected, double tolerance) {
  if (sameBits(found, expected)) {
    compared += found.count();
    return;
  }
  const int64_t before = different;
  if (found.count() == 0)
    missing(values.name, row, token);
  else if (found.count() != expected.count())
    require(false, site(values.name, row, token) + ": expected " + std::to_string(expected.count()) +
                       " numbers, found " + std::to_string(found.count()));
  const double allowed = tolerance > 0 ? tolerance * scaleOf(expected) : 0;
  for (int64_t i = 0; i < found.count(); ++i)
    number(values.name, row, token, i, found.at(i), expected.at(i), allowed);
  if (different == before && tolerance == 0) // 0 for -0, or another kind of not-a-number
    require(false, site(values.name, row, token) + ": expected the same bytes, found the same numbers in other bytes");
}

} // namespace nnterp::verify
