// Reads the pickle inside a file of torch.save for the tensors it describes. Nothing is executed: classes and functions
// are only names here, and what is neither tensor, dict, list nor tuple is passed over.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"

#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// A tensor as the pickle describes it: a strided view of a storage, whose bytes are the record `data/<storage>`.
struct PickledTensor {
  std::string key; ///< keys of nested dicts and indices of lists, joined by dots; "" for a lone tensor
  DType dtype;
  Shape shape, strides; ///< in elements
  int64_t offset = 0;   ///< in elements
  std::string storage;
};

/// Errors: NNT0312 (with the byte at which the pickle cannot be followed), NNT0303.
bool readTorchPickle(std::string_view bytes, const std::string &file, std::vector<PickledTensor> &tensors,
                     Diagnostics &diags);

} // namespace nnterp
