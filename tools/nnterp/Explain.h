// What a plan will cost, before anything is computed: programs, worlds, arithmetic, bytes, memory.
#pragma once

#include "runtime/codegen/ProgramReport.h"
#include "tools/nnterp/CallExtents.h"
#include "tools/nnterp/Commands.h"
#include "tools/nnterp/MemoryEstimate.h"
#include "tools/nnterp/PreparePlan.h"
#include "tools/nnterp/explain/Launches.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// One kind of call, with numbers where the compiler has functions of extents.
struct CallCost {
  std::string what;        ///< "a prompt of 1 x 128 tokens", "a generated token"
  double flops = 0;
  double weightBytes = 0;  ///< read, without experts
  double expertBytes = 0;  ///< of experts, if no two tokens share one; at most all of them
};

struct Explanation {
  PreparedPlan prepared;
  ProgramReport report;
  std::vector<CallCost> calls; ///< the prompt's last call, and the last generated token if there are any
  uint64_t tapBytes = 0;       ///< of the output file's tensors
  int64_t tapTensors = 0;
  uint64_t stateBytes = 0;     ///< of one sequence at the run's end; 0 where no memory is kept
  int64_t stateTokens = 0;     ///< tokens it holds then
  MemoryEstimate memory;
  std::optional<LaunchReport> launches = {}; ///< of a program for a GPU
  bool hasWeights = false;     ///< false: a configuration alone
};

/// Compiles as far as costs are known, for a GPU to the end; reads headers of weights, if there are any, but no
/// weights. Inputs that are not given stand for `rows` rows of `tokens` tokens. Errors: those of the plan and the
/// compiler.
std::optional<Explanation> explain(const ExplainArguments &arguments, Diagnostics &diags);

std::string explanationText(const Explanation &explanation);
std::string explanationJson(const Explanation &explanation);

} // namespace nnterp
