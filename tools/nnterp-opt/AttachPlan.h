// `--plan=FILE`: attaches a plan to an imported graph.
#pragma once

#include <string>
#include <vector>

namespace nnterp {

/// Registers `nnterp-attach-plan{plan=FILE}`: reads a JSON plan, resolves it against the configuration that the module carries
/// (`nnterp.config`) and appends it as `nnterp.plan`.
void registerAttachPlan();

/// Command-line arguments with `--plan=FILE` turned into that pass, at the same place.
std::vector<std::string> expandPlanFlag(int argc, char **argv);

} // namespace nnterp
