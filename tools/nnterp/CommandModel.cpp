// nnterp info and nnterp points
#include "tools/nnterp/CommandPlan.h"
#include "tools/nnterp/Terminal.h"
#include "tools/nnterp/report/Info.h"
#include "tools/nnterp/report/Points.h"

#include <algorithm>

namespace nnterp {

int infoCommand(const std::string &checkpoint, bool json) {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(checkpoint, diags);
  if (!config)
    return report(diags);
  std::optional<OpenWeights> weights;
  if (!isConfigAlone(checkpoint)) {
    Diagnostics opening;
    weights = openWeights(checkpoint, *config, std::nullopt, opening);
    // A folder without weights is as good as its configuration alone; broken weights are an error.
    for (const Diagnostic &diagnostic : opening.all())
      if (diagnostic.code != "NNT0304")
        diags.all().push_back(diagnostic);
  }
  if (report(diags) != exitSuccess)
    return exitDiagnosed;
  const CheckpointIndex *index = weights ? &weights->index : nullptr;
  return print(json ? infoJson(*config, index) : infoText(*config, index));
}

int pointsCommand(const PointsArguments &arguments) {
  Diagnostics diags;
  std::optional<ModelConfig> config = loadConfig(arguments.checkpoint, diags, arguments.textOnly);
  if (!config)
    return report(diags);
  const PointTable points = qwen35MoePoints(*config);
  const DType dtype = dtypeWithoutWeights(*config);
  if (arguments.tree)
    return print(pointsTree(points, *config));
  return print(arguments.json ? pointsJson(points, *config, dtype, arguments.filter)
                              : pointsText(points, *config, dtype, arguments.filter));
}

} // namespace nnterp
