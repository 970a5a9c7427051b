// Emits the graph of family qwen3_5_moe, step by step as spec/qwen3_5_moe.md section 3 has it.
#include "frontend/families/Qwen35MoeGraph.h"

#include "frontend/families/GraphEmitter.h"
#include "frontend/families/Qwen35MoeVisionGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <cmath>

using namespace mlir;

namespace nnterp {
namespace {

class Emitter : GraphEmitter {
public:
  Emitter(MLIRContext &context, const ModelConfig &config, const PointTable &points,
          const std::map<std::string, DType> &weightTypes, DType dtype, const RunShape &shape,
          const std::set<std::string> &segmentPoints)
      : GraphEmitter(context, config, points, weightTypes, dtype), shape(shape), segmentPoints(segmentPoints) {}

  OwningOpRef<ModuleOp> emit() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc, "model");
    b.setInsertionPointToEnd(module->getBody());
    if (shape.images) {
      emitQwen35MoeVision(*this, segmentPoints);
      b.setInsertionPointToEnd(module->getBody());
    }
    function("main", "", shape.resume);
    if (shape.steps) {
      b.setInsertionPointToEnd(module->getBody());
      function("step", "@gen", true);
    }
    return module;
  }

private:
  const RunShape &shape;
  const std::set<std::string> &segmentPoints;
  Value ids, lengths, cosines, sines;
  Value pads;        ///< null in the function for generated tokens
  Value imageRows;   ///< where an input has images, in the function for the prompt
  Value past, total; ///< null in a function that starts afresh

  Value rmsNorm(Value x, Value gain) {
    return hybrid::RmsNormOp::create(b, loc, x, gain, /*unit_offset=*/b.getUnitAttr(), b.getF64FloatAttr(c.rmsNormEps));
  }

  /// A function over one call; its inputs are named with `suffix`.
  void function(StringRef symbol, StringRef suffix, bool fromMemory) {
    constexpr int64_t dyn = ShapedType::kDynamic;
    Type i64 = b.getI64Type(), perRow = RankedTensorType::get({dyn}, i64);
    struct Input {
      const char *name;
      Type type;
      Value *value;
    };
    Value positions;
    SmallVector<Input> inputs{{"ids", RankedTensorType::get({dyn, dyn}, i64), &ids},
                              {"lengths", perRow, &lengths},
                              {"positions", RankedTensorType::get({3, dyn, dyn}, i64), &positions}};
    pads = imageRows = past = total = Value();
    if (suffix.empty()) { // the prompt's
      inputs.push_back({"pads", perRow, &pads});
      if (shape.images)
        inputs.push_back({"image_rows", RankedTensorType::get({dyn, dyn}, i64), &imageRows});
    }
    if (fromMemory) {
      inputs.push_back({"past", perRow, &past});
      inputs.push_back({"total", RankedTensorType::get({1}, i64), &total});
    }
    SmallVector<Type> types;
    for (const Input &input : inputs)
      types.push_back(input.type);
    auto op = func::FuncOp::create(b, loc, symbol, b.getFunctionType(types, {}));
    Block *entry = op.addEntryBlock();
    for (auto [i, input] : llvm::enumerate(inputs)) {
      op.setArgAttr(unsigned(i), "nnterp.input", b.getStringAttr(input.name + suffix));
      *input.value = entry->getArgument(unsigned(i));
    }
    b.setInsertionPointToStart(entry);
    model(positions);
    func::ReturnOp::create(b, loc);
  }

  /// What the sequence left in this part of its memory, or zeros where a function starts afresh.
  Value initialState(const std::string &part, ArrayRef<int64_t> dims, Type element) {
    if (!past)
      return hybrid::InitialStateOp::create(b, loc, lengths, dims, element);
    return memory(part, dims, element);
  }
  Value memory(const std::string &part, ArrayRef<int64_t> dims, Type element) {
    SmallVector<int64_t> all{ShapedType::kDynamic};
    llvm::append_range(all, dims);
    return hybrid::MemoryOp::create(b, loc, RankedTensorType::get(all, element), at + part, /*of_run=*/false);
  }
  void remember(const std::string &part, Value value) {
    if (shape.memory)
      hybrid::RememberOp::create(b, loc, value, at + part, shape.save, /*of_run=*/false);
  }
  /// Appends the call's keys or values to their cache, if there is one, and names the whole of it; gives what attention
  /// reads, which an edit of that name does not reach.
  Value append(const std::string &part, const char *name, Value added) {
    if (!shape.memory) {
      point(name, added);
      return added;
    }
    Value cache = memory(part, cast<RankedTensorType>(added.getType()).getShape().drop_front(), md);
    if (!past) { // nothing stands before the call: it need not look into the cache
      Value kept = point(name, added);
      remember(part, hybrid::KvAppendOp::create(b, loc, cache, kept, lengths, past));
      return added;
    }
    cache = hybrid::KvAppendOp::create(b, loc, cache, added, lengths, past);
    Value kept = point(name, hybrid::KvViewOp::create(b, loc, cache, total));
    remember(part, hybrid::KvStoreOp::create(b, loc, cache, kept));
    return hybrid::KvViewOp::create(b, loc, cache, total);
  }

  void model(Value positions) {
    Value tokens = point("input_ids", ids);
    point("attention_mask", hybrid::TokenMaskOp::create(b, loc, ids, lengths));
    point("input_size", hybrid::InputSizeOp::create(b, loc, ids));
    Value x = hybrid::EmbeddingOp::create(b, loc, tokens,
                                          weight("model.embed_tokens.weight", {c.vocabSize, c.hiddenSize}), md);
    if (imageRows)
      point("vision.image_token_mask", hybrid::ImageMaskOp::create(b, loc, imageRows));
    x = point("token_embeddings", x);
    if (imageRows) {
      Value features = hybrid::MemoryOp::create(b, loc, RankedTensorType::get({ShapedType::kDynamic, c.hiddenSize}, md),
                                                imageFeaturesPart, /*of_run=*/true);
      x = hybrid::ScatterRowsOp::create(b, loc, x, features, imageRows);
    }
    auto table = hybrid::RopeTableOp::create(b, loc, positions, c.mropeSection, inverseFrequencies(), md);
    cosines = table.getCosines();
    sines = table.getSines();
    for (int64_t i = 0; i < c.numLayers; ++i)
      x = block(i, x);
    x = point("norm.input", x);
    x = point("final_norm_output", rmsNorm(x, weight("model.norm.weight", {c.hiddenSize})));
    x = point("lm_head.input", x);
    Value logits = linear(x, weight("lm_head.weight", {c.vocabSize, c.hiddenSize}));
    logits = point("logits", point("lm_head_output", logits));
    Value last = hybrid::LastTokenOp::create(b, loc, logits, lengths);
    if (shape.next)
      last = PointOp::create(b, loc, last, "next_logits", "NextTokenProbs", /*read_only=*/true);
    point("next_token_probs", hybrid::SoftmaxOp::create(b, loc, last, Value(), /*causal=*/false, f32));
  }

  /// Spec 3.4: float32 throughout, the power alone in double.
  SmallVector<float> inverseFrequencies() {
    SmallVector<float> out;
    for (int64_t i = 0; i < c.rotaryDims / 2; ++i) {
      float exponent = float(2 * i) / float(c.rotaryDims);
      out.push_back(1.0f / float(std::pow(c.ropeTheta, double(exponent))));
    }
    return out;
  }

  Value block(int64_t i, Value input) {
    at = "layers[" + std::to_string(i) + "].";
    stored = "model.layers." + std::to_string(i) + ".";
    auto op = hybrid::BlockOp::create(b, loc, TypeRange{input.getType()}, i);
    {
      OpBuilder::InsertionGuard guard(b);
      b.createBlock(&op.getBody());
      Value x = point("layer_input", input);
      Value n = rmsNorm(point("input_layernorm.input", x), own("input_layernorm.weight", {c.hiddenSize}));
      n = point("attention_norm_output", n);
      Value h = point("layer_mid", add(x, c.isFull(i) ? attention(n) : deltaNet(n)));
      Value n2 =
          rmsNorm(point("post_attention_layernorm.input", h), own("post_attention_layernorm.weight", {c.hiddenSize}));
      n2 = point("mlp_input", point("mlp_norm_output", n2));
      Value y = point("layer_output", add(h, mixture(n2)));
      hybrid::YieldOp::create(b, loc, y);
    }
    at.clear();
    return op.getResult(0);
  }

  /// Spec 3.5.
  Value deltaNet(Value n) {
    int64_t hv = c.linearValueHeads, dk = c.linearKeyDim, dv = c.linearValueDim, repeat = hv / c.linearKeyHeads;
    auto name = [](const char *s) { return std::string("linear_attn.") + s; };
    Value u = point(name("in_proj_qkv.output"),
                    project(name("in_proj_qkv"), n, c.convChannels(), "linear_attn.in_proj_qkv.weight"));
    u = point(name("conv1d.input"), u);
    auto conv =
        hybrid::ShortConvOp::create(b, loc, u, own("linear_attn.conv1d.weight", {c.convChannels(), 1, c.convKernel}),
                                    initialState("linear_attn.conv", {c.convChannels(), c.convKernel}, md), lengths);
    u = hybrid::SiluOp::create(b, loc, point(name("conv1d.output"), conv.getResult()));
    Value z =
        point(name("in_proj_z.output"), project(name("in_proj_z"), n, c.valueDim(), "linear_attn.in_proj_z.weight"));
    Value beta = point(name("in_proj_b.output"), project(name("in_proj_b"), n, hv, "linear_attn.in_proj_b.weight"));
    Value a = point(name("in_proj_a.output"), project(name("in_proj_a"), n, hv, "linear_attn.in_proj_a.weight"));
    Value q = point(name("attention_queries"), heads(u, 0, dk, dk, hv, repeat));
    Value k = point(name("attention_keys"), heads(u, c.queryDim(), dk, dk, hv, repeat));
    Value v = point(name("attention_values"), heads(u, 2 * c.queryDim(), dv, dv, hv));
    Value rate = own("linear_attn.A_log", {hv}), bias = own("linear_attn.dt_bias", {hv});
    Value g = point(name("decays"), hybrid::DecayOp::create(b, loc, a, rate, bias));
    beta = point(name("betas"), hybrid::SigmoidOp::create(b, loc, beta));
    Value state = point(name("state_input"), initialState("linear_attn.state", {hv, dk, dv}, f32));
    if (pads)
      state = hybrid::PadDecayOp::create(b, loc, state, rate, bias, pads, md);
    Value qn =
        hybrid::L2NormOp::create(b, loc, q, b.getF64FloatAttr(1e-6), b.getF64FloatAttr(1.0 / std::sqrt(double(dk))));
    Value kn = hybrid::L2NormOp::create(b, loc, k, b.getF64FloatAttr(1e-6), b.getF64FloatAttr(1.0));
    constexpr int64_t dyn = ShapedType::kDynamic;
    auto delta = hybrid::DeltaRuleOp::create(b, loc, v.getType(), state.getType(),
                                             RankedTensorType::get({dyn, dyn, hv, dk, dv}, f32), Type(), qn, kn, v, g,
                                             beta, state, lengths);
    point(name("states"), delta.getStates());
    Value y = point(name("attention_head_outputs"), delta.getResult());
    remember("linear_attn.state", point(name("state_output"), delta.getStateOut()));
    remember("linear_attn.conv", point(name("conv_state"), conv.getStateOut()));
    y = hybrid::GatedRmsNormOp::create(b, loc, point(name("norm.input"), y), heads(z, 0, dv, dv, hv),
                                       own("linear_attn.norm.weight", {dv}), b.getF64FloatAttr(c.rmsNormEps));
    y = merged(point(name("norm.output"), y));
    return point(name("attention_output"), project(name("out_proj"), y, c.hiddenSize, "linear_attn.out_proj.weight"));
  }

  /// Spec 3.3.
  Value attention(Value n) {
    int64_t d = c.headDim, nq = c.numHeads, nk = c.numKvHeads;
    auto name = [](const char *s) { return std::string("self_attn.") + s; };
    auto normed = [&](const std::string &which, Value x) {
      x = rmsNorm(point(name("") + which + ".input", x), own("self_attn." + which + ".weight", {d}));
      return swapped(hybrid::RopeOp::create(b, loc, point(name("") + which + ".output", x), cosines, sines));
    };
    Value qg = point(name("q_proj.output"), project(name("q_proj"), n, 2 * nq * d, "self_attn.q_proj.weight"));
    Value k = point(name("k_proj.output"), project(name("k_proj"), n, nk * d, "self_attn.k_proj.weight"));
    Value v = point(name("v_proj.output"), project(name("v_proj"), n, nk * d, "self_attn.v_proj.weight"));
    Value gate = heads(qg, d, 2 * d, d, nq);
    Value q = point(name("attention_queries"), normed("q_norm", heads(qg, 0, 2 * d, d, nq)));
    k = point(name("attention_keys"), normed("k_norm", heads(k, 0, d, d, nk)));
    v = point(name("attention_values"), swapped(heads(v, 0, d, d, nk)));
    k = append("self_attn.keys", "self_attn.past_keys", k);
    v = append("self_attn.values", "self_attn.past_values", v);
    Value s = hybrid::AttentionScoresOp::create(b, loc, q, k, past, b.getF64FloatAttr(1.0 / std::sqrt(double(d))));
    Value p = hybrid::SoftmaxOp::create(b, loc, point(name("attention_scores"), s), past, /*causal=*/true, md);
    p = point(name("attention_probabilities"), p);
    Value y = point(name("attention_head_outputs"), hybrid::AttentionMixOp::create(b, loc, p, v, past));
    y = merged(point(name("attention_premix"), hybrid::GateOp::create(b, loc, y, gate)));
    return point(name("attention_output"), project(name("o_proj"), y, c.hiddenSize, "self_attn.o_proj.weight"));
  }

  /// Spec 3.6.
  Value mixture(Value n) {
    int64_t e = c.numExperts, k = c.expertsPerToken;
    auto name = [](const char *s) { return std::string("mlp.") + s; };
    auto shared = [](const char *s) { return std::string("mlp.shared_experts.") + s; };
    Value x = point(shared("input"), n);
    Value act = point(shared("gate_proj.output"),
                      project(shared("gate_proj"), x, c.sharedIntermediate, "mlp.shared_expert.gate_proj.weight"));
    Value up = point(shared("up_proj.output"),
                     project(shared("up_proj"), x, c.sharedIntermediate, "mlp.shared_expert.up_proj.weight"));
    act = point(shared("mlp_activation"), hybrid::SiluOp::create(b, loc, act));
    Value neurons = point(shared("mlp_neurons"), hybrid::MulOp::create(b, loc, act, up));
    Value sh = linear(neurons, own("mlp.shared_expert.down_proj.weight", {c.hiddenSize, c.sharedIntermediate}));
    sh = point(shared("mlp_output"), sh);

    Value logits = point(name("router_logits"), project(name("router"), n, e, "mlp.gate.weight"));
    auto router = hybrid::RouterOp::create(b, loc, logits, /*forced=*/Value(), k);
    Value indices = point(name("expert_indices"), router.getIndices());
    Value weights = point(name("expert_weights"), router.getWeights());
    Value outputs = hybrid::ExpertsOp::create(b, loc, point(name("experts.input"), n), indices, weights,
                                              own("mlp.experts.gate_up_proj", {e, 2 * c.moeIntermediate, c.hiddenSize}),
                                              own("mlp.experts.down_proj", {e, c.hiddenSize, c.moeIntermediate}));
    Value routed =
        point(name("routed_output"), hybrid::CombineOp::create(b, loc, point(name("expert_outputs"), outputs)));
    Value gate = point(name("shared_expert_gate.output"),
                       project(name("shared_expert_gate"), n, 1, "mlp.shared_expert_gate.weight"));
    Value whole = point(name("shared_expert_output"), hybrid::GateOp::create(b, loc, sh, gate));
    return point(name("mlp_output"), add(routed, whole));
  }
};

} // namespace

OwningOpRef<ModuleOp> emitQwen35Moe(MLIRContext &context, const ModelConfig &config, const PointTable &points,
                                    const std::map<std::string, DType> &weightTypes, DType dtype, const RunShape &shape,
                                    const std::set<std::string> &segmentPoints) {
  return Emitter(context, config, points, weightTypes, dtype, shape, segmentPoints).emit();
}

} // namespace nnterp
