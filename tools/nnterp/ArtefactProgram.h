// Compiled programs that a user keeps as folders: with the plan they were compiled from, and checked against the run
// before they start.
#pragma once

#include "runtime/exec/Artefact.h"
#include "tools/nnterp/ProgramSource.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// The text of plan.json: the plan with all flags in it, its paths absolute.
std::string planToKeep(const Plan &plan);

/// The plan of an artefact, without those values that `values` (as of --value) define anew. Errors: those of JSON,
/// NNT1748 when there is no plan.
std::optional<Json> keptPlan(const Artefact &artefact, const std::vector<std::string> &values, Diagnostics &diags);

/// Opens an artefact's program for a run, on `device` if it is one for a GPU. Errors, all that apply: NNT1749 (another
/// model), NNT1751 (a plan of another structure), NNT1752 (another processor); and those of Program::open.
std::optional<ReadyProgram> openArtefact(const Artefact &artefact, const ProgramRequest &request, Diagnostics &diags,
                                         std::shared_ptr<gpu::Device> device);

} // namespace nnterp
