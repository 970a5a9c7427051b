// One interface over the files that hold tensors: safetensors, and PyTorch's archives.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/weights/Safetensors.h"

#include <memory>
#include <string>
#include <vector>

namespace nnterp {

/// An open file of tensors.
class TensorSource {
public:
  virtual ~TensorSource() = default;
  virtual const std::string &path() const = 0;
  virtual const std::vector<SafetensorsEntry> &entries() const = 0;
  /// Whether the bytes of entry `i` can be used where they lie in the mapped file (dense, row-major, aligned).
  virtual bool inPlace(size_t i) const = 0;
  /// The tensor: a view when in place, else a dense copy.
  virtual Tensor tensor(size_t i) const = 0;
};

/// Whether the name ends in .pt, .pth or .bin.
bool isTorchName(const std::string &path);

/// Opens a file according to its name. Errors: NNT0101, NNT03xx, at the file.
std::shared_ptr<TensorSource> openTensorSource(const std::string &path, Diagnostics &diags);

/// Opens an archive of torch.save. Errors: NNT0101, NNT0303, NNT0311, NNT0312.
std::shared_ptr<TensorSource> openTorchFile(const std::string &path, Diagnostics &diags);

} // namespace nnterp
