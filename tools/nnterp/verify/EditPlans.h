// The plans that checks run: taps of everything, taps in another order, and edits whose effect is known exactly.
#pragma once

#include "frontend/names/PointTable.h"

#include <string>
#include <vector>

namespace nnterp::verify {

/// What the edits are about. Every one of these is a number of a run, not of a program.
struct EditTargets {
  std::vector<int64_t> experts; ///< by chosen block
  int64_t keyValueHead = 0;     ///< of full attention
  int64_t copiedHead = 0;       ///< a value head of DeltaNet
};
EditTargets editTargets(const ModelConfig &config, std::vector<int64_t> experts);

/// Every name of the text model in these blocks and outside blocks.
std::vector<std::string> allNames(const PointTable &points, const std::vector<int64_t> &blocks);
/// Plan text with taps at these names.
std::string tapPlan(const std::vector<std::string> &names);
/// A few names of every block, the last ones of the model first.
std::vector<std::string> namesBackwards(const std::vector<int64_t> &blocks);

/// Worlds `base` and `edited`. In each chosen block of `edited`, mixer and mixture read what they read in `base`, so that effects
/// stay within a block:
///   full attention: keys and values of one key/value head are zero, and what the heads mix (tapped before) is 1 when it is gated
///   DeltaNet:       the keys of one value head are zero
///   mixture:        the shared expert's output is 1 when it is gated, and zero (tapped before) when it is added; one expert has
///                   weight 0
std::string editedPlan(const ModelConfig &config, const std::vector<int64_t> &blocks, const EditTargets &targets);

/// In each chosen block, one expert is forbidden through the router's logits.
std::string reroutedPlan(const std::vector<int64_t> &blocks, const EditTargets &targets);

} // namespace nnterp::verify
