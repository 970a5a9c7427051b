// Fills a program's descriptor table: where its inputs, weights, buffers, outputs and memory are.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Frame.h"
#include "runtime/abi/Manifest.h"
#include "runtime/exec/CallInputs.h"
#include "runtime/exec/MemorySpace.h"
#include "runtime/weights/Checkpoint.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// What a run has to offer, by name. Tensors may be replaced, and may change their shape, between calls. States and kept values are
/// tensors of the space that the program works in, all others of the host.
struct RunTensors {
  TensorMap inputs, buffers, outputs, states, kept;
};

/// Gets how many bytes of weights are where the program reads them, of how many.
using BindProgress = std::function<void(uint64_t done, uint64_t total)>;

/// The descriptor table of a program, whose manifest must outlive it, as must the space, and what it points to.
class BoundTable {
public:
  /// Finds the weights and brings them into the space. Errors: those of CheckpointIndex::load and of the space, and
  /// NNT1020 for a weight that the checkpoint does not have or has in another type or shape.
  static std::optional<BoundTable> make(const Manifest &manifest, CheckpointIndex &weights, Diagnostics &diags,
                                        MemorySpace &space = hostSpace(), const BindProgress &progress = {});

  /// Points every other slot to what the run has now, brought into the space. A call on the prompt needs all of them
  /// but those of phase gen ("…@gen"), a step needs those instead. Allocates nothing once every name was there. Errors:
  /// those of the space, and NNT1020 when the call needs something that the run does not have or has in another type or
  /// shape.
  bool point(const RunTensors &run, bool step, Diagnostics &diags);
  /// After the call: puts what it wrote into the run's outputs. Errors: those of the space.
  bool collect(bool step, Diagnostics &diags);

  const std::vector<abi::Slot> &slots() const { return table; }

private:
  struct Entry {
    const SlotSpec *spec;
    bool step;                      ///< of phase gen
    const Tensor *source = nullptr; ///< in one of the run's maps, whose nodes stay where they are
    Tensor here = {};               ///< the same in the space
  };

  explicit BoundTable(MemorySpace &space) : space(&space) {}

  MemorySpace *space;

  std::vector<Entry> entries; ///< in the manifest's order
  std::vector<abi::Slot> table;
};

/// Whether a name is one of phase gen.
bool isStepName(const std::string &name);

} // namespace nnterp
