// The one symbol of libnnterp_compiler.
#include "runtime/codegen/Compile.h"

extern "C" __attribute__((visibility("default"))) bool
nnterp_compile(const nnterp::CompileRequest &request, nnterp::CompileResult &result, nnterp::Diagnostics &diags) {
  return nnterp::compile(request, result, diags);
}
