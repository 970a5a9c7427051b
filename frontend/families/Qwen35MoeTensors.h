// The weights that the text graph of family qwen3_5_moe needs.
#pragma once

#include "frontend/Config.h"
#include "runtime/weights/Checkpoint.h"

#include <vector>

namespace nnterp {

/// Every tensor of the text graph under its standard key (text-only prefix, fused experts), in forward order, with the
/// shape of spec/qwen3_5_moe.md 2.2. `conv1d.weight` keeps its stored shape [CD, 1, KW].
std::vector<WantedTensor> wantedTensors(const ModelConfig &config, bool images = false);

} // namespace nnterp
