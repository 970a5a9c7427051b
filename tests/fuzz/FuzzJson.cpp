// Fuzzes the JSON reader: whatever the bytes, either a tree whose text reads back to the same text, or an error.
#include "runtime/abi/Json.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace nnterp;
  Diagnostics diags;
  std::optional<Json> json = parseJson({reinterpret_cast<const char *>(data), size}, "fuzz", diags);
  if (json.has_value() == diags.hasErrors())
    std::abort();
  for (const Diagnostic &d : diags.all())
    if (d.loc.line < 1 || d.loc.col < 1 || format(d).empty())
      std::abort();
  if (!json)
    return 0;
  const std::string text = json->dump();
  std::optional<Json> again = parseJson(text, "again", diags);
  if (!again || again->dump() != text || !parseJson(json->dump(2), "indented", diags))
    std::abort();
  return 0;
}
