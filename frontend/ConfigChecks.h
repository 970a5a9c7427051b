// Checks between the fields of a configuration: what must divide what, and how large a model may be.
#pragma once

#include "frontend/ConfigFields.h"

namespace nnterp {

// Bounds of single sizes, far above any model and low enough that a product of two cannot overflow.
constexpr int64_t kMostSize = int64_t(1) << 24;
constexpr int64_t kMostHeads = int64_t(1) << 16;
constexpr int64_t kMostLayers = 10000;
/// Elements of one tensor: bounds what a later stage may be asked to allocate or index.
constexpr int64_t kMostElements = int64_t(1) << 40;

void checkText(ConfigFields &text, const ModelConfig &config);
/// `compareOut`: `out_hidden_size` and the text model's `hidden_size` are both to be taken at their word.
void checkVision(ConfigFields &fields, const VisionConfig &vision, bool compareOut, const ModelConfig &config);

} // namespace nnterp
