// nnterp verify
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/verify/Verify.h"

namespace nnterp {

int verifyCommand(const VerifyArguments &arguments) {
  if (arguments.list)
    return print(verify::checkList());
  verify::VerifyOptions options;
  options.checkpoint = arguments.checkpoint;
  options.inputs = arguments.inputs;
  options.dtype = requestedDType(arguments.dtype);
  options.generate = arguments.generate;
  options.chunk = arguments.chunk;
  options.allBlocks = arguments.allBlocks;
  options.only = arguments.only;
  options.useCache = !arguments.noCache;
  options.target = arguments.target;
  ProgressBar bar(!arguments.quiet);
  options.progress = [&](std::string_view check, double fraction) { bar.show(check, fraction); };

  Diagnostics diags;
  std::optional<verify::VerifyReport> found = verify::verifyModel(options, diags);
  bar.clear();
  int status = exitSuccess;
  if (found && arguments.json)
    status = print(verify::reportJson(*found));
  else if (found && !arguments.quiet)
    status = print(verify::reportText(*found));
  return report(diags) == exitSuccess ? status : exitDiagnosed;
}

} // namespace nnterp
