// The configuration of a model of this family: spec/qwen3_5_moe.md section 1.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Json.h"
#include "runtime/abi/Tensor.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// Where a configuration value came from.
enum class ConfigSource { file, fallback, derived };

/// One value in force, for `nnterp info`: its path in the file (e.g. `text_config.hidden_size`), JSON text, and source.
struct ConfigValue {
  std::string path;
  std::string value;
  ConfigSource source;
  SourceLoc loc; ///< valid when source is file
};

enum class BlockKind { linear, full };

/// Block-scaled FP8 weights (spec 2.4).
struct Fp8Config {
  int64_t blockRows = 128, blockCols = 128;
  std::vector<std::string> notConverted;
};

/// Vision tower sizes (spec 1.4).
struct VisionConfig {
  int64_t depth = 27, hiddenSize = 1152, intermediateSize = 4304, numHeads = 16, inChannels = 3, patchSize = 16,
          temporalPatchSize = 2, spatialMergeSize = 2, numPositionEmbeddings = 2304, outHiddenSize = 3584;
  double ropeTheta = 10000;
};

/// A validated configuration. Symbols in comments are those of spec 0.2.
struct ModelConfig {
  std::string file;         ///< the config.json that was read
  std::string modelType;    ///< `qwen3_5_moe` or `qwen3_5_moe_text`
  std::string architecture; ///< first of `architectures`, may be empty
  bool multimodal = false;  ///< has the wrapper (`text_config`/`vision_config`), not a bare text config

  int64_t vocabSize = 248320;            ///< V
  int64_t hiddenSize = 2048;             ///< C
  int64_t numLayers = 40;                ///< L
  int64_t numHeads = 16, numKvHeads = 2; ///< N, NK
  int64_t headDim = 256;                 ///< D
  int64_t rotaryDims = 64;               ///< R = int(D * partial_rotary_factor)
  int64_t linearKeyHeads = 16, linearValueHeads = 32, linearKeyDim = 128, linearValueDim = 128; ///< HK, HV, DK, DV
  int64_t convKernel = 4;                                                                       ///< KW
  int64_t numExperts = 256, expertsPerToken = 8;                                                ///< E, K
  int64_t moeIntermediate = 512, sharedIntermediate = 512;                                      ///< I, IS
  double rmsNormEps = 1e-6;
  double ropeTheta = 10000.0;
  std::vector<int64_t> mropeSection{11, 11, 10};
  bool attentionBias = false;
  bool tieWordEmbeddings = false;
  int64_t maxPositions = 32768;
  std::vector<BlockKind> layerTypes;
  std::optional<DType> dtype; ///< config's `dtype` or `torch_dtype`
  std::optional<Fp8Config> fp8;
  std::optional<VisionConfig> vision;
  int64_t imageTokenId = 248056, videoTokenId = 248057;
  std::vector<int64_t> eosTokenIds;
  std::optional<int64_t> padTokenId, bosTokenId;

  std::vector<ConfigValue> values; ///< every value in force, in reading order
  std::vector<ConfigValue> unused; ///< keys of the file that nothing reads: kept, without effect

  int64_t queryDim() const { return linearKeyHeads * linearKeyDim; }     ///< QD
  int64_t valueDim() const { return linearValueHeads * linearValueDim; } ///< VD
  int64_t convChannels() const { return 2 * queryDim() + valueDim(); }   ///< CD
  int64_t countBlocks(BlockKind kind) const { return std::count(layerTypes.begin(), layerTypes.end(), kind); }
  bool isFull(int64_t layer) const { return layerTypes[size_t(layer)] == BlockKind::full; }
};

/// Validates a parsed config: types, sizes (heads divide, K ≤ E, sections fit R, …), model type. All errors in one go,
/// each with file:line:col; unknown keys are kept and ignored. Errors: NNT02xx.
std::optional<ModelConfig> readConfig(const Json &json, Diagnostics &diags);

/// Reads `CKPT/config.json`, or `CKPT` itself when it is a .json file. `textOnly`: as if the model had no image encoder.
std::optional<ModelConfig> loadConfig(const std::string &checkpoint, Diagnostics &diags, bool textOnly = false);

/// The canonical text of everything a program depends on (sizes, kinds, eps, rope): equal text, equal graph.
std::string configFingerprint(const ModelConfig &config);

} // namespace nnterp
