// Rows of the image encoder and its projector, in forward order: spec/qwen3_5_moe.md 7.7 and 7.8.
#include "frontend/families/PointRows.h"

namespace nnterp {

namespace {

constexpr const char *kCondition = "only when the prompt has images";

/// Shapes of the encoder: one packed row of patches.
struct VisionShapes {
  explicit VisionShapes(const VisionConfig &v) : v(v), headDim(v.hiddenSize / v.numHeads) {}

  static Dim patchDim() { return {Dim::patches, 0}; }
  std::vector<Dim> patches(int64_t width) const { return {fixedDim(1), patchDim(), fixedDim(width)}; }
  std::vector<Dim> stream() const { return patches(v.hiddenSize); }
  std::vector<Dim> headed() const { return {fixedDim(1), fixedDim(v.numHeads), patchDim(), fixedDim(headDim)}; }
  std::vector<Dim> perHead() const { return {fixedDim(1), patchDim(), fixedDim(v.numHeads), fixedDim(headDim)}; }
  std::vector<Dim> segment() const { return {fixedDim(1), fixedDim(v.numHeads), {Dim::segment, 0}, {Dim::segment, 0}}; }
  std::vector<Dim> merged(int64_t width) const { return {{Dim::imageTokens, 0}, fixedDim(width)}; }

  const VisionConfig &v;
  int64_t headDim;
};

void addAttention(PointRows &rows, const VisionShapes &s, const std::string &block) {
  rows.add("attn.qkv.input", Layout::Patches, s.stream(), {}, "in front of the joint projection",
           "the normed patches as queries, keys and values read them");
  rows.add("attn.qkv.output", Layout::PatchNeurons, s.patches(3 * s.v.hiddenSize), {}, "behind the joint projection",
           "queries, keys and values side by side, before rotation");
  rows.add("self_attn.attention_queries", Layout::PatchQKV, s.headed(), {}, "argument of attention, after rotation",
           "queries of all patches of all images");
  rows.add("self_attn.attention_keys", Layout::PatchQKV, s.headed(), {}, "argument of attention, after rotation",
           "keys of all patches of all images");
  rows.add("self_attn.attention_values", Layout::PatchQKV, s.headed(), {}, "argument of attention",
           "values of all patches of all images");
  rows.add("self_attn.attention_scores#i", Layout::SegmentPattern, s.segment(), {},
           "in front of the softmax of image i", "how well each patch's query fits each key of the same image");
  rows.add("self_attn.attention_probabilities#i", Layout::SegmentPattern, s.segment(), {},
           "behind the softmax of image i", "how each patch spreads its attention over its image");
  rows.add("self_attn.attention_head_outputs", Layout::PatchHeads, s.perHead(), {}, "result of attention",
           "each head's weighted mean of the values");
  rows.add("self_attn.attention_premix", Layout::PatchHeads, s.perHead(), {},
           "in front of the output projection, per head", "each head's contribution just before the heads are mixed");
  rows.add("attn.proj.input", Layout::Patches, s.stream(), {}, "in front of the output projection",
           "all heads side by side");
  rows.add("self_attn.attention_output", Layout::Patches, s.stream(),
           {block + "attn.output", block + "attn.proj.output"}, "behind the output projection",
           "what attention adds to the patch stream");
}

void addBlock(PointRows &rows, const VisionShapes &s) {
  const std::string block = "vision.layers[j].";
  rows.scope(Presence::image, block, kCondition);
  rows.add("layer_input", Layout::Patches, s.stream(), {block + "input"}, "where the patch stream enters the block",
           "the stream as both the residual connection and the first norm read it");
  rows.add("norm1.input", Layout::Patches, s.stream(), {}, "in front of the first norm",
           "the stream as the first norm alone reads it");
  rows.add("attention_norm_output", Layout::Patches, s.stream(), {block + "norm1.output"}, "behind the first norm",
           "the normed patches that attention reads");
  addAttention(rows, s, block);
  rows.add("layer_mid", Layout::Patches, s.stream(), {}, "behind the first addition",
           "the stream between attention and MLP, as both the residual connection and the second norm read it");
  rows.add("norm2.input", Layout::Patches, s.stream(), {}, "in front of the second norm",
           "the stream as the second norm alone reads it");
  rows.add("mlp_norm_output", Layout::Patches, s.stream(), {block + "norm2.output"}, "behind the second norm",
           "the normed patches on their way to the MLP");
  rows.add("mlp_input", Layout::Patches, s.stream(), {}, "argument of the MLP", "what the MLP reads");
  rows.add("mlp.linear_fc1.input", Layout::Patches, s.stream(), {}, "in front of the first projection",
           "the MLP's input as its first projection reads it");
  rows.add("mlp.linear_fc1.output", Layout::PatchNeurons, s.patches(s.v.intermediateSize), {},
           "behind the first projection", "neurons before the activation");
  rows.add("mlp.mlp_activation", Layout::PatchNeurons, s.patches(s.v.intermediateSize), {}, "behind the activation",
           "activated neurons");
  rows.add("mlp.mlp_neurons", Layout::PatchNeurons, s.patches(s.v.intermediateSize), {block + "mlp.linear_fc2.input"},
           "in front of the second projection", "the neurons that write to the patch stream");
  rows.add("mlp.mlp_output", Layout::Patches, s.stream(), {block + "mlp.linear_fc2.output", block + "mlp.output"},
           "result of the MLP", "what the MLP adds to the patch stream");
  rows.add("layer_output", Layout::Patches, s.stream(), {block + "output"}, "behind the second addition",
           "the stream as it leaves the block");
}

void addProjector(PointRows &rows, const VisionShapes &s) {
  const int64_t wide = s.v.hiddenSize * s.v.spatialMergeSize * s.v.spatialMergeSize;
  rows.scope(Presence::image, "projector.", kCondition);
  rows.add("input", Layout::PatchRows, {s.patchDim(), fixedDim(s.v.hiddenSize)}, {}, "in front of the projector",
           "the encoder's last stream, one row per patch");
  rows.add("norm.output", Layout::PatchRows, {s.patchDim(), fixedDim(s.v.hiddenSize)}, {},
           "behind the projector's norm", "normed patches before neighbours are joined");
  rows.add("linear_fc1.input", Layout::ImageFeatures, s.merged(wide), {},
           "in front of the projector's first projection", "neighbouring patches joined into one row each");
  rows.add("linear_fc1.output", Layout::ImageFeatures, s.merged(wide), {}, "behind the projector's first projection",
           "its neurons before the activation");
  rows.add("act_fn.output", Layout::ImageFeatures, s.merged(wide), {}, "behind the projector's activation",
           "its activated neurons");
  rows.add("linear_fc2.input", Layout::ImageFeatures, s.merged(wide), {},
           "in front of the projector's second projection", "the neurons that make the image features");
  rows.add("output", Layout::ImageFeatures, s.merged(s.v.outHiddenSize), {}, "result of the projector",
           "one row per image token, as wide as the text stream");
}

} // namespace

void addImageMaskRow(PointRows &rows) {
  rows.scope(Presence::image, "vision.", kCondition);
  PointInfo &mask = rows.add("image_token_mask", Layout::ImageTokenMask, {batchDim(), seqDim()}, {},
                             "derived from the token ids", "true where an image feature stands in for a token");
  mask.access = Access::readOnly;
  mask.type = ValueType::boolean;
}

void addVisionRows(PointRows &rows, const ModelConfig &config) {
  const VisionShapes s(*config.vision);
  rows.scope(Presence::image, "vision.", kCondition);
  rows.add("patch_embeddings", Layout::Patches, s.stream(), {"vision.patch_embed.proj.output"},
           "behind the patch embedding, before positions are added", "one row per patch of pixels");
  rows.add("pos_embed.output", Layout::Patches, s.stream(), {}, "behind the position embedding",
           "the learned position table, interpolated to the image's grid");
  addBlock(rows, s);
  addProjector(rows, s);
  rows.scope(Presence::image, "vision.", kCondition);
  rows.add("tower_output", Layout::Patches, s.stream(), {}, "result of the encoder, read after the projector ran",
           "the last stream; to change what the text sees, edit the last layer_output or projector.input")
      .access = Access::readOnly;
  rows.add("image_features", Layout::ImageFeatures, s.merged(s.v.outHiddenSize), {},
           "argument of the step that puts features into the stream", "what stands at the image tokens of the prompt");
}

} // namespace nnterp
