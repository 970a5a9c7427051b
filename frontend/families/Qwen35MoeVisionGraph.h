// Emits the image encoder of family qwen3_5_moe.
#pragma once

#include "frontend/families/GraphEmitter.h"

#include <set>

namespace nnterp {

/// The part of a run's memory that carries image features from `@images` to `@main`.
inline constexpr const char *imageFeaturesPart = "image_features";

/// Spec 5.3 as a function `@images(%pixels: [P,N] f32, %patches: [6,P] i64, %segments: [I+1] i64)` at the emitter's insertion point:
/// encoder and projector with a point at every value of spec 7.7 and 7.8, and the features left in `image_features`.
/// `segmentPoints`: the points of single images' attention that a plan names (`vision.layers[1].self_attn.attention_scores#0`);
/// they are computed where they are asked for.
void emitQwen35MoeVision(GraphEmitter &emitter, const std::set<std::string> &segmentPoints);

} // namespace nnterp
