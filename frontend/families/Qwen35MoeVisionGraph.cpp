// Emits the image encoder, step by step as spec/qwen3_5_moe.md 5.3 has it.
#include "frontend/families/Qwen35MoeVisionGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace mlir;

namespace nnterp {
namespace {

class VisionEmitter {
public:
  VisionEmitter(GraphEmitter &emitter, const std::set<std::string> &segmentPoints)
      : e(emitter), b(emitter.b), loc(emitter.loc), v(*emitter.c.vision), segmentPoints(segmentPoints) {}

  void emit() {
    constexpr int64_t dyn = ShapedType::kDynamic;
    int64_t pixelsPerPatch = v.inChannels * v.temporalPatchSize * v.patchSize * v.patchSize;
    Type i64 = b.getI64Type();
    auto type = b.getFunctionType({RankedTensorType::get({dyn, pixelsPerPatch}, e.f32),
                                   RankedTensorType::get({6, dyn}, i64), RankedTensorType::get({dyn}, i64)},
                                  {});
    auto function = func::FuncOp::create(b, loc, "images", type);
    Block *entry = function.addEntryBlock();
    const char *inputs[] = {"pixels", "patches", "segments"};
    for (unsigned i = 0; i < 3; ++i)
      function.setArgAttr(i, "nnterp.input", b.getStringAttr(inputs[i]));
    b.setInsertionPointToStart(entry);
    patches = entry->getArgument(1);
    segments = entry->getArgument(2);
    Value x = embed(entry->getArgument(0));
    for (int64_t j = 0; j < v.depth; ++j)
      x = block(j, x);
    Value features = projector(x);
    point("vision.tower_output", x); // what is read when all is done: an edit of it would reach nothing
    features = point("vision.image_features", features);
    hybrid::RememberOp::create(b, loc, features, imageFeaturesPart, /*saved=*/false, /*of_run=*/true);
    func::ReturnOp::create(b, loc);
  }

private:
  GraphEmitter &e;
  OpBuilder &b;
  Location loc;
  const VisionConfig &v;
  const std::set<std::string> &segmentPoints;
  Value patches, segments, cosines, sines;
  std::string row; ///< of the block being emitted, in the table of names

  Value point(const std::string &name, Value value) { return e.pointOf(row + name, e.at + name, value); }
  Value linear(const std::string &key, Value x, int64_t out) {
    return e.linear(x, e.own(key + ".weight", {out, e.width(x)}), e.own(key + ".bias", {out}));
  }
  Value layerNorm(const std::string &key, Value x) {
    return hybrid::LayerNormOp::create(b, loc, x, e.own(key + ".weight", {v.hiddenSize}),
                                       e.own(key + ".bias", {v.hiddenSize}), b.getF64FloatAttr(1e-6));
  }

  Value embed(Value pixels) {
    e.stored = "model.visual.";
    Value weight =
        e.own("patch_embed.proj.weight", {v.hiddenSize, v.inChannels, v.temporalPatchSize, v.patchSize, v.patchSize});
    Value x =
        hybrid::PatchEmbedOp::create(b, loc, pixels, weight, e.own("patch_embed.proj.bias", {v.hiddenSize}), e.md);
    x = point("vision.patch_embeddings", x);
    Value table = e.own("pos_embed.weight", {v.numPositionEmbeddings, v.hiddenSize});
    Value p = point("vision.pos_embed.output", hybrid::PosEmbedOp::create(b, loc, table, patches, e.md));
    auto angles = hybrid::PatchRopeTableOp::create(b, loc, patches, inverseFrequencies());
    cosines = angles.getCosines();
    sines = angles.getSines();
    return e.add(x, p);
  }

  /// As spec 3.4: float32 throughout, the power alone in double.
  SmallVector<float> inverseFrequencies() {
    int64_t half = v.hiddenSize / v.numHeads / 2;
    SmallVector<float> out;
    for (int64_t i = 0; i < half / 2; ++i)
      out.push_back(1.0f / float(std::pow(v.ropeTheta, double(float(2 * i) / float(half)))));
    return out;
  }

  Value block(int64_t j, Value input) {
    row = "vision.layers[j].";
    e.at = "vision.layers[" + std::to_string(j) + "].";
    e.stored = "model.visual.blocks." + std::to_string(j) + ".";
    auto op = hybrid::BlockOp::create(b, loc, TypeRange{input.getType()}, j);
    {
      OpBuilder::InsertionGuard guard(b);
      b.createBlock(&op.getBody());
      Value x = point("layer_input", input);
      Value n = point("attention_norm_output", layerNorm("norm1", point("norm1.input", x)));
      Value h = point("layer_mid", e.add(x, attention(n)));
      Value n2 = point("mlp_norm_output", layerNorm("norm2", point("norm2.input", h)));
      hybrid::YieldOp::create(b, loc, point("layer_output", e.add(h, mlp(point("mlp_input", n2)))));
    }
    row.clear();
    e.at.clear();
    return op.getResult(0);
  }

  Value attention(Value n) {
    int64_t heads = v.numHeads, size = v.hiddenSize / heads;
    auto name = [](const char *s) { return std::string("self_attn.") + s; };
    Value qkv = point("attn.qkv.output", linear("attn.qkv", point("attn.qkv.input", n), 3 * v.hiddenSize));
    auto part = [&](int64_t which) { return e.heads(qkv, which * v.hiddenSize, size, size, heads); };
    auto rotated = [&](Value x) { return e.swapped(hybrid::RopeOp::create(b, loc, x, cosines, sines)); };
    Value q = point(name("attention_queries"), rotated(part(0)));
    Value k = point(name("attention_keys"), rotated(part(1)));
    Value values = point(name("attention_values"), e.swapped(part(2)));
    FloatAttr scale = b.getF64FloatAttr(1.0 / std::sqrt(double(size)));
    Value y = hybrid::SegmentAttentionOp::create(b, loc, q, k, values, patches, scale);
    for (int64_t segment : segmentsAskedFor()) {
      auto ofSegment = [&](const char *what, Value value) {
        return e.pointOf(row + name(what) + "#i", e.at + name(what) + "#" + std::to_string(segment), value);
      };
      Value s = hybrid::SegmentScoresOp::create(b, loc, q, k, segments, b.getI64IntegerAttr(segment), scale);
      s = ofSegment("attention_scores", s);
      Value p = hybrid::SoftmaxOp::create(b, loc, s, Value(), /*causal=*/false, e.md);
      p = ofSegment("attention_probabilities", p);
      y = hybrid::SegmentMixOp::create(b, loc, y, p, values, segments, b.getI64IntegerAttr(segment));
    }
    y = point(name("attention_premix"), point(name("attention_head_outputs"), y));
    return point(name("attention_output"), linear("attn.proj", point("attn.proj.input", e.merged(y)), v.hiddenSize));
  }

  /// The images whose scores or probabilities in this block a plan names.
  std::set<int64_t> segmentsAskedFor() {
    std::set<int64_t> result;
    for (const std::string &name : segmentPoints)
      if (size_t mark = name.rfind('#'); mark != std::string::npos && StringRef(name).starts_with(e.at))
        result.insert(std::stoll(name.substr(mark + 1)));
    return result;
  }

  Value mlp(Value n) {
    Value x =
        point("mlp.linear_fc1.output", linear("mlp.linear_fc1", point("mlp.linear_fc1.input", n), v.intermediateSize));
    x = point("mlp.mlp_activation", hybrid::GeluOp::create(b, loc, x, /*tanh=*/true));
    return point("mlp.mlp_output", linear("mlp.linear_fc2", point("mlp.mlp_neurons", x), v.hiddenSize));
  }

  Value projector(Value x) {
    e.stored = "model.visual.merger.";
    int64_t joined = v.spatialMergeSize * v.spatialMergeSize, wide = joined * v.hiddenSize;
    x = point("projector.input", hybrid::PatchRowsOp::create(b, loc, x));
    x = point("projector.norm.output", layerNorm("norm", x));
    x = point("projector.linear_fc1.input", hybrid::MergePatchesOp::create(b, loc, x, joined));
    x = point("projector.linear_fc1.output", linear("linear_fc1", x, wide));
    x = point("projector.act_fn.output", hybrid::GeluOp::create(b, loc, x, /*tanh=*/false));
    x = point("projector.linear_fc2.input", x);
    return point("projector.output", linear("linear_fc2", x, v.outHiddenSize));
  }
};

} // namespace

void emitQwen35MoeVision(GraphEmitter &emitter, const std::set<std::string> &segmentPoints) {
  VisionEmitter(emitter, segmentPoints).emit();
}

} // namespace nnterp
