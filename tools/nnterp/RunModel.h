// From a checkpoint, a plan and a prompt to tapped values: the one path that the command line and the tests share.
#pragma once

#include "runtime/exec/Batch.h"
#include "tools/nnterp/InputArguments.h"
#include "tools/nnterp/PreparePlan.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// Called with "compile" or "run" and how much of it is done, 0 to 1.
using Progress = std::function<void(std::string_view phase, double fraction)>;

struct RunOptions {
  std::string checkpoint;
  PlanSource plan;
  std::vector<InputArgument> inputs;
  std::optional<DType> dtype; ///< float32 or bfloat16; nothing: as design.md 8 calls auto
  bool useCache = true;
  std::string cacheDir; ///< "" = ProgramCache::defaultRoot()
  Progress progress;    ///< may be empty
};

/// Milliseconds of each step.
struct RunTimes {
  double read = 0;    ///< configuration, plan, headers, prompt
  double program = 0; ///< compiling, or opening the cached program
  double weights = 0; ///< binding: mapping weights, and copying what must be
  double run = 0;
  double total = 0;
};

struct RunResult {
  std::vector<std::pair<std::string, Tensor>> outputs; ///< by output key, in the plan's order
  Manifest manifest;
  bool compiled = false; ///< false: the program came from the cache
  RunTimes times;
  uint64_t arenaPeak = 0;   ///< bytes of intermediate values held at once
  uint64_t copiedBytes = 0; ///< of weights that could not be mapped
  int64_t copiedTensors = 0;
  PreparedPlan prepared;
  Batch batch;
  std::map<std::string, Tensor> buffers; ///< the plan's tables and numbers in this run

  /// The tap that wrote an output.
  const TapSpec *tapOf(std::string_view key) const;
};

/// Runs a plan. Everything that can be checked is checked before anything is computed, and what is independent is
/// reported together. Remarks that stop nothing are notes in `diags`.
std::optional<RunResult> runModel(const RunOptions &options, Diagnostics &diags);

} // namespace nnterp
