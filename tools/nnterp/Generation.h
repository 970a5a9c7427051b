// How a run generates: what the user asks for, over what the checkpoint says.
#pragma once

#include "frontend/Config.h"
#include "runtime/exec/Sampling.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// What the user says; absent: as the checkpoint says.
struct GenerationOptions {
  int64_t tokens = 0; ///< per row; 0: none
  bool greedy = false;
  std::optional<double> temperature, topP; ///< each of these three asks for sampling
  std::optional<int64_t> topK;
  uint64_t seed = 0;
  std::optional<std::vector<int64_t>> eos; ///< ids that end a row; empty: none does
  std::optional<int64_t> pad;              ///< written behind a row's end
};

/// What is in force.
struct GenerationSettings {
  int64_t tokens = 0;
  SamplingSettings sampling;
  std::vector<int64_t> eos;
  int64_t pad = 0;

  bool ends(int64_t token) const { return std::find(eos.begin(), eos.end(), token) != eos.end(); }
};

/// Sampling from generation_config.json, and where it says nothing as transformers does: temperature 1, top-k 50, top-p 1. End
/// tokens and pad as spec/plan.md 7: from that file, else from the configuration, else from the tokenizer; `folder` holds them.
/// Errors: those of loadGenerationConfig, NNT1302, NNT1303.
std::optional<GenerationSettings> generationSettings(const GenerationOptions &options, const std::string &folder,
                                                     const ModelConfig &config, Diagnostics &diags);

} // namespace nnterp
