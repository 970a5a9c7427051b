// Two runs of the same sequences against each other, bit for bit, however each was cut, padded or batched. With a tolerance, of
// Findings::same, within that.
#pragma once

#include "tools/nnterp/verify/Findings.h"

namespace nnterp::verify {

/// Row `row` of `found` against row `as` of `expected`: every name of `found`, at every token at which both runs have it. A name
/// that is compared nowhere is a difference.
void sameRow(const RunView &found, int64_t row, const RunView &expected, int64_t as, Findings &findings, double tolerance = 0);
/// Every row against the row of its number.
void sameRows(const RunView &found, const RunView &expected, Findings &findings, double tolerance = 0);
/// The tokens that `found` generates are those of `expected` from the `from`-th on.
void sameTokens(const RunView &found, const RunView &expected, int64_t from, Findings &findings);

} // namespace nnterp::verify
