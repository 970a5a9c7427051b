// Positions of tokens on the three rotary axes, in prompts with images (spec/qwen3_5_moe.md 5.1).
#pragma once

#include "runtime/images/ImageTokens.h"

namespace nnterp {

struct ImagePositions {
  Tensor positions; ///< int64 [3,B,S]: temporal, height, width; rows left-aligned, 0 behind a row's end
  Tensor ropeDelta; ///< int64 [B]: token i after the prompt (0: the first) has the position length + ropeDelta + i on all axes
};

/// Positions of expanded rows, which checkImageTokens has found good. `width`: S where that is more than the longest row. Rows
/// without images get their indices, and 0 as ropeDelta.
ImagePositions imagePositions(const TokenRows &rows, const std::vector<ImageGrid> &grids, const ImageTokenRules &rules,
                              int64_t width = 0);

} // namespace nnterp
