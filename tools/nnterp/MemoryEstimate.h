// What memory a run will take, before any of it is taken.
#pragma once

#include "runtime/weights/Checkpoint.h"
#include "tools/nnterp/CallExtents.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nnterp {

/// Bytes by purpose.
struct MemoryEstimate {
  uint64_t mapped = 0;      ///< weights read in place: pages of files that the system may drop, not part of the total
  uint64_t copied = 0;      ///< weights that cannot be mapped
  uint64_t uploaded = 0;    ///< weights on a device, where all of them are copied to
  uint64_t state = 0;       ///< the memory of sequences at the run's end; once more where it is saved
  uint64_t outputs = 0;     ///< tensors of the output file, and what calls write before they are put together
  uint64_t activations = 0; ///< intermediate values of the largest call

  uint64_t total() const { return copied + uploaded + state + outputs + activations; }
  /// "3.2 GiB (2.1 GiB copied weights, 1 GiB outputs, 0.1 GiB intermediate values)"
  std::string text() const;
};

/// `weights` is null for a configuration alone: then all are mapped. Looks at the longest calls: the first and the last on the
/// prompt, and the last step.
MemoryEstimate estimateMemory(const RunOutline &run, const Manifest &manifest, const CheckpointIndex *weights,
                              RunBuffers &buffers);

/// `12G`, `512M`, `1.5GiB`, a number of bytes; nothing when it is no size.
std::optional<uint64_t> parseSize(const std::string &text);

} // namespace nnterp
