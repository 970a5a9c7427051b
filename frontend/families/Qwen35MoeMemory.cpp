// Lists the memory of the text graph.
#include "frontend/families/Qwen35MoeMemory.h"

namespace nnterp {

std::vector<SlotSpec> memoryParts(const ModelConfig &config, DType model) {
  std::vector<SlotSpec> parts;
  auto add = [&](const std::string &name, DType dtype, Shape dims) {
    parts.push_back({SlotKind::state, name, dtype, std::move(dims)});
  };
  for (int64_t layer = 0; layer < config.numLayers; ++layer) {
    const std::string block = "layers[" + std::to_string(layer) + "].";
    if (config.isFull(layer)) {
      add(block + "self_attn.keys", model, {-1, config.numKvHeads, -1, config.headDim});
      add(block + "self_attn.values", model, {-1, config.numKvHeads, -1, config.headDim});
    } else {
      add(block + "linear_attn.state", DType::f32,
          {-1, config.linearValueHeads, config.linearKeyDim, config.linearValueDim});
      add(block + "linear_attn.conv", model, {-1, config.convChannels(), config.convKernel});
    }
  }
  return parts;
}

} // namespace nnterp
