// What a checkpoint is: family, sizes, configuration values with their source, tensors.
#pragma once

#include "frontend/Config.h"

#include <string>

namespace nnterp {

class CheckpointIndex;

/// A page for the terminal. `index` is null when only a configuration was given; then tensors are those that the sizes
/// imply.
std::string infoText(const ModelConfig &config, const CheckpointIndex *index);

/// The same as one JSON object, with every tensor.
std::string infoJson(const ModelConfig &config, const CheckpointIndex *index);

/// "10 x (3 linear, 1 full)" when the blocks repeat a pattern, else runs: "2 linear, 1 full, 5 linear".
std::string blockPattern(const std::vector<BlockKind> &kinds);

} // namespace nnterp
