// Checks between the fields of a configuration, and the fingerprint of what a program depends on.
#include "frontend/ConfigChecks.h"

#include <cmath>

namespace nnterp {

namespace {

/// `a` must be a multiple of `b`.
void divides(ConfigFields &f, const char *keyA, int64_t a, const char *keyB, int64_t b) {
  if (!f.usable({keyA, keyB}) || a % b == 0)
    return;
  f.error("NNT0204", keyA, f.where({keyA, keyB}),
          "\"" + f.path(keyA) + "\" " + std::to_string(a) + " is not a multiple of \"" + keyB + "\" " +
              std::to_string(b));
}

/// A tensor of the model, as the factors of its size.
void bounded(ConfigFields &f, std::initializer_list<const char *> keys, const char *what,
             std::initializer_list<int64_t> factors) {
  if (!f.usable(keys))
    return;
  double elements = 1; // exact enough: the bound is a power of two far above any model
  for (int64_t x : factors)
    elements *= double(x);
  if (elements <= double(kMostElements))
    return;
  f.error("NNT0211", *keys.begin(), f.where(keys),
          std::string(what) + " would have " + Json::of(elements).dump() + " elements; at most " +
              std::to_string(kMostElements) + " are allowed");
}

} // namespace

void checkText(ConfigFields &f, const ModelConfig &c) {
  divides(f, "num_attention_heads", c.numHeads, "num_key_value_heads", c.numKvHeads);
  divides(f, "linear_num_value_heads", c.linearValueHeads, "linear_num_key_heads", c.linearKeyHeads);
  if (f.usable({"num_experts", "num_experts_per_tok"}) && c.expertsPerToken > c.numExperts)
    f.error("NNT0204", "num_experts_per_tok", f.where({"num_experts_per_tok", "num_experts"}),
            "\"" + f.path("num_experts_per_tok") + "\" " + std::to_string(c.expertsPerToken) +
                " is more than \"num_experts\" " + std::to_string(c.numExperts));

  bounded(f, {"hidden_size", "vocab_size"}, "the embedding", {c.vocabSize, c.hiddenSize});
  bounded(f, {"hidden_size", "num_attention_heads", "head_dim"}, "the query projection",
          {2, c.numHeads, c.headDim, c.hiddenSize});
  bounded(f, {"hidden_size", "num_key_value_heads", "head_dim"}, "the key projection",
          {c.numKvHeads, c.headDim, c.hiddenSize});
  // Its rows are QD + QD + VD; three times the larger bounds the sum.
  bounded(
      f,
      {"hidden_size", "linear_num_key_heads", "linear_key_head_dim", "linear_num_value_heads", "linear_value_head_dim"},
      "the projection of a linear block",
      {3, std::max(c.linearKeyHeads * c.linearKeyDim, c.linearValueHeads * c.linearValueDim), c.hiddenSize});
  bounded(f, {"linear_num_value_heads", "linear_key_head_dim", "linear_value_head_dim"}, "the state of a linear block",
          {c.linearValueHeads, c.linearKeyDim, c.linearValueDim});
  bounded(f,
          {"linear_conv_kernel_dim", "linear_num_key_heads", "linear_key_head_dim", "linear_num_value_heads",
           "linear_value_head_dim"},
          "the convolution of a linear block",
          {3, std::max(c.linearKeyHeads * c.linearKeyDim, c.linearValueHeads * c.linearValueDim), c.convKernel});
  bounded(f, {"moe_intermediate_size", "num_experts", "hidden_size"}, "the experts of a block",
          {2, c.numExperts, c.moeIntermediate, c.hiddenSize});
  bounded(f, {"shared_expert_intermediate_size", "hidden_size"}, "the shared expert",
          {c.sharedIntermediate, c.hiddenSize});
}

void checkVision(ConfigFields &f, const VisionConfig &v, bool compareOut, const ModelConfig &c) {
  divides(f, "hidden_size", v.hiddenSize, "num_heads", v.numHeads);
  if (f.usable({"hidden_size", "num_heads"}) && v.hiddenSize % v.numHeads == 0 && v.hiddenSize / v.numHeads % 4 != 0)
    f.error("NNT0204", "num_heads", f.where({"num_heads", "hidden_size"}),
            "\"vision_config\": heads of " + std::to_string(v.hiddenSize / v.numHeads) +
                " dims; expected a multiple of 4 (row and column angles, in pairs)");
  int64_t side = std::llround(std::sqrt(double(v.numPositionEmbeddings)));
  if (f.usable({"num_position_embeddings"}) && side * side != v.numPositionEmbeddings)
    f.error("NNT0204", "num_position_embeddings", f.where({"num_position_embeddings"}),
            "\"vision_config.num_position_embeddings\" " + std::to_string(v.numPositionEmbeddings) +
                " is not the square of a number");
  if (compareOut && f.usable({"out_hidden_size"}) && v.outHiddenSize != c.hiddenSize)
    f.error("NNT0204", "out_hidden_size", f.where({"out_hidden_size"}),
            "\"vision_config.out_hidden_size\" " + std::to_string(v.outHiddenSize) +
                " is not the text model's \"hidden_size\" " + std::to_string(c.hiddenSize));
  bounded(f, {"hidden_size", "intermediate_size"}, "the encoder's block", {v.hiddenSize, v.intermediateSize});
  bounded(f, {"hidden_size", "num_position_embeddings"}, "the encoder's position table",
          {v.hiddenSize, v.numPositionEmbeddings});
  bounded(f, {"hidden_size", "in_channels", "patch_size", "temporal_patch_size"}, "the patch embedding",
          {v.hiddenSize, v.inChannels, v.temporalPatchSize, v.patchSize, v.patchSize});
  int64_t merged = v.hiddenSize * v.spatialMergeSize * v.spatialMergeSize;
  bounded(f, {"hidden_size", "spatial_merge_size"}, "the encoder's merger", {merged, merged});
  bounded(f, {"out_hidden_size", "hidden_size", "spatial_merge_size"}, "the merger's output",
          {merged, v.outHiddenSize});
}

std::string configFingerprint(const ModelConfig &c) {
  std::string text = "qwen3_5_moe";
  auto add = [&](const char *key, const std::string &value) { text += std::string(";") + key + "=" + value; };
  auto size = [&](const char *key, int64_t value) { add(key, std::to_string(value)); };
  size("V", c.vocabSize), size("C", c.hiddenSize), size("L", c.numLayers);
  size("N", c.numHeads), size("NK", c.numKvHeads), size("D", c.headDim), size("R", c.rotaryDims);
  size("HK", c.linearKeyHeads), size("HV", c.linearValueHeads), size("DK", c.linearKeyDim);
  size("DV", c.linearValueDim), size("KW", c.convKernel);
  size("E", c.numExperts), size("K", c.expertsPerToken), size("I", c.moeIntermediate), size("IS", c.sharedIntermediate);
  add("eps", Json::of(c.rmsNormEps).dump());
  add("theta", Json::of(c.ropeTheta).dump());
  size("s0", c.mropeSection[0]), size("s1", c.mropeSection[1]), size("s2", c.mropeSection[2]);
  size("tied", c.tieWordEmbeddings);
  std::string kinds;
  for (BlockKind kind : c.layerTypes)
    kinds += kind == BlockKind::full ? 'F' : 'L';
  add("blocks", kinds);
  return text;
}

} // namespace nnterp
