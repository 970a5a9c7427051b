// Emits the graph of family qwen3_5_moe, step by step as spec/qwen3_5_moe.md section 3 has it.
#include "frontend/families/Qwen35MoeGraph.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <cmath>

using namespace mlir;

namespace nnterp {
namespace {

class Emitter {
public:
  Emitter(MLIRContext &context, const ModelConfig &config, const PointTable &points,
          const std::map<std::string, DType> &weightTypes, DType dtype)
      : c(config), weightTypes(weightTypes), b(&context), loc(UnknownLoc::get(&context)), f32(b.getF32Type()),
        md(dtype == DType::bf16 ? Type(b.getBF16Type()) : Type(f32)) {
    for (const PointInfo &row : points.rows())
      rows[row.name] = &row;
  }

  OwningOpRef<ModuleOp> emit() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc, "model");
    b.setInsertionPointToStart(module->getBody());
    constexpr int64_t dyn = ShapedType::kDynamic;
    Type i64 = b.getI64Type();
    auto type = b.getFunctionType({RankedTensorType::get({dyn, dyn}, i64), RankedTensorType::get({dyn}, i64),
                                   RankedTensorType::get({3, dyn, dyn}, i64)},
                                  {});
    auto main = func::FuncOp::create(b, loc, "main", type);
    const char *inputs[] = {"ids", "lengths", "positions"};
    for (unsigned i = 0; i < 3; ++i)
      main.setArgAttr(i, "nnterp.input", b.getStringAttr(inputs[i]));
    Block *entry = main.addEntryBlock();
    b.setInsertionPointToStart(entry);
    ids = entry->getArgument(0);
    lengths = entry->getArgument(1);
    model(entry->getArgument(2));
    func::ReturnOp::create(b, loc);
    return module;
  }

private:
  const ModelConfig &c;
  const std::map<std::string, DType> &weightTypes;
  OpBuilder b;
  Location loc;
  Type f32, md;
  std::map<std::string, const PointInfo *> rows;
  Value ids, lengths, cosines, sines;
  std::string at;     ///< name prefix of the block being emitted: `layers[3].`
  std::string stored; ///< key prefix of its tensors: `model.layers.3.`

  /// Names a value of the model, or of the current block.
  Value point(const std::string &name, Value v) {
    const PointInfo *row = rows.at(name);
    return PointOp::create(b, loc, v, at + name, std::string(nnterp::name(row->layout)),
                           row->access == Access::readOnly);
  }

  Value weight(const std::string &key, ArrayRef<int64_t> shape) {
    auto found = weightTypes.find(key);
    DType type = found != weightTypes.end() ? found->second : c.dtype.value_or(DType::bf16);
    Type element = type == DType::f32 ? f32 : type == DType::f16 ? Type(b.getF16Type()) : Type(b.getBF16Type());
    return hybrid::WeightOp::create(b, loc, RankedTensorType::get(shape, element), key);
  }
  /// A tensor of the current block.
  Value own(const std::string &key, ArrayRef<int64_t> shape) { return weight(stored + key, shape); }

  int64_t width(Value v) { return cast<RankedTensorType>(v.getType()).getShape().back(); }

  /// `name.input` and the projection behind it.
  Value project(const std::string &name, Value x, int64_t out, const std::string &key) {
    x = point(name + ".input", x);
    return hybrid::LinearOp::create(b, loc, x, own(key, {out, width(x)}));
  }
  Value rmsNorm(Value x, Value gain) {
    return hybrid::RmsNormOp::create(b, loc, x, gain, /*unit_offset=*/b.getUnitAttr(), b.getF64FloatAttr(c.rmsNormEps));
  }
  Value heads(Value x, int64_t offset, int64_t stride, int64_t size, int64_t count, int64_t repeat = 1) {
    return hybrid::HeadsOp::create(b, loc, x, offset, stride, size, count, repeat);
  }
  Value swapped(Value x) { return hybrid::SwapHeadsOp::create(b, loc, x); }
  Value merged(Value x) { return hybrid::MergeHeadsOp::create(b, loc, x); }
  Value add(Value x, Value y) { return hybrid::AddOp::create(b, loc, x, y); }
  Value initialState(ArrayRef<int64_t> dims, Type element) {
    return hybrid::InitialStateOp::create(b, loc, lengths, dims, element);
  }

  void model(Value positions) {
    Value tokens = point("input_ids", ids);
    point("attention_mask", hybrid::TokenMaskOp::create(b, loc, ids, lengths));
    point("input_size", hybrid::InputSizeOp::create(b, loc, ids));
    Value x = hybrid::EmbeddingOp::create(b, loc, tokens,
                                          weight("model.embed_tokens.weight", {c.vocabSize, c.hiddenSize}), md);
    x = point("token_embeddings", x);
    auto table = hybrid::RopeTableOp::create(b, loc, positions, c.mropeSection, inverseFrequencies(), md);
    cosines = table.getCosines();
    sines = table.getSines();
    for (int64_t i = 0; i < c.numLayers; ++i)
      x = block(i, x);
    x = point("norm.input", x);
    x = point("final_norm_output", rmsNorm(x, weight("model.norm.weight", {c.hiddenSize})));
    x = point("lm_head.input", x);
    Value logits = hybrid::LinearOp::create(b, loc, x, weight("lm_head.weight", {c.vocabSize, c.hiddenSize}));
    logits = point("logits", point("lm_head_output", logits));
    Value last = hybrid::LastTokenOp::create(b, loc, logits, lengths);
    point("next_token_probs", hybrid::SoftmaxOp::create(b, loc, last, /*causal=*/false, f32));
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
                                    initialState({c.convChannels(), c.convKernel}, md), lengths);
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
    Value state = point(name("state_input"), initialState({hv, dk, dv}, f32));
    state = hybrid::PadDecayOp::create(b, loc, state, rate, bias, ids, lengths, md);
    Value qn =
        hybrid::L2NormOp::create(b, loc, q, b.getF64FloatAttr(1e-6), b.getF64FloatAttr(1.0 / std::sqrt(double(dk))));
    Value kn = hybrid::L2NormOp::create(b, loc, k, b.getF64FloatAttr(1e-6), b.getF64FloatAttr(1.0));
    constexpr int64_t dyn = ShapedType::kDynamic;
    auto delta = hybrid::DeltaRuleOp::create(b, loc, v.getType(), state.getType(),
                                             RankedTensorType::get({dyn, dyn, hv, dk, dv}, f32), Type(), qn, kn, v, g,
                                             beta, state, lengths);
    point(name("states"), delta.getStates());
    Value y = point(name("attention_head_outputs"), delta.getResult());
    point(name("state_output"), delta.getStateOut());
    point(name("conv_state"), conv.getStateOut());
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
    point(name("past_keys"), k);
    point(name("past_values"), v);
    Value s = hybrid::AttentionScoresOp::create(b, loc, q, k, b.getF64FloatAttr(1.0 / std::sqrt(double(d))));
    Value p = hybrid::SoftmaxOp::create(b, loc, point(name("attention_scores"), s), /*causal=*/true, md);
    p = point(name("attention_probabilities"), p);
    Value y = point(name("attention_head_outputs"), hybrid::AttentionMixOp::create(b, loc, p, v));
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
    Value sh = hybrid::LinearOp::create(
        b, loc, neurons, own("mlp.shared_expert.down_proj.weight", {c.hiddenSize, c.sharedIntermediate}));
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
                                    const std::map<std::string, DType> &weightTypes, DType dtype) {
  return Emitter(context, config, points, weightTypes, dtype).emit();
}

} // namespace nnterp
