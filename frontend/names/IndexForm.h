// The index forms of block names: `[3]`, `[-1]`, `[3,7]`, `[0:8]`, `[*]`, `[linear]`, `[full]`, `[=]`.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nnterp {

/// What stands between the brackets.
struct IndexForm {
  enum class Kind { list, range, all, linear, full, matched } kind = Kind::all;
  std::vector<int64_t> list;         ///< as written, negative numbers too
  std::optional<int64_t> begin, end; ///< of a range; absent ends are open
};

/// Parses the text between the brackets; nothing when it is none of the forms.
std::optional<IndexForm> parseIndexForm(std::string_view text);

} // namespace nnterp
