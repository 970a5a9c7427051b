// Compares runs token by token.
#include "tools/nnterp/verify/CompareRuns.h"

namespace nnterp::verify {

void sameRow(const RunView &found, int64_t row, const RunView &expected, int64_t as, Findings &findings,
             double tolerance) {
  for (const std::string &name : found.names()) {
    const TokenValues a(found, name), b(expected, name);
    int64_t seen = 0;
    for (int64_t token = a.begin(row); token < found.end(row); ++token) {
      const TokenSlice x = a(row, token), y = b(as, token);
      if (x.count() == 0 || y.count() == 0)
        continue;
      ++seen;
      findings.same(a, row, token, x, y, tolerance);
    }
    findings.require(seen > 0, name + ", row " + std::to_string(row) +
                                   ": expected a token at which both runs have it, found none");
  }
}

void sameRows(const RunView &found, const RunView &expected, Findings &findings, double tolerance) {
  for (int64_t row = 0; row < found.rows(); ++row)
    sameRow(found, row, expected, row, findings, tolerance);
}

void sameTokens(const RunView &found, const RunView &expected, int64_t from, Findings &findings) {
  const Tensor &a = *found.tensor("tokens"), &b = *expected.tensor("tokens");
  for (int64_t row = 0; row < found.rows(); ++row)
    for (int64_t k = 0; k < a.shape[1] && from + k < b.shape[1]; ++k)
      findings.number("tokens", row, found.promptEnd(row) + k, k, a.at(row * a.shape[1] + k),
                      b.at(row * b.shape[1] + from + k), 0);
}

} // namespace nnterp::verify
