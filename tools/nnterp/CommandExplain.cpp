// nnterp explain
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/Explain.h"
#include "tools/nnterp/Terminal.h"

namespace nnterp {

int explainCommand(const ExplainArguments &arguments) {
  Diagnostics diags;
  if (!arguments.printPlan.empty())
    return printPlan(arguments);
  std::optional<Explanation> explanation = explain(arguments, diags);
  if (report(diags, arguments.quiet) != exitSuccess || !explanation)
    return exitDiagnosed;
  return print(arguments.json ? explanationJson(*explanation) : explanationText(*explanation));
}

} // namespace nnterp
