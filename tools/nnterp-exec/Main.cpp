// nnterp-exec: runs a compiled program on a checkpoint.
#include "tools/nnterp-exec/Exec.h"

int main(int argc, char **argv) { return nnterp::runExecCommandLine(argc, argv); }
