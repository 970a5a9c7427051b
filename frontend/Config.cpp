// Reads the configuration of the qwen3_5_moe family: spec/qwen3_5_moe.md section 1.
#include "frontend/Config.h"

#include "frontend/ConfigChecks.h"
#include "frontend/ConfigFields.h"

#include <cmath>
#include <sys/stat.h>

namespace nnterp {

namespace {

constexpr const char *kWrapper = "qwen3_5_moe", *kText = "qwen3_5_moe_text", *kVision = "qwen3_5_moe_vision";

std::string quoted(const std::string &s) { return Json::of(s).dump(); }

void readModelType(ConfigFields &top, ModelConfig &config) {
  const Json *type = top.find("model_type");
  if (!type) {
    top.error("NNT0201", "model_type", top.where({}),
              "\"model_type\" is missing; expected \"qwen3_5_moe\" or \"qwen3_5_moe_text\"");
    return;
  }
  config.modelType = top.text("model_type", kText);
  if (type->isString() && config.modelType != kWrapper && config.modelType != kText)
    top.error("NNT0201", "model_type", type->loc,
              "\"model_type\": expected \"qwen3_5_moe\" or \"qwen3_5_moe_text\", found " + quoted(config.modelType));
}

/// The type a sub-configuration names for itself; absent means the expected one.
void checkSubType(ConfigFields &sub, const char *expected) {
  const Json *type = sub.find("model_type");
  if (!type)
    return;
  std::string found = sub.text("model_type", expected);
  // The released files write the wrapper's type in the vision part.
  if (type->isString() && found != expected && found != kWrapper)
    sub.error("NNT0201", "model_type", type->loc,
              "\"" + sub.path("model_type") + "\": expected \"" + expected + "\", found " + quoted(found));
}

void readArchitecture(ConfigFields &top, ModelConfig &config) {
  const Json *list = top.find("architectures");
  if (!list)
    return;
  if (!list->isArray()) {
    top.wrongType("architectures", *list, "a list of strings");
    return;
  }
  for (const Json &item : list->array)
    if (!item.isString()) {
      top.wrongType("architectures", item, "a list of strings");
      return;
    }
  if (!list->array.empty())
    config.architecture = list->array.front().string;
  top.record("architectures", *list, ConfigSource::file);
}

/// `dtype`, or its older spelling `torch_dtype`. "auto" leaves the choice to the checkpoint.
void readDtype(ConfigFields &fields, ModelConfig &config) {
  for (const char *key : {"dtype", "torch_dtype"}) {
    if (!fields.has(key) || config.dtype)
      continue;
    std::string word = fields.text(key, "auto");
    if (word == "auto")
      continue;
    auto dtype = fromTorchName(word);
    if (dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16)
      config.dtype = dtype;
    else
      fields.error("NNT0209", key, fields.where({key}),
                   "\"" + fields.path(key) + "\": expected \"float32\", \"bfloat16\" or \"float16\", found " +
                       quoted(word));
  }
}

void readTextSizes(ConfigFields &text, ModelConfig &c) {
  c.vocabSize = text.size("vocab_size", c.vocabSize, kMostSize);
  c.hiddenSize = text.size("hidden_size", c.hiddenSize, kMostSize);
  c.numLayers = text.size("num_hidden_layers", c.numLayers, kMostLayers);
  c.numHeads = text.size("num_attention_heads", c.numHeads, kMostHeads);
  c.numKvHeads = text.size("num_key_value_heads", c.numKvHeads, kMostHeads);
  c.headDim = text.size("head_dim", c.headDim, kMostHeads);
  c.linearKeyHeads = text.size("linear_num_key_heads", c.linearKeyHeads, kMostHeads);
  c.linearValueHeads = text.size("linear_num_value_heads", c.linearValueHeads, kMostHeads);
  c.linearKeyDim = text.size("linear_key_head_dim", c.linearKeyDim, kMostHeads);
  c.linearValueDim = text.size("linear_value_head_dim", c.linearValueDim, kMostHeads);
  c.convKernel = text.size("linear_conv_kernel_dim", c.convKernel, kMostHeads);
  c.numExperts = text.size("num_experts", c.numExperts, kMostHeads);
  c.expertsPerToken = text.size("num_experts_per_tok", c.expertsPerToken, kMostHeads);
  c.moeIntermediate = text.size("moe_intermediate_size", c.moeIntermediate, kMostSize);
  c.sharedIntermediate = text.size("shared_expert_intermediate_size", c.sharedIntermediate, kMostSize);
  c.maxPositions = text.size("max_position_embeddings", c.maxPositions, int64_t(1) << 31);
}

/// Every size has a default (spec 1.2), but a file without them is more likely a mistake than a released model.
void noteMissingSizes(ConfigFields &text, Diagnostics &diags) {
  std::string missing;
  for (const char *key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                          "num_key_value_heads", "head_dim", "linear_num_key_heads", "linear_num_value_heads",
                          "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim", "num_experts",
                          "num_experts_per_tok", "moe_intermediate_size", "shared_expert_intermediate_size"})
    if (!text.has(key))
      missing += (missing.empty() ? "" : ", ") + text.path(key);
  if (!missing.empty())
    diags.note(text.where({}), "sizes that the file does not give take their defaults: " + missing);
}

void readTextRest(ConfigFields &text, ModelConfig &c) {
  c.rmsNormEps = text.number("rms_norm_eps", c.rmsNormEps, 0, 1);
  if (std::string act = text.text("hidden_act", "silu"); act != "silu")
    text.error("NNT0207", "hidden_act", text.where({"hidden_act"}),
               "\"" + text.path("hidden_act") + "\": the activation " + quoted(act) +
                   " is not supported; expected \"silu\"");
  c.attentionBias = text.flag("attention_bias", false);
  if (c.attentionBias)
    text.error("NNT0208", "attention_bias", text.where({"attention_bias"}),
               "\"" + text.path("attention_bias") +
                   "\": biases in the attention projections are not supported; expected false");
  // Without effect on a forward pass; their types are checked all the same.
  text.number("attention_dropout", 0.0, -1, 1);
  text.number("initializer_range", 0.02, -1, 1e6);
  text.number("router_aux_loss_coef", 0.001, -1e6, 1e6);
  text.flag("use_cache", true);
  text.flag("output_router_logits", false);
}

/// Block kinds: listed, or derived from the interval of full-attention blocks.
void readLayerTypes(ConfigFields &text, ModelConfig &c) {
  const Json *list = text.find("layer_types");
  int64_t interval = text.size("full_attention_interval", 4, kMostLayers);
  if (!list) {
    std::vector<Json> names;
    for (int64_t i = 0; i < c.numLayers; ++i) {
      bool full = (i + 1) % interval == 0;
      c.layerTypes.push_back(full ? BlockKind::full : BlockKind::linear);
      names.push_back(Json::of(full ? "full_attention" : "linear_attention"));
    }
    text.record("layer_types", Json::list(std::move(names)), ConfigSource::derived);
    return;
  }
  if (!list->isArray()) {
    text.wrongType("layer_types", *list, "a list of strings");
    c.layerTypes.assign(size_t(c.numLayers), BlockKind::linear);
    return;
  }
  for (const Json &item : list->array) {
    if (!item.isString())
      text.wrongType("layer_types", item, "a list of strings");
    else if (item.string == "linear_attention" || item.string == "mamba")
      c.layerTypes.push_back(BlockKind::linear);
    else if (item.string == "full_attention" || item.string == "attention")
      c.layerTypes.push_back(BlockKind::full);
    else
      text.error("NNT0205", "layer_types", item.loc,
                 "\"" + text.path("layer_types") + "\": expected \"linear_attention\" or \"full_attention\", found " +
                     quoted(item.string));
  }
  if (!text.usable({"layer_types", "num_hidden_layers"})) {
    c.layerTypes.assign(size_t(c.numLayers), BlockKind::linear);
    return;
  }
  if (int64_t(c.layerTypes.size()) != c.numLayers)
    text.error("NNT0204", "layer_types", list->loc,
               "\"" + text.path("layer_types") + "\" names " + std::to_string(c.layerTypes.size()) +
                   " blocks, but \"num_hidden_layers\" is " + std::to_string(c.numLayers));
  text.record("layer_types", *list, ConfigSource::file);
}

/// Spec 1.3: `rope_parameters` (or `rope_scaling`) first, then the same names one level up, then the defaults.
void readRope(ConfigFields &text, ModelConfig &c, Diagnostics &diags) {
  std::string key = text.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  const Json *object = text.objectAt(key);
  text.find("rope_scaling"); // known, also when the newer spelling wins
  ConfigFields rope(object, text.path(key) + ".", object ? object->loc : text.where({}), c, diags);

  const char *typeKey = !rope.has("rope_type") && rope.has("type") ? "type" : "rope_type";
  if (std::string type = rope.text(typeKey, "default"); type != "default")
    rope.error("NNT0206", typeKey, rope.where({typeKey}),
               "\"" + rope.path(typeKey) + "\": the rotary embedding " + quoted(type) +
                   " is not supported; expected \"default\"");

  ConfigFields &thetaFields = !rope.has("rope_theta") && text.has("rope_theta") ? text : rope;
  c.ropeTheta = thetaFields.number("rope_theta", c.ropeTheta, 0, 1e18);
  ConfigFields &factorFields = !rope.has("partial_rotary_factor") && text.has("partial_rotary_factor") ? text : rope;
  text.find("partial_rotary_factor");
  text.find("rope_theta");
  double factor = factorFields.number("partial_rotary_factor", 0.25, 0, 1);
  c.rotaryDims = int64_t(double(c.headDim) * factor);
  bool dimsUsable = text.usable({"head_dim"}) && factorFields.usable({"partial_rotary_factor"});
  if (dimsUsable && (c.rotaryDims < 2 || c.rotaryDims % 2 != 0))
    factorFields.error("NNT0204", "partial_rotary_factor", factorFields.where({"partial_rotary_factor"}),
                       "\"" + factorFields.path("partial_rotary_factor") + "\" " + Json::of(factor).dump() +
                           " of \"head_dim\" " + std::to_string(c.headDim) + " gives " + std::to_string(c.rotaryDims) +
                           " rotary dims; expected an even number of at least 2");

  // The sections are clipped by the rotary width, so the default is harmless for small heads; a list in the file that
  // is wider than that is a mistake.
  bool listed = rope.has("mrope_section");
  c.mropeSection = rope.triple("mrope_section", c.mropeSection);
  rope.flag("mrope_interleaved", true);
  int64_t half = c.rotaryDims / 2, sum = 0;
  for (int64_t s : c.mropeSection)
    sum = std::min<int64_t>(sum + std::min<int64_t>(s, kMostSize), kMostSize);
  if (listed && dimsUsable && rope.usable({"mrope_section"}) && sum > half)
    rope.error("NNT0204", "mrope_section", rope.where({"mrope_section"}),
               "\"" + rope.path("mrope_section") + "\" adds up to " + std::to_string(sum) + ", but only " +
                   std::to_string(half) + " rotary frequencies exist");
  rope.keepUnknown();
}

void readFp8(ConfigFields &fields, ModelConfig &c, Diagnostics &diags) {
  const Json *object = fields.objectAt("quantization_config");
  if (!object || c.fp8)
    return;
  ConfigFields q(object, fields.path("quantization_config") + ".", object->loc, c, diags);
  Fp8Config fp8;
  auto expect = [&](const char *key, const char *expected) {
    std::string found = q.text(key, expected);
    if (found != expected)
      q.error("NNT0210", key, q.where({key}),
              "\"" + q.path(key) + "\": " + quoted(found) + " is not supported; expected \"" + expected + "\"");
    return found == expected;
  };
  if (!q.has("quant_method"))
    q.error("NNT0210", "quant_method", object->loc, "\"" + q.path("quant_method") + "\" is missing; expected \"fp8\"");
  else if (expect("quant_method", "fp8")) { // the other fields belong to this method
    expect("fmt", "e4m3");
    expect("activation_scheme", "dynamic");
  }
  if (const Json *block = q.find("weight_block_size")) {
    bool good = block->isArray() && block->array.size() == 2;
    for (const Json &item : block->array)
      good = good && item.kind == Json::Kind::integer && item.integer >= 1 && item.integer <= kMostSize;
    if (good) {
      fp8.blockRows = block->array[0].integer;
      fp8.blockCols = block->array[1].integer;
      q.record("weight_block_size", *block, ConfigSource::file);
    } else {
      q.error("NNT0203", "weight_block_size", block->loc,
              "\"" + q.path("weight_block_size") + "\": expected a list of two positive integers");
    }
  } else {
    q.record("weight_block_size", Json::list({Json::of(fp8.blockRows), Json::of(fp8.blockCols)}),
             ConfigSource::fallback);
  }
  if (const Json *names = q.find("modules_to_not_convert")) {
    bool good = names->isArray();
    for (const Json &item : names->array) {
      good = good && item.isString();
      fp8.notConverted.push_back(item.string);
    }
    if (good)
      q.record("modules_to_not_convert", *names, ConfigSource::file);
    else
      q.wrongType("modules_to_not_convert", *names, "a list of strings");
  }
  q.keepUnknown();
  c.fp8 = fp8;
}

void readVision(const Json *object, SourceLoc place, bool hiddenUsable, ModelConfig &c, Diagnostics &diags) {
  ConfigFields v(object, "vision_config.", std::move(place), c, diags);
  checkSubType(v, kVision);
  VisionConfig vision;
  vision.depth = v.size("depth", vision.depth, kMostLayers);
  vision.hiddenSize = v.size("hidden_size", vision.hiddenSize, kMostSize);
  vision.intermediateSize = v.size("intermediate_size", vision.intermediateSize, kMostSize);
  vision.numHeads = v.size("num_heads", vision.numHeads, kMostHeads);
  vision.inChannels = v.size("in_channels", vision.inChannels, kMostHeads);
  vision.patchSize = v.size("patch_size", vision.patchSize, kMostHeads);
  vision.temporalPatchSize = v.size("temporal_patch_size", vision.temporalPatchSize, kMostHeads);
  vision.spatialMergeSize = v.size("spatial_merge_size", vision.spatialMergeSize, 64);
  vision.numPositionEmbeddings = v.size("num_position_embeddings", vision.numPositionEmbeddings, kMostSize);
  bool compareOut = v.has("out_hidden_size") && hiddenUsable;
  vision.outHiddenSize = v.size("out_hidden_size", vision.outHiddenSize, kMostSize);
  v.number("initializer_range", 0.02, -1, 1e6);
  v.objectAt("rope_parameters"); // axial with theta 10000, whatever stands there
  if (std::string act = v.text("hidden_act", "gelu_pytorch_tanh"); act != "gelu_pytorch_tanh")
    v.error("NNT0207", "hidden_act", v.where({"hidden_act"}),
            "\"vision_config.hidden_act\": the activation " + quoted(act) +
                " is not supported; expected \"gelu_pytorch_tanh\"");
  checkVision(v, vision, compareOut, c);
  v.keepUnknown();
  c.vision = vision;
}

} // namespace

std::optional<ModelConfig> readConfig(const Json &json, Diagnostics &diags) {
  ModelConfig c;
  c.file = json.loc.file;
  size_t errorsBefore = 0;
  for (const Diagnostic &d : diags.all())
    errorsBefore += d.severity == Severity::error;
  ConfigFields top(json.isObject() ? &json : nullptr, "", json.loc, c, diags);
  if (!json.isObject()) {
    diags.error("NNT0202", json.loc, "a configuration: expected an object, found " + std::string(kindName(json.kind)));
    return std::nullopt;
  }
  readModelType(top, c);
  if (c.modelType != kWrapper && c.modelType != kText)
    return std::nullopt; // another family's fields would only give misleading errors
  c.multimodal = c.modelType == kWrapper;
  readArchitecture(top, c);

  const Json *textObject = c.multimodal ? top.objectAt("text_config") : nullptr;
  ConfigFields inner(textObject, "text_config.", textObject ? textObject->loc : json.loc, c, diags);
  ConfigFields &text = c.multimodal ? inner : top;
  if (c.multimodal)
    checkSubType(text, kText);
  readDtype(top, c);
  if (c.multimodal)
    readDtype(text, c);

  noteMissingSizes(text, diags);
  readTextSizes(text, c);
  readLayerTypes(text, c);
  readTextRest(text, c);
  readRope(text, c, diags);
  ConfigFields &tie = c.multimodal && !top.has("tie_word_embeddings") && text.has("tie_word_embeddings") ? text : top;
  text.find("tie_word_embeddings");
  c.tieWordEmbeddings = tie.flag("tie_word_embeddings", false);

  auto tokens = [&](ConfigFields &fields) {
    if (auto id = fields.tokenId("bos_token_id"); id && !c.bosTokenId)
      c.bosTokenId = id;
    if (auto id = fields.tokenId("pad_token_id"); id && !c.padTokenId)
      c.padTokenId = id;
    if (auto ids = fields.tokenIds("eos_token_id"); c.eosTokenIds.empty())
      c.eosTokenIds = ids;
  };
  tokens(text);
  if (c.multimodal)
    tokens(top);
  readFp8(top, c, diags);
  if (c.multimodal)
    readFp8(text, c, diags);
  checkText(text, c);

  if (c.multimodal) {
    c.imageTokenId = top.tokenId("image_token_id", c.imageTokenId);
    c.videoTokenId = top.tokenId("video_token_id", c.videoTokenId);
    top.tokenId("vision_start_token_id", 248053);
    top.tokenId("vision_end_token_id", 248054);
    const Json *visionObject = top.objectAt("vision_config");
    readVision(visionObject, visionObject ? visionObject->loc : json.loc, text.usable({"hidden_size"}), c, diags);
    text.keepUnknown();
  }
  top.keepUnknown();

  size_t errors = 0;
  for (const Diagnostic &d : diags.all())
    errors += d.severity == Severity::error;
  return errors == errorsBefore ? std::optional<ModelConfig>(std::move(c)) : std::nullopt;
}

std::optional<ModelConfig> loadConfig(const std::string &checkpoint, Diagnostics &diags, bool textOnly) {
  struct stat info;
  bool folder = stat(checkpoint.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  bool file = checkpoint.size() > 5 && checkpoint.compare(checkpoint.size() - 5, 5, ".json") == 0;
  auto json = readJsonFile(folder || !file ? checkpoint + "/config.json" : checkpoint, diags);
  std::optional<ModelConfig> config = json ? readConfig(*json, diags) : std::nullopt;
  if (config && textOnly)
    config->vision.reset();
  return config;
}

} // namespace nnterp
