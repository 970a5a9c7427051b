// From a request to IR text or a shared object.
#pragma once

#include "runtime/codegen/Compiler.h"

namespace nnterp {

/// Runs the pipeline up to the stage asked for. Errors of the plan keep their codes and places; NNT1102 is a fault of the compiler.
bool compile(const CompileRequest &request, CompileResult &result, Diagnostics &diags);

} // namespace nnterp
