// generation_config.json of a checkpoint: how its makers would have tokens chosen, and what ends a text.
#pragma once

#include "runtime/abi/Json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// What the file says; absent where it says nothing.
struct GenerationConfig {
  std::vector<int64_t> eos;
  std::optional<int64_t> pad;
  std::optional<bool> sample;
  std::optional<double> temperature, topP;
  std::optional<int64_t> topK;
};

/// Keys other than those above are for others and are ignored; null is as good as absent. Errors: NNT1301.
std::optional<GenerationConfig> readGenerationConfig(const Json &json, Diagnostics &diags);

/// Reads `folder`/generation_config.json; a checkpoint need not have one. Errors: NNT0101, NNT0103, NNT1301.
std::optional<GenerationConfig> loadGenerationConfig(const std::string &folder, Diagnostics &diags);

} // namespace nnterp
