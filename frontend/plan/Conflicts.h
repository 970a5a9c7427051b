// Conflicts between the edits of one point (spec/plan.md 5): decided by the text where it can be, else on a run's
// positions.
#pragma once

#include "frontend/plan/Region.h"

namespace nnterp {

/// Reports the conflicts that hold whatever the input is. Errors: NNT0713, NNT0801, NNT0802.
void checkConflictsInText(const ResolvedPlan &plan, const PointTable &points, const ModelConfig &config,
                          Diagnostics &diags);

/// Regions of edits, by entry and input.
using EditRegions = std::map<std::pair<size_t, std::string>, Region>;

/// Reports the conflicts of one run. Errors as above.
void checkConflictsInRun(const ResolvedPlan &plan, const EditRegions &regions, const ModelConfig &config,
                         Diagnostics &diags);

/// Edits of how tokens are routed: applied after all others of their point, in conflict only among themselves.
inline bool isRouting(Op op) { return op == Op::reroute || op == Op::force; }

} // namespace nnterp
