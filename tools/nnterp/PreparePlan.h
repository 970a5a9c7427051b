// What all commands about plans begin with: the configuration, the table of names, the plan against them.
#pragma once

#include "frontend/plan/Resolved.h"
#include "runtime/codegen/Compiler.h"

#include <optional>
#include <string>

namespace nnterp {

/// A plan as the user gives it. Without file, JSON and flags: the empty plan, which taps the logits.
struct PlanSource {
  std::string path;         ///< a plan file; "" = none
  std::optional<Json> json; ///< instead of a file
  PlanFlags flags;
};

/// Reads the plan and adds the flags; all errors in one go.
std::optional<Plan> loadPlan(const PlanSource &source, Diagnostics &diags);

/// A model and a plan that fits it.
struct PreparedPlan {
  ModelConfig config;
  PointTable points;
  ResolvedPlan resolved;
};

/// Whether a plan names a value that exists only where there are images.
bool namesImages(const Plan &plan, const PointTable &points);

/// A plan that names values of images is for a run that has some. Errors of the configuration and of the plan's text are reported together, those of the plan against the model after.
/// `shape`: of the run that the plan is for.
std::optional<PreparedPlan> preparePlan(const std::string &checkpoint, const PlanSource &source, RunShape shape,
                                        Diagnostics &diags, bool textOnly = false);

/// What of a run is structure; `generate`: tokens per row.
RunShape runShape(int64_t generate, bool chunked = false, bool save = false, bool load = false);

/// True for a path that is a config.json and not a folder with weights.
bool isConfigAlone(const std::string &checkpoint);

/// Whether there are weights: their storage types are part of the graph. A configuration alone compiles to every stage but the last.
bool haveWeights(const std::string &checkpoint);

/// The folder that holds tokenizer and weights.
std::string checkpointFolder(const std::string &checkpoint);

/// A checkpoint's tensors, and the model dtype of a run on it.
struct OpenWeights {
  CheckpointIndex index;
  DType dtype;
};

/// Opens the weights for a run in `requested`, or in the dtype that design.md 8 calls auto: the configuration's, else
/// the embedding's; float16 runs as float32, FP8 as bfloat16.
std::optional<OpenWeights> openWeights(const std::string &checkpoint, const ModelConfig &config,
                                       std::optional<DType> requested, Diagnostics &diags, bool images = false);

/// Storage dtypes by key, for the compiler.
std::map<std::string, DType> storageTypes(const CheckpointIndex &index);

} // namespace nnterp
