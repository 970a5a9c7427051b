// Flags, plans and their printing, for all commands about plans.
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/ProgramSource.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Points.h"

namespace nnterp {

PlanSource planSource(const PlanArguments &arguments) { return {arguments.plan, std::nullopt, arguments.flags}; }

std::optional<DType> requestedDType(const std::string &dtype) {
  return dtype == "auto" ? std::nullopt : fromTorchName(dtype);
}

/// The nnterp.plan op out of a printed module, shifted to the left margin.
static std::string planOp(const std::string &module) {
  size_t begin = module.find("nnterp.plan");
  if (begin == std::string::npos)
    return module;
  begin = module.rfind('\n', begin) + 1;
  const size_t indent = module.find_first_not_of(' ', begin) - begin;
  std::string text;
  for (size_t at = begin; at < module.size();) {
    const size_t end = std::min(module.find('\n', at), module.size());
    const std::string line = module.substr(std::min(at + indent, end), end - std::min(at + indent, end));
    text += line + "\n";
    if (at != begin && !line.empty() && line[0] == '}')
      break;
    at = end + 1;
  }
  return text;
}

int printPlan(const PlanArguments &arguments) {
  Diagnostics diags;
  if (arguments.printPlan == "json") {
    std::optional<Plan> plan = loadPlan(planSource(arguments), diags);
    const int status = report(diags, arguments.quiet);
    return plan && status == exitSuccess ? print(plan->json.dump(1) + "\n") : exitDiagnosed;
  }
  std::optional<PreparedPlan> prepared =
      preparePlan(arguments.checkpoint, planSource(arguments), runShape(arguments.generate), diags, arguments.textOnly);
  std::optional<CompileResult> result;
  if (prepared)
    result = compileTo(Stage::import, prepared->config, &prepared->resolved,
                       {requestedDType(arguments.dtype).value_or(dtypeWithoutWeights(prepared->config))}, diags);
  const int status = report(diags, arguments.quiet);
  return result && status == exitSuccess ? print(planOp(result->text)) : exitDiagnosed;
}

} // namespace nnterp
