// How a checkpoint wants its pictures: preprocessor_config.json (spec/qwen3_5_moe.md 5.4).
#pragma once

#include "runtime/abi/Json.h"

#include <array>
#include <optional>
#include <string>

namespace nnterp {

/// What the encoder's configuration says about the same things.
struct EncoderSizes {
  int64_t inChannels = 3, patchSize = 16, temporalPatchSize = 2, mergeSize = 2;
};

/// The settings in force; defaults are those of the reference's class, which hold where the file says nothing.
struct ImageRules {
  int64_t minPixels = 56 * 56, maxPixels = 28 * 28 * 1280; ///< size.shortest_edge, size.longest_edge: of the resized picture
  int64_t patchSize = 14, temporalPatchSize = 2, mergeSize = 2;
  std::array<double, 3> mean{0.48145466, 0.4578275, 0.40821073}, std{0.26862954, 0.26130258, 0.27577711};
  double rescale = 1.0 / 255;

  int64_t factor() const { return patchSize * mergeSize; } ///< both sides are resized to multiples of it
  int64_t patchValues() const { return 3 * temporalPatchSize * patchSize * patchSize; }
};

/// Every setting is read, known to have no effect, or refused by name; null is as good as absent. All errors in one go.
/// Errors: NNT1407 to NNT1410.
std::optional<ImageRules> readImageRules(const Json &json, const EncoderSizes &encoder, Diagnostics &diags);

/// Reads "image_processor" of `folder`/processor_config.json where it is there, else preprocessor_config.json, as the reference does.
/// Errors: NNT0101, NNT0103, NNT1406 to NNT1410.
std::optional<ImageRules> loadImageRules(const std::string &folder, const EncoderSizes &encoder, Diagnostics &diags);

} // namespace nnterp
