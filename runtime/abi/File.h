// Reads a whole file into memory, with a diagnosed error.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <optional>
#include <string>

namespace nnterp {

/// The bytes of `path`. Errors: NNT0101, at `from` where given (the text that names the file), else at the file itself.
std::optional<std::string> readFile(const std::string &path, Diagnostics &diags, const SourceLoc &from = {});

} // namespace nnterp
