// Which files of a folder hold a checkpoint's tensors.
#pragma once

#include "runtime/weights/TensorSource.h"

#include <memory>
#include <string>
#include <vector>

namespace nnterp {

/// Opens the weights of `directory`: `model.safetensors`, or the shards of `model.safetensors.index.json`, or the same
/// of `pytorch_model.bin`, or the only file of weights there is; every shard is checked against the index. Empty after
/// an error (NNT0101, NNT0301 to NNT0305, NNT0311, NNT0312).
std::vector<std::shared_ptr<TensorSource>> openCheckpointFiles(const std::string &directory, Diagnostics &diags);

} // namespace nnterp
