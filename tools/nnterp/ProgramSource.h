// The program for a plan: from the cache, or compiled and put there.
#pragma once

#include "runtime/codegen/Compiler.h"
#include "runtime/exec/Program.h"
#include "tools/nnterp/PreparePlan.h"

#include <functional>
#include <memory>
#include <string>

namespace nnterp {

struct ProgramRequest {
  const PreparedPlan &prepared;
  const CheckpointIndex &weights;
  DType dtype = DType::f32;
  bool useCache = true;
  std::string cacheDir; ///< "" = ProgramCache::defaultRoot()
  std::function<void(std::string_view phase, double fraction)> progress;
};

struct ReadyProgram {
  std::unique_ptr<Program> program;
  bool compiled = false; ///< false: it came from the cache, and no compiler was loaded
};

/// The key under which the program is cached.
std::string programKey(const ProgramRequest &request);

/// Errors: those of the compiler, NNT1014, NNT1015. A cache that cannot be written is a note.
std::optional<ReadyProgram> obtainProgram(const ProgramRequest &request, Diagnostics &diags);

/// Compiles to a stage. `weights` is null for a configuration alone: then every weight has the configuration's dtype.
std::optional<CompileResult> compileTo(Stage stage, const ModelConfig &config, const ResolvedPlan *plan, DType dtype,
                                       const CheckpointIndex *weights, const std::string &key,
                                       std::function<void(std::string_view, double)> progress, Diagnostics &diags);

} // namespace nnterp
