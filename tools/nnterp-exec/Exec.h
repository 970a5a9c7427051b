// The command line of nnterp-exec.
#pragma once

namespace nnterp {

/// Parses and executes; returns the exit status.
int runExecCommandLine(int argc, char **argv);

} // namespace nnterp
