// The prompt of a run, from the command line or from the plan (spec/plan.md 2).
#pragma once

#include "frontend/Config.h"
#include "frontend/plan/Plan.h"
#include "runtime/exec/Batch.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

enum class InputKind { prompt, ids, file };

/// `--prompt [INPUT:=]TEXT`, `--ids [INPUT:=]1,2,3` or `--input [INPUT=]FILE`, as given.
struct InputArgument {
  InputKind kind;
  std::string text;
};

/// The batch of the plan's world: what the command line gives, else what the plan gives. A prefix counts only if it is
/// an input's name of the plan. Errors: NNT1001 to NNT1013, those of the tokenizer, NNT0908.
std::optional<Batch> readInput(const std::vector<InputArgument> &arguments, const Plan &plan, const ModelConfig &config,
                               const std::string &checkpoint, Diagnostics &diags);

} // namespace nnterp
