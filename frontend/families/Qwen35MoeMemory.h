// What a sequence of family qwen3_5_moe remembers between calls.
#pragma once

#include "frontend/Config.h"
#include "runtime/abi/Manifest.h"

#include <vector>

namespace nnterp {

/// Every part of one world's memory under its name of Manifest.h, in forward order: the recurrent state in float32, the rest in
/// the model's dtype. Axis 0 counts rows; axis 2 of keys and values counts tokens.
std::vector<SlotSpec> memoryParts(const ModelConfig &config, DType model);

} // namespace nnterp
