// Steps that tools which run programs share.
#pragma once

#include "tools/nnterp/Commands.h"
#include "tools/nnterp/RunModel.h"

namespace nnterp {

/// What the command line says, checked as far as it can be without a checkpoint.
std::optional<RunOptions> runOptions(const RunArguments &arguments, Diagnostics &diags);

/// Runs, shows and writes what came out, reports what is in `diags`. Returns the exit status.
int runAndShow(RunOptions options, const RunArguments &arguments, Diagnostics &diags);

} // namespace nnterp
