// Fuzz target: any text as a plan. It is read or diagnosed, never a crash; no file is opened.
#include "frontend/plan/Plan.h"

#include <cstdlib>

using namespace nnterp;

/// Paths that leave the directory, which does not exist, would open files of this machine.
static bool opensFiles(const Json &plan) {
  const Json *values = plan.find("values");
  if (!values)
    return false;
  for (const Json::Member &value : values->object)
    if (const Json *file = value.value.find("file"); file && file->isString())
      if (file->string.find('/') == 0 || file->string.find("..") != std::string::npos)
        return true;
  return false;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  Diagnostics diags;
  std::optional<Json> json = parseJson(text, "plan.json", diags);
  if (json && !opensFiles(*json)) {
    std::optional<Plan> plan = readPlan(*json, "/nonexistent", diags);
    if (plan.has_value() == diags.hasErrors())
      std::abort(); // a plan, or why there is none
  }
  // The same text as each of the flags.
  Diagnostics flagDiags;
  std::optional<Json> expanded = expandFlags(std::nullopt, {{text}, {text}, {}}, flagDiags);
  std::optional<Json> value = expandFlags(std::nullopt, {{}, {}, {text}}, flagDiags);
  if (expanded && !readPlan(*expanded, "/nonexistent", flagDiags) && !flagDiags.hasErrors())
    std::abort();
  for (const Diagnostic &diagnostic : flagDiags.all())
    (void)format(diagnostic);
  return 0;
}
