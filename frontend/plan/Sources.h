// Sources of edits: what they select and hold, for resolving and for filling buffers alike (spec/plan.md 5, SRC).
#pragma once

#include "frontend/plan/Resolved.h"

namespace nnterp {

/// What a source from a place selects there: the edit's `select` as far as the source's layout has those axes,
/// overridden key by key. A placed layout has no axis of tokens, so it inherits no `seq`. A rectangle of an image stands
/// for entries of the axis that it selects from.
Select placeSelect(const PlanEdit &edit, Layout layout, Layout sourceLayout);

/// A value as a source uses it: float32, multiplied by the source's `scale`.
Tensor scaledValue(const Plan &plan, const Source &source);

/// "[batch, seq, 48]": extents that a run decides are written as the axis' name.
std::string shapeText(const std::vector<std::string> &axes, const std::vector<std::optional<int64_t>> &extents);

/// `"p9"`, or `edits[3]` for an edit without id: for messages.
std::string label(const PlanEdit &edit);

} // namespace nnterp
