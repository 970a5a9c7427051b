// From a checkpoint, a plan and prompts to tapped values and generated tokens: the one path that the command line and the
// tests share.
#pragma once

#include "frontend/plan/RunBuffers.h"
#include "runtime/exec/Artefact.h"
#include "runtime/gpu/OpenDevice.h"
#include "tools/nnterp/InputArguments.h"
#include "tools/nnterp/MemoryEstimate.h"
#include "tools/nnterp/PreparePlan.h"
#include "tools/nnterp/SequenceRun.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// Called with "compile", "upload" or "run" and how much of it is done, 0 to 1.
using Progress = std::function<void(std::string_view phase, double fraction)>;

struct RunOptions {
  std::string checkpoint;
  PlanSource plan;
  std::vector<InputArgument> inputs;
  std::optional<DType> dtype; ///< float32 or bfloat16; nothing: as design.md 8 calls auto
  ChatOptions chat;
  GenerationOptions generation;
  bool textOnly = false;             ///< as if the model had no image encoder
  int64_t chunk = 0;                 ///< columns of the prompt per call; 0: all in one
  std::string saveState, loadState;  ///< files; "" = none
  std::optional<uint64_t> maxMemory; ///< bytes
  std::shared_ptr<const Artefact> artefact; ///< whose program runs, instead of one from the cache or the compiler
  Target target = Target::cpu;
  DeviceOptions device;
  std::shared_ptr<gpu::Device> onDevice; ///< one that is open already, for the target; null: the run opens its own
  bool useCache = true;
  std::string cacheDir; ///< "" = ProgramCache::defaultRoot()
  Progress progress;    ///< may be empty
  OnToken onToken;      ///< may be empty
};

/// Milliseconds of each step.
struct RunTimes {
  double read = 0;    ///< configuration, plan, headers, prompt
  double program = 0; ///< compiling, or opening the cached program
  double weights = 0; ///< binding: mapping weights, and copying what must be, to a device all of them
  double run = 0;     ///< the prompt and the generated tokens
  double prompt = 0, steps = 0;
  double total = 0;
};

struct RunResult {
  explicit RunResult(PreparedPlan prepared) : prepared(std::move(prepared)) {}

  PreparedPlan prepared;
  std::vector<std::pair<std::string, Tensor>> outputs; ///< by output key, in the plan's order, `tokens` behind
  std::vector<GeneratedRow> generated;
  Manifest manifest;
  std::string device;    ///< what it ran on, if not the CPU
  bool compiled = false; ///< false: the program came from the cache
  RunTimes times;
  SequenceCosts costs;
  uint64_t copiedBytes = 0; ///< of weights that could not be mapped
  int64_t copiedTensors = 0;
  MemoryEstimate estimate;
  std::map<std::string, Batch> inputs; ///< by name, as they were fed
  BufferMap buffers;                   ///< the plan's tables and numbers in the last call on the prompt
  std::map<std::string, std::vector<int64_t>> lastLengths; ///< by input: tokens of each row in that call

  /// The tap that wrote an output; null for `tokens`.
  const TapSpec *tapOf(std::string_view key) const;
  /// The batch that a world read.
  const Batch &batchOf(const std::string &world) const;
};

/// Runs a plan. Everything that can be checked is checked before anything is computed, and what is independent is
/// reported together. Remarks that stop nothing are notes in `diags`. Errors: those of what it calls, NNT1304.
std::optional<RunResult> runModel(const RunOptions &options, Diagnostics &diags);

} // namespace nnterp
