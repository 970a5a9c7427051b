// A loaded state and a prompt as one input: what a run goes on from.
#pragma once

#include "frontend/plan/Resolved.h"
#include "runtime/state/StateFile.h"
#include "tools/nnterp/InputArguments.h"

#include <optional>
#include <string>

namespace nnterp {

/// The inputs as they are fed behind loaded states: a pending token stands before each row, and default positions go on where the
/// state stopped. An input that is missing feeds the pending token alone. Errors: NNT1209, NNT1210, NNT1211.
std::optional<Batches> continueFrom(const SavedStates &states, const std::vector<PlanWorld> &worlds, const Batches &inputs,
                                    const std::string &file, Diagnostics &diags);

/// Whether `steps` generated tokens have positions behind every row. Errors: NNT1012.
bool checkPositions(const Batches &inputs, int64_t steps, Diagnostics &diags);

} // namespace nnterp
