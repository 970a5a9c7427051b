// Fuzz target: configurations, and names against the table of a configuration that was accepted. Nothing may crash.
#include "frontend/Config.h"
#include "frontend/families/Qwen35MoeTensors.h"
#include "frontend/names/PointTable.h"

#include <cstdlib>

using namespace nnterp;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // The input is a configuration; what stands behind its first zero byte is a name.
  std::string_view text(reinterpret_cast<const char *>(data), size);
  size_t zero = text.find('\0');
  std::string_view pattern = zero == std::string_view::npos ? std::string_view() : text.substr(zero + 1);
  Diagnostics diags;
  auto json = parseJson(text.substr(0, zero), "config.json", diags);
  auto config = json ? readConfig(*json, diags) : std::nullopt;
  for (const Diagnostic &diagnostic : diags.all())
    format(diagnostic);
  if (bool(config) == diags.hasErrors())
    std::abort(); // refused without a word, or accepted with an error
  // A table is as deep as its model: bounded here, so that an input does not take seconds.
  if (!config || config->numLayers > 16)
    return 0;
  configFingerprint(*config);
  for (const WantedTensor &tensor : wantedTensors(*config))
    if (elementCount(tensor.shape) <= 0)
      std::abort();
  PointTable table = qwen35MoePoints(*config);
  NameError error;
  auto points = table.expand(pattern, error, 0);
  if (points ? points->empty() : error.code.empty())
    std::abort();
  table.canonical(pattern);
  return 0;
}
