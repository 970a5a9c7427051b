// Finds the compiler's shared library, without opening it.
#pragma once

#include <string>

namespace nnterp {

/// Where libnnterp_compiler.so would be: in $NNTERP_LIB_DIR, else in ../lib of the running program's folder.
std::string compilerLibrary();

/// Which build of the compiler stands there: its size and time of modification, so that no program of an older build is
/// taken from the cache; "" when there is none.
std::string compilerBuild();

} // namespace nnterp
