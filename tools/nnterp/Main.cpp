// The nnterp tool.
#include "tools/nnterp/CommandLine.h"

int main(int argc, char **argv) { return nnterp::runCommandLine(argc, argv); }
