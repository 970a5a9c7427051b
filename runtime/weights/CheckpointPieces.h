// From which stored tensors each wanted one is made, and how.
#pragma once

#include "runtime/weights/Checkpoint.h"
#include "runtime/weights/TensorSource.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A tensor of one of the checkpoint's files.
struct StoredTensor {
  size_t source = 0, entry = 0;
};

/// A wanted tensor's parts in the order in which their elements follow one another; one part where it is stored whole.
struct Recipe {
  struct Part {
    StoredTensor tensor;
    std::optional<StoredTensor> scale; ///< of an FP8 part
  };
  std::vector<Part> parts;
  DType dtype = DType::f32; ///< of the result
  Shape shape;
};

struct CheckpointPieces {
  std::vector<std::shared_ptr<TensorSource>> sources;
  std::map<std::string, Recipe> recipes; ///< by wanted key
};

/// Makes the one copy: each part goes from the mapped file straight to its place in the result.
Tensor assemble(const CheckpointPieces &pieces, const Recipe &recipe, const CheckpointIndex::Options &options);

} // namespace nnterp
