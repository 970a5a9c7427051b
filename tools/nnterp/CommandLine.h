// The command line of nnterp.
#pragma once

namespace nnterp {

/// Parses the command line, does what it says, and returns the exit status.
int runCommandLine(int argc, char **argv);

} // namespace nnterp
