// A checkpoint's tensors under the names the graph uses, whatever layout the files have (spec/qwen3_5_moe.md 2).
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"
#include "runtime/weights/Safetensors.h"

#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// A tensor the graph wants, by its standard key (`model.layers.0.mlp.experts.gate_up_proj`, text-only prefix).
struct WantedTensor {
  std::string key;
  Shape shape;
  /// For a fused expert tensor: how it may be stored per expert. Rows of the parts are concatenated in this order:
  /// {"gate_proj", "up_proj"} for gate_up_proj, {"down_proj"} for down_proj. Empty: not an expert tensor.
  std::vector<std::string> expertParts;
};

/// What `CheckpointIndex` found for one wanted tensor.
struct FoundTensor {
  WantedTensor wanted;
  DType dtype;            ///< dtype handed to the graph: storage dtype; bf16 where FP8 is multiplied out in a bf16 run, f32 in an f32 run
  bool mapped = true;     ///< false: copied (FP8 or per-expert), once
  std::string storedKey;  ///< key in the file (first part)
};

/// The index of a checkpoint: which file holds what. Only headers are read.
class CheckpointIndex {
public:
  struct Options {
    bool fp8 = false;               ///< config has quantization_config fp8
    int64_t blockRows = 128, blockCols = 128;
    bool tiedHead = false;          ///< `lm_head.weight` may be absent: the embedding serves
    DType fp8Target = DType::f32;   ///< what FP8 is multiplied out to
  };
  /// Opens single file, shards by index, or `.bin`/`.pt` files; matches every wanted tensor and reports every missing,
  /// surplus or misshaped one with expected and found shape. `mtp.*` is skipped, and so is `model.visual.*` unless some of it is wanted. Errors: NNT03xx.
  static std::optional<CheckpointIndex> open(const std::string &directory, const std::vector<WantedTensor> &wanted,
                                             const Options &options, Diagnostics &diags);

  const std::vector<FoundTensor> &tensors() const { return found; }
  const FoundTensor *find(std::string_view key) const;
  /// The tensor's bytes: a view of the mapping, or the one copy made of FP8 and per-expert tensors. Thread-safe not required.
  std::optional<Tensor> load(std::string_view key, Diagnostics &diags);
  /// All stored tensors (with skipped ones), for `nnterp info`.
  const std::vector<SafetensorsEntry> &stored() const { return all; }
  uint64_t storedBytes() const;
  uint64_t copiedBytes() const { return copied; } ///< bytes copied so far (FP8, per-expert)
  int64_t copiedTensors() const { return copies; }

private:
  struct Impl;
  std::shared_ptr<Impl> impl;
  std::vector<FoundTensor> found;
  std::vector<SafetensorsEntry> all;
  uint64_t copied = 0;
  int64_t copies = 0;
};

} // namespace nnterp
