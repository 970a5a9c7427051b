// Lists of token ids on the command line.
#pragma once

#include "runtime/abi/Diagnostic.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nnterp {

/// `1,2,3`, with blanks around numbers if one likes. Errors: NNT1003, at `loc`.
std::optional<std::vector<int64_t>> parseIds(std::string_view text, const SourceLoc &loc, Diagnostics &diags);

} // namespace nnterp
