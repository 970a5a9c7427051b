// Reads lists of token ids.
#include "tools/nnterp/Ids.h"

#include <charconv>

namespace nnterp {

std::optional<std::vector<int64_t>> parseIds(std::string_view text, const SourceLoc &loc, Diagnostics &diags) {
  std::vector<int64_t> ids;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    while (at != end && *at == ' ')
      ++at;
    int64_t id = 0;
    auto [stop, failure] = std::from_chars(at, end, id);
    if (failure != std::errc())
      break;
    ids.push_back(id);
    for (at = stop; at != end && *at == ' ';)
      ++at;
    if (at == end)
      return ids;
    if (*at++ != ',')
      break;
  }
  diags.error("NNT1003", loc,
              "expected ids with commas between them, such as 1,2,3; found \"" + std::string(text) + "\"");
  return std::nullopt;
}

} // namespace nnterp
