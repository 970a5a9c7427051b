// Fuzzes the reader of PyTorch's pickles, which come from files of unknown origin.
#include "runtime/weights/TorchPickle.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace nnterp;
  std::vector<PickledTensor> tensors;
  Diagnostics diags;
  bool ok = readTorchPickle({reinterpret_cast<const char *>(data), size}, "fuzz", tensors, diags);
  if (ok == diags.hasErrors())
    std::abort();
  for (const PickledTensor &tensor : tensors)
    if (tensor.shape.size() != tensor.strides.size())
      std::abort();
  return 0;
}
