// Lists the weights of family qwen3_5_moe with their shapes: spec/qwen3_5_moe.md 2.2.
#include "frontend/families/Qwen35MoeTensors.h"

namespace nnterp {

namespace {

class TensorList {
public:
  explicit TensorList(const ModelConfig &config) : c(config) {}

  std::vector<WantedTensor> run(bool images) {
    if (images && c.vision)
      addVision(*c.vision);
    add("model.embed_tokens.weight", {c.vocabSize, c.hiddenSize});
    for (int64_t layer = 0; layer < c.numLayers; ++layer) {
      prefix = "model.layers." + std::to_string(layer) + ".";
      add("input_layernorm.weight", {c.hiddenSize});
      c.isFull(layer) ? addFull() : addLinear();
      add("post_attention_layernorm.weight", {c.hiddenSize});
      addMixture();
    }
    prefix.clear();
    add("model.norm.weight", {c.hiddenSize});
    add("lm_head.weight", {c.vocabSize, c.hiddenSize});
    return std::move(list);
  }

private:
  void add(const std::string &name, Shape shape, std::vector<std::string> expertParts = {}) {
    list.push_back({prefix + name, std::move(shape), std::move(expertParts)});
  }

  void addLinear() {
    add("linear_attn.in_proj_qkv.weight", {c.convChannels(), c.hiddenSize});
    add("linear_attn.in_proj_z.weight", {c.valueDim(), c.hiddenSize});
    add("linear_attn.in_proj_b.weight", {c.linearValueHeads, c.hiddenSize});
    add("linear_attn.in_proj_a.weight", {c.linearValueHeads, c.hiddenSize});
    add("linear_attn.conv1d.weight", {c.convChannels(), 1, c.convKernel});
    add("linear_attn.A_log", {c.linearValueHeads});
    add("linear_attn.dt_bias", {c.linearValueHeads});
    add("linear_attn.norm.weight", {c.linearValueDim});
    add("linear_attn.out_proj.weight", {c.hiddenSize, c.valueDim()});
  }

  void addFull() {
    add("self_attn.q_proj.weight", {2 * c.numHeads * c.headDim, c.hiddenSize}); // per head: query rows, then gate rows
    add("self_attn.k_proj.weight", {c.numKvHeads * c.headDim, c.hiddenSize});
    add("self_attn.v_proj.weight", {c.numKvHeads * c.headDim, c.hiddenSize});
    add("self_attn.q_norm.weight", {c.headDim});
    add("self_attn.k_norm.weight", {c.headDim});
    add("self_attn.o_proj.weight", {c.hiddenSize, c.numHeads * c.headDim});
  }

  void addMixture() {
    add("mlp.shared_expert.gate_proj.weight", {c.sharedIntermediate, c.hiddenSize});
    add("mlp.shared_expert.up_proj.weight", {c.sharedIntermediate, c.hiddenSize});
    add("mlp.shared_expert.down_proj.weight", {c.hiddenSize, c.sharedIntermediate});
    add("mlp.gate.weight", {c.numExperts, c.hiddenSize});
    add("mlp.experts.gate_up_proj", {c.numExperts, 2 * c.moeIntermediate, c.hiddenSize}, {"gate_proj", "up_proj"});
    add("mlp.experts.down_proj", {c.numExperts, c.hiddenSize, c.moeIntermediate}, {"down_proj"});
    add("mlp.shared_expert_gate.weight", {1, c.hiddenSize});
  }

  void addAffine(const std::string &name, Shape shape) {
    const int64_t out = shape.front();
    add(name + ".weight", std::move(shape));
    add(name + ".bias", {out});
  }

  void addVision(const VisionConfig &v) {
    prefix = "model.visual.";
    const int64_t g = v.hiddenSize, wide = g * v.spatialMergeSize * v.spatialMergeSize;
    addAffine("patch_embed.proj", {g, v.inChannels, v.temporalPatchSize, v.patchSize, v.patchSize});
    add("pos_embed.weight", {v.numPositionEmbeddings, g});
    for (int64_t block = 0; block < v.depth; ++block) {
      prefix = "model.visual.blocks." + std::to_string(block) + ".";
      addAffine("norm1", {g});
      addAffine("attn.qkv", {3 * g, g});
      addAffine("attn.proj", {g, g});
      addAffine("norm2", {g});
      addAffine("mlp.linear_fc1", {v.intermediateSize, g});
      addAffine("mlp.linear_fc2", {g, v.intermediateSize});
    }
    prefix = "model.visual.merger.";
    addAffine("norm", {g});
    addAffine("linear_fc1", {wide, wide});
    addAffine("linear_fc2", {v.outHiddenSize, wide});
    prefix.clear();
  }

  const ModelConfig &c;
  std::string prefix;
  std::vector<WantedTensor> list;
};

} // namespace

std::vector<WantedTensor> wantedTensors(const ModelConfig &config, bool images) {
  return TensorList(config).run(images);
}

} // namespace nnterp
