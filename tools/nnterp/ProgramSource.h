// The program for a plan: from the cache, or compiled and put there.
#pragma once

#include "runtime/codegen/Compiler.h"
#include "runtime/exec/Program.h"
#include "runtime/gpu/Target.h"
#include "tools/nnterp/PreparePlan.h"

#include <functional>
#include <memory>
#include <string>

namespace nnterp {

struct ProgramRequest {
  const PreparedPlan &prepared;
  const CheckpointIndex &weights;
  DType dtype = DType::f32;
  Target target = Target::cpu;
  bool useCache = true;
  std::string cacheDir = ""; ///< "" = ProgramCache::defaultRoot()
  std::function<void(std::string_view phase, double fraction)> progress = {};
};

struct ReadyProgram {
  std::unique_ptr<Program> program;
  bool compiled = false; ///< false: it came from the cache, and no compiler was loaded
};

/// The key under which the program is cached.
std::string programKey(const ProgramRequest &request);

/// Compiles the program into the cache, unless it is there; whether it had to be compiled. Errors: those of the
/// compiler. A cache that cannot be written is a note.
std::optional<bool> cacheProgram(const ProgramRequest &request, Diagnostics &diags);

/// The program, opened; one for a GPU on `device`. Errors: those of the compiler and of Program::open.
std::optional<ReadyProgram> obtainProgram(const ProgramRequest &request, Diagnostics &diags,
                                          std::shared_ptr<gpu::Device> device = nullptr);

/// What is compiled, besides the plan. `weights` is null for a configuration alone: then every weight has the
/// configuration's dtype.
struct CompileWish {
  DType dtype = DType::f32;
  Target target = Target::cpu;
  const CheckpointIndex *weights = nullptr;
  std::string key = "";
  std::function<void(std::string_view, double)> progress = {};
};

/// Compiles to a stage.
std::optional<CompileResult> compileTo(Stage stage, const ModelConfig &config, const ResolvedPlan *plan,
                                       const CompileWish &wish, Diagnostics &diags);

} // namespace nnterp
