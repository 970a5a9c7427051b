// Saved states: the whole memory of sequences as a safetensors file (README.md beside this file).
#pragma once

#include "runtime/state/SequenceState.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// What a state belongs to. A saved state continues only where all of it agrees.
struct StateIdentity {
  std::string config;          ///< hash of the model's configuration
  DType dtype = DType::f32;    ///< model dtype of the run
  std::string tool;            ///< version that writes; not compared
  std::vector<SlotSpec> parts; ///< every part of one sequence's memory: name, dtype, dims (axis 0 rows; of caches axis 2 tokens)
  int64_t vocabSize = 0;
};

/// By world.
using SavedStates = std::map<std::string, SavedSequence>;

/// Writes the states; keys begin with `WORLD/` when `prefixed`, else there is one world. Errors: NNT0102.
bool saveStates(const std::string &path, const SavedStates &states, bool prefixed, const StateIdentity &identity,
                Diagnostics &diags);

/// Reads the states of these worlds; a file whose keys have no worlds serves each of them. Tensors are views of the file. All
/// errors in one go: those of Safetensors::open, NNT1201 to NNT1208.
std::optional<SavedStates> loadStates(const std::string &path, const std::vector<std::string> &worlds,
                                      const StateIdentity &identity, Diagnostics &diags);

} // namespace nnterp
