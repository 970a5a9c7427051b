// The door to the compiler, without MLIR in it: tools load the compiler's shared library only when something must be compiled.
#pragma once

#include "frontend/Config.h"
#include "frontend/plan/Resolved.h"
#include "runtime/abi/Manifest.h"
#include "runtime/codegen/ProgramReport.h"
#include "runtime/weights/Checkpoint.h"

#include <functional>
#include <map>
#include <string>

namespace nnterp {

/// Stages of the pipeline, in order (design.md 5).
///
/// `launches` and `ptx` are stages of programs for a GPU only.
enum class Stage { import, plan, checked, simplified, kernels, bufferized, launches, llvm, ptx, object };
std::string_view name(Stage stage);
std::optional<Stage> stageByName(std::string_view name);

struct CompileRequest {
  const ModelConfig *config = nullptr;
  const ResolvedPlan *plan = nullptr;            ///< null for `import` alone
  std::map<std::string, DType> weightTypes;      ///< storage dtype by standard key; absent keys: the config's dtype
  DType dtype = DType::f32;                      ///< model dtype of the run
  std::string target = "cpu";                    ///< "cpu" or "gpu"
  std::string tier;                              ///< "" = the host's
  std::string key;                               ///< cache key, recorded in the manifest
  Stage emit = Stage::object;
  std::function<void(std::string_view phase, double fraction)> progress; ///< may be empty
};

struct CompileResult {
  std::string text;       ///< IR text for every stage but object; for stage ptx, PTX
  std::string object;     ///< bytes of the shared object, for stage object
  Manifest manifest;      ///< filled from stage kernels on; its peaks from stage bufferized on
  ProgramReport report;   ///< work from stage simplified on, kernels from stage kernels on
};

/// Compiles; errors (dead edits, cycles, internal failures) go to `diags` with the plan's places.
using CompileFunction = bool (*)(const CompileRequest &, CompileResult &, Diagnostics &);

/// Loads libnnterp_compiler (once) and returns its function; null with NNT1101 when it cannot be loaded.
CompileFunction loadCompiler(Diagnostics &diags);

} // namespace nnterp
