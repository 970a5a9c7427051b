// Where the results of taps stand in the tensors of the output file.
#pragma once

#include "frontend/plan/Region.h"
#include "frontend/plan/RunBuffers.h"

namespace nnterp {

/// The layout of a tap's tensor: spec/plan.md 7.
TapLayout layoutOf(const TapSpec &tap, const PlanTap &written, const PointInfo &info, const Region &region);

} // namespace nnterp
