// The table of named values of family qwen3_5_moe, in forward order: spec/qwen3_5_moe.md 7.2-7.6 and 7.8.
#include "frontend/families/PointRows.h"

namespace nnterp {

namespace {

/// The text part of the table. Each function adds a run of rows in the order in which the values arise.
class TextRows {
public:
  TextRows(PointRows &rows, const ModelConfig &config) : rows(rows), c(config) {}

  void inputs();
  void embeddings();
  void blockEntry();
  void linearMixer();
  void fullMixer();
  void blockMiddle();
  void sharedExpert();
  void mixture();
  void blockExit();
  void head();

private:
  /// [B, S, …]
  static std::vector<Dim> tokens(std::initializer_list<int64_t> rest) {
    std::vector<Dim> shape{batchDim(), seqDim()};
    for (int64_t x : rest)
      shape.push_back(fixedDim(x));
    return shape;
  }
  std::vector<Dim> stream() const { return tokens({c.hiddenSize}); }
  /// [B, heads, S, D]
  std::vector<Dim> headed(int64_t heads) const { return {batchDim(), fixedDim(heads), seqDim(), fixedDim(c.headDim)}; }
  std::vector<Dim> pattern() const { return {batchDim(), fixedDim(c.numHeads), seqDim(), seqDim()}; }
  std::vector<Dim> deltaState() const {
    return {batchDim(), fixedDim(c.linearValueHeads), fixedDim(c.linearKeyDim), fixedDim(c.linearValueDim)};
  }

  PointRows &rows;
  const ModelConfig &c;
};

void TextRows::inputs() {
  rows.scope(Presence::model, "", "");
  PointInfo &ids = rows.add("input_ids", Layout::Tokens, tokens({}), {"embed_tokens.input"}, "argument of the model",
                            "token ids of the prompt");
  ids.type = ValueType::int64;
  ids.access = Access::readOnly;
  PointInfo &mask = rows.add("attention_mask", Layout::Tokens, tokens({}), {}, "argument of the model",
                             "1 at real tokens, 0 at pads");
  mask.type = ValueType::int64;
  mask.access = Access::readOnly;
  PointInfo &size = rows.add("input_size", Layout::Sizes, {fixedDim(2)}, {}, "argument of the model",
                             "rows and columns of the input, B and S");
  size.type = ValueType::int64;
  size.access = Access::readOnly;
}

void TextRows::embeddings() {
  rows.scope(Presence::model, "", "");
  rows.add("token_embeddings", Layout::Residual, stream(), {"embed_tokens.output"},
           "behind the embedding table, before image features are put in",
           "one row of the table per token, the start of the residual stream");
}

void TextRows::blockEntry() {
  rows.scope(Presence::everyBlock, "", "");
  rows.add("layer_input", Layout::Residual, stream(), {"input"}, "where the residual stream enters the block",
           "the stream as both the residual connection and the first norm read it");
  rows.add("input_layernorm.input", Layout::Residual, stream(), {}, "in front of the first norm",
           "the stream as the first norm alone reads it");
  rows.add("attention_norm_output", Layout::Residual, stream(),
           {"input_layernorm.output", "linear_attn.input", "self_attn.input"}, "behind the first norm",
           "the normed stream that the token mixer reads");
}

void TextRows::linearMixer() {
  const int64_t hv = c.linearValueHeads, dk = c.linearKeyDim, dv = c.linearValueDim;
  rows.scope(Presence::linearBlock, "linear_attn.", "only on linear blocks");
  rows.add("in_proj_qkv.input", Layout::Residual, stream(), {}, "in front of the joint projection",
           "the mixer's input as the query, key and value projection alone reads it");
  rows.add("in_proj_qkv.output", Layout::Channels, tokens({c.convChannels()}), {}, "behind the joint projection",
           "queries, keys and values side by side, before the convolution");
  rows.add("conv1d.input", Layout::Channels, tokens({c.convChannels()}), {}, "in front of the short convolution",
           "the channels that the convolution mixes along the tokens");
  rows.add("conv1d.output", Layout::Channels, tokens({c.convChannels()}), {},
           "behind the short convolution, before its activation", "each channel mixed with its last few tokens");
  rows.add("in_proj_z.input", Layout::Residual, stream(), {}, "in front of the gate projection",
           "the mixer's input as the output gate's projection alone reads it");
  rows.add("in_proj_z.output", Layout::Channels, tokens({c.valueDim()}), {}, "behind the gate projection",
           "the output gate before its activation");
  rows.add("in_proj_b.input", Layout::Residual, stream(), {}, "in front of the write-strength projection",
           "the mixer's input as the write strength's projection alone reads it");
  rows.add("in_proj_b.output", Layout::Gates, tokens({hv}), {}, "behind the write-strength projection",
           "write strength before its sigmoid");
  rows.add("in_proj_a.input", Layout::Residual, stream(), {}, "in front of the decay projection",
           "the mixer's input as the decay's projection alone reads it");
  rows.add("in_proj_a.output", Layout::Gates, tokens({hv}), {}, "behind the decay projection",
           "what the decay is made of, before bias and softplus");
  rows.add("attention_queries", Layout::LinearQK, tokens({hv, dk}), {},
           "argument of the delta rule, before its normalisation",
           "what each value head asks its state; only the direction counts");
  rows.add("attention_keys", Layout::LinearQK, tokens({hv, dk}), {},
           "argument of the delta rule, before its normalisation",
           "where each value head writes in its state; one copy per value head");
  rows.add("attention_values", Layout::LinearV, tokens({hv, dv}), {}, "argument of the delta rule",
           "what each value head writes into its state");
  rows.add("decays", Layout::Gates, tokens({hv}), {}, "argument of the delta rule",
           "logarithm of what is kept of the state at each token; 0 keeps all")
      .type = ValueType::float32;
  rows.add("betas", Layout::Gates, tokens({hv}), {}, "argument of the delta rule",
           "write strength of each token, between 0 and 1");
  PointInfo &before = rows.add("state_input", Layout::State, deltaState(), {}, "argument of the delta rule",
                               "the state that the sequence starts from; zeros, unless a saved one is loaded");
  before.type = ValueType::float32;
  before.place = Place::promptStart;
  rows.add("states", Layout::States, tokens({hv, dk, dv}), {"linear_attn.state"},
           "inside the delta rule, after each token's write",
           "the state that token reads and hands on; costly, and kept only where a plan asks for it")
      .type = ValueType::float32;
  rows.add("attention_head_outputs", Layout::LinearV, tokens({hv, dv}), {}, "result of the delta rule",
           "what each head read from its state, before the gated norm");
  PointInfo &after = rows.add("state_output", Layout::State, deltaState(), {}, "second result of the delta rule",
                              "the state after the last token; only later tokens read it");
  after.type = ValueType::float32;
  after.place = Place::promptEnd;
  rows.add("conv_state", Layout::ConvState, {batchDim(), fixedDim(c.convChannels()), fixedDim(c.convKernel)}, {},
           "what the convolution keeps after the call",
           "the last columns of the convolution's input; only later tokens read them")
      .place = Place::promptEnd;
  rows.add("norm.input", Layout::LinearV, tokens({hv, dv}), {}, "in front of the gated norm",
           "the head outputs as the gated norm reads them");
  rows.add("norm.output", Layout::LinearV, tokens({hv, dv}), {}, "behind the gated norm",
           "the head outputs normed and gated, per head");
  rows.add("out_proj.input", Layout::Channels, tokens({c.valueDim()}), {}, "in front of the output projection",
           "all heads side by side");
  rows.add("attention_output", Layout::Residual, stream(), {"linear_attn.output", "linear_attn.out_proj.output"},
           "behind the output projection", "what the mixer adds to the residual stream");
}

void TextRows::fullMixer() {
  const int64_t n = c.numHeads, nk = c.numKvHeads, d = c.headDim;
  rows.scope(Presence::fullBlock, "self_attn.", "only on full-attention blocks");
  rows.add("q_proj.input", Layout::Residual, stream(), {}, "in front of the query projection",
           "the mixer's input as queries and gate alone read it");
  rows.add("q_proj.output", Layout::Channels, tokens({2 * n * d}), {}, "behind the query projection",
           "per head its query, then its output gate");
  rows.add("k_proj.input", Layout::Residual, stream(), {}, "in front of the key projection",
           "the mixer's input as the keys alone read it");
  rows.add("k_proj.output", Layout::Channels, tokens({nk * d}), {}, "behind the key projection",
           "keys before norm and rotation");
  rows.add("v_proj.input", Layout::Residual, stream(), {}, "in front of the value projection",
           "the mixer's input as the values alone read it");
  rows.add("v_proj.output", Layout::Channels, tokens({nk * d}), {}, "behind the value projection",
           "values, all heads side by side");
  rows.add("q_norm.input", Layout::HeadOutputs, tokens({n, d}), {}, "in front of the query norm",
           "queries per head, without the gate");
  rows.add("q_norm.output", Layout::HeadOutputs, tokens({n, d}), {}, "behind the query norm",
           "queries per head before rotation");
  rows.add("k_norm.input", Layout::HeadOutputs, tokens({nk, d}), {}, "in front of the key norm", "keys per head");
  rows.add("k_norm.output", Layout::HeadOutputs, tokens({nk, d}), {}, "behind the key norm",
           "keys per head before rotation");
  rows.add("attention_queries", Layout::Queries, headed(n), {}, "argument of attention, after the rotary embedding",
           "what each head looks for");
  rows.add("attention_keys", Layout::Keys, headed(nk), {}, "argument of attention, after the rotary embedding",
           "what each token is found by; shared by the query heads of its group");
  rows.add("attention_values", Layout::Values, headed(nk), {}, "argument of attention",
           "what each token gives to those that attend to it");
  rows.add("past_keys", Layout::Memory, headed(nk), {}, "what the cache keeps after the prompt",
           "the prompt's keys as later tokens find them; the prompt itself is not affected")
      .place = Place::promptEnd;
  rows.add("past_values", Layout::Memory, headed(nk), {}, "what the cache keeps after the prompt",
           "the prompt's values as later tokens read them; the prompt itself is not affected")
      .place = Place::promptEnd;
  rows.add("attention_scores", Layout::Pattern, pattern(), {}, "in front of the softmax, scaled and masked",
           "how well each query fits each key; the lowest number where a key may not be seen");
  rows.add("attention_probabilities", Layout::Pattern, pattern(), {}, "behind the softmax",
           "how each query spreads its attention over the keys");
  rows.add("attention_head_outputs", Layout::HeadOutputs, tokens({n, d}), {}, "result of attention, before the gate",
           "each head's mean of the values, weighted by its attention");
  rows.add("attention_premix", Layout::HeadOutputs, tokens({n, d}), {}, "behind the output gate, per head",
           "each head's contribution just before the heads are mixed");
  rows.add("o_proj.input", Layout::Channels, tokens({n * d}), {}, "in front of the output projection",
           "all heads side by side");
  rows.add("attention_output", Layout::Residual, stream(), {"self_attn.output", "self_attn.o_proj.output"},
           "behind the output projection", "what the mixer adds to the residual stream");
}

void TextRows::blockMiddle() {
  rows.scope(Presence::everyBlock, "", "");
  rows.add("layer_mid", Layout::Residual, stream(), {}, "behind the first addition",
           "the stream between mixer and mixture, as both the residual connection and the second norm read it");
  rows.add("post_attention_layernorm.input", Layout::Residual, stream(), {}, "in front of the second norm",
           "the stream as the second norm alone reads it");
  rows.add("mlp_norm_output", Layout::Residual, stream(), {"post_attention_layernorm.output"}, "behind the second norm",
           "the normed stream on its way to the mixture");
  rows.add("mlp_input", Layout::Residual, stream(), {"mlp.input"}, "argument of the mixture",
           "what router, experts and shared expert all read");
}

void TextRows::sharedExpert() {
  const int64_t neurons = c.sharedIntermediate;
  rows.scope(Presence::everyBlock, "mlp.shared_experts.", "");
  rows.add("input", Layout::Residual, stream(), {}, "in front of the shared expert",
           "the mixture's input as the shared expert alone reads it");
  rows.add("gate_proj.input", Layout::Residual, stream(), {}, "in front of the shared expert's gate projection",
           "its input as the gate projection alone reads it");
  rows.add("gate_proj.output", Layout::Neurons, tokens({neurons}), {"mlp.shared_experts.act_fn.input"},
           "behind the shared expert's gate projection", "neurons before the activation");
  rows.add("up_proj.input", Layout::Residual, stream(), {}, "in front of the shared expert's up projection",
           "its input as the up projection alone reads it");
  rows.add("up_proj.output", Layout::Neurons, tokens({neurons}), {}, "behind the shared expert's up projection",
           "what the activated neurons are multiplied by");
  rows.add("mlp_activation", Layout::Neurons, tokens({neurons}), {"mlp.shared_experts.act_fn.output"},
           "behind the activation", "activated neurons before the product");
  rows.add("mlp_neurons", Layout::Neurons, tokens({neurons}), {"mlp.shared_experts.down_proj.input"},
           "in front of the shared expert's down projection", "the neurons that write to the stream");
  rows.add("mlp_output", Layout::Residual, stream(),
           {"mlp.shared_experts.output", "mlp.shared_experts.down_proj.output"},
           "behind the shared expert's down projection", "the shared expert's output before its gate");
}

void TextRows::mixture() {
  const int64_t slots = c.expertsPerToken;
  rows.scope(Presence::everyBlock, "mlp.", "");
  rows.add("router.input", Layout::Residual, stream(), {}, "in front of the router",
           "the mixture's input as the router alone reads it");
  rows.add("router_logits", Layout::RouterLogits, tokens({c.numExperts}), {"mlp.router.output"}, "behind the router",
           "one score per expert; choice and weights of the experts follow from it");
  rows.add("expert_indices", Layout::ExpertIndices, tokens({slots}), {}, "argument of the experts",
           "which expert serves each slot, the most probable first")
      .type = ValueType::int64;
  rows.add("expert_weights", Layout::ExpertWeights, tokens({slots}), {}, "argument of the experts",
           "how much each slot counts; they add up to one and are not renormalised after an edit");
  rows.add("experts.input", Layout::Residual, stream(), {}, "in front of the routed experts",
           "the mixture's input as the chosen experts alone read it");
  rows.add("expert_outputs", Layout::ExpertOutputs, tokens({slots, c.hiddenSize}), {}, "behind the experts, per slot",
           "what each chosen expert contributes, its weight included");
  rows.add("routed_output", Layout::Residual, stream(), {"mlp.experts.output"}, "behind the sum over the slots",
           "all chosen experts together");
  rows.add("shared_expert_gate.input", Layout::Residual, stream(), {}, "in front of the shared expert's gate",
           "the mixture's input as that gate alone reads it");
  rows.add("shared_expert_gate.output", Layout::Scalar, tokens({1}), {}, "behind the gate's projection",
           "the shared expert's gate before its sigmoid, one number per token");
  rows.add("shared_expert_output", Layout::Residual, stream(), {}, "behind the shared expert's gate",
           "the shared expert's contribution");
  rows.add("mlp_output", Layout::Residual, stream(), {"mlp.output"}, "result of the mixture",
           "what the mixture adds to the residual stream");
}

void TextRows::blockExit() {
  rows.scope(Presence::everyBlock, "", "");
  rows.add("layer_output", Layout::Residual, stream(), {"output"}, "behind the second addition",
           "the stream as it leaves the block");
}

void TextRows::head() {
  rows.scope(Presence::model, "", "");
  rows.add("norm.input", Layout::Residual, stream(), {}, "in front of the final norm",
           "the stream after the last block as the final norm reads it");
  rows.add("final_norm_output", Layout::Residual, stream(), {"norm.output"}, "behind the final norm",
           "the normed stream that predicts the next token");
  rows.add("lm_head.input", Layout::Residual, stream(), {}, "in front of the head", "what the head reads");
  rows.add("lm_head_output", Layout::Logits, tokens({c.vocabSize}), {"lm_head.output"}, "behind the head",
           "one score per word of the vocabulary");
  rows.add("logits", Layout::Logits, tokens({c.vocabSize}), {}, "result of the model",
           "the scores that the caller sees and samples from");
  PointInfo &probs =
      rows.add("next_token_probs", Layout::NextTokenProbs, {batchDim(), fixedDim(c.vocabSize)}, {},
               "derived from the logits of each row's last token", "probability of every word to come next");
  probs.type = ValueType::float32;
  probs.access = Access::readOnly;
}

} // namespace

PointTable qwen35MoePoints(const ModelConfig &config) {
  PointRows rows;
  TextRows text(rows, config);
  text.inputs();
  if (config.vision)
    addImageMaskRow(rows);
  text.embeddings();
  if (config.vision)
    addVisionRows(rows, config);
  text.blockEntry();
  text.linearMixer();
  text.fullMixer();
  text.blockMiddle();
  text.sharedExpert();
  text.mixture();
  text.blockExit();
  text.head();
  return PointTable(rows.take(), config.layerTypes, "qwen3_5_moe", config.vision ? config.vision->depth : 0);
}

} // namespace nnterp
