// Fills a program's descriptor table: where its inputs, weights, buffers and outputs are in memory.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Frame.h"
#include "runtime/abi/Manifest.h"
#include "runtime/exec/Batch.h"
#include "runtime/weights/Checkpoint.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnterp {

/// What a run has to offer.
struct Bindings {
  const Batch &batch;
  CheckpointIndex &weights;
  const std::map<std::string, Tensor> &buffers; ///< of the plan, by name
  const std::map<std::string, Shape> &outputs;  ///< shapes of the taps, by output key
};

/// A descriptor table and what it points to.
struct BoundTable {
  std::vector<abi::Slot> slots;                        ///< in the manifest's order
  std::vector<std::pair<std::string, Tensor>> outputs; ///< zeroed; the program writes them
  std::vector<Tensor> held;                            ///< keeps inputs, weights and buffers alive
};

/// Errors: those of CheckpointIndex::load, and NNT1020 when the program wants something that the run does not have or
/// has in another type or shape.
std::optional<BoundTable> bind(const Manifest &manifest, const Bindings &from, Diagnostics &diags);

} // namespace nnterp
