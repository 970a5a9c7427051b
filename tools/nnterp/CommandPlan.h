// Steps that commands about plans share.
#pragma once

#include "tools/nnterp/Commands.h"
#include "tools/nnterp/PreparePlan.h"

#include <optional>

namespace nnterp {

PlanSource planSource(const PlanArguments &arguments);

/// float32, bfloat16, or nothing for auto.
std::optional<DType> requestedDType(const std::string &dtype);

/// `--print-plan`: the plan with all flags in it, as JSON or as nnterp.plan.
int printPlan(const PlanArguments &arguments);

} // namespace nnterp
