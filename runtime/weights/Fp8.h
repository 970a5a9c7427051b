// Multiplies out block-scaled FP8 weights.
#pragma once

#include "runtime/abi/Tensor.h"

namespace nnterp {

/// One matrix of E4M3 bits with a scale per block (spec/qwen3_5_moe.md 2.4).
struct Fp8Matrix {
  const uint8_t *bits;
  const Tensor *scale; ///< floating, [… , ceil(rows / blockRows), ceil(cols / blockCols)]
  int64_t scaleOffset; ///< flat index in `scale` of this matrix's first block
  int64_t rows, cols, blockRows, blockCols;
};

/// Writes `rows` × `cols` elements of `target` (f32, bf16 or f16): float32(q) * float32(scale), then rounded.
void multiplyOut(const Fp8Matrix &matrix, DType target, void *destination);

} // namespace nnterp
