// nnterp check
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/ProgramSource.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Points.h"

#include "runtime/exec/CompilerDoor.h"

#include <filesystem>
#include <set>

namespace nnterp {

static std::string counted(size_t count, const std::string &word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

/// What is decided on the graph, such as edits that reach no output; left out with a remark where there is no compiler.
static bool checkGraph(const PreparedPlan &prepared, const PlanArguments &arguments, Diagnostics &diags) {
  std::error_code failure;
  if (!std::filesystem::exists(compilerLibrary(), failure)) {
    diags.note({}, "edits that reach no output were not looked for: there is no compiler at " + compilerLibrary());
    return true;
  }
  const DType dtype = requestedDType(arguments.dtype).value_or(dtypeWithoutWeights(prepared.config));
  return compileTo(Stage::checked, prepared.config, &prepared.resolved, {dtype}, diags).has_value();
}

int checkCommand(const PlanArguments &arguments) {
  if (!arguments.printPlan.empty())
    return printPlan(arguments);
  Diagnostics diags;
  std::optional<PreparedPlan> prepared =
      preparePlan(arguments.checkpoint, planSource(arguments), runShape(arguments.generate), diags, arguments.textOnly);
  if (prepared)
    checkGraph(*prepared, arguments, diags);
  const int status = report(diags, arguments.quiet);

  Json json = Json::dict();
  json.add("ok", Json::of(status == exitSuccess));
  std::string summary;
  if (prepared && status == exitSuccess) {
    std::set<std::string> points;
    for (const EditSpec &edit : prepared->resolved.edits)
      points.insert(edit.point);
    const size_t edits = prepared->resolved.plan->edits.size(), taps = prepared->resolved.taps.size();
    summary = counted(edits, "edit") + " at " + counted(points.size(), "point") + ", " + counted(taps, "tap") + ", " +
              counted(prepared->resolved.buffers.size(), "buffer") + ": no errors\n";
    json.add("edits", Json::of(int64_t(edits)))
        .add("points", Json::of(int64_t(points.size())))
        .add("taps", Json::of(int64_t(taps)))
        .add("buffers", Json::of(int64_t(prepared->resolved.buffers.size())));
  }
  json.add("diagnostics", toJson(diags));
  const int written = arguments.json ? print(json.dump(1) + "\n") : arguments.quiet ? exitSuccess : print(summary);
  return status == exitSuccess ? written : status;
}

} // namespace nnterp
