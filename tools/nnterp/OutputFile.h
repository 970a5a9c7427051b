// The files a run leaves: tensors, and an index for people (spec/plan.md 7).
#pragma once

#include "tools/nnterp/RunModel.h"

#include <map>
#include <string>

namespace nnterp {

/// Refuses a path that cannot be written, before time is spent on a run. Errors: NNT0102.
bool checkOutputPath(const std::string &path, Diagnostics &diags);

/// The metadata map of an output file: plan, hashes of plan and configuration, version of the tool.
std::map<std::string, std::string> outputMetadata(const PreparedPlan &prepared);

/// Writes the tensors to `path`, and beside it `index.json` with names, layouts, shapes and dtypes. Each appears whole
/// or not at all. Errors: NNT0102.
bool writeOutputs(const std::string &path, const RunResult &result, Diagnostics &diags);

} // namespace nnterp
