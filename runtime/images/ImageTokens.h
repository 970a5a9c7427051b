// The tokens that stand for images in a prompt (spec/qwen3_5_moe.md 5.1, 5.2, 5.4).
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"
#include "runtime/images/Grid.h"

#include <optional>
#include <vector>

namespace nnterp {

/// Rows of ids, without pads.
using TokenRows = std::vector<std::vector<int64_t>>;

/// What the configuration says about tokens of images.
struct ImageTokenRules {
  int64_t imageToken = 0, videoToken = -1;
  int64_t mergeSize = 2; ///< patches of an image token, along each side
};

/// Grids as an input file has them: int64 [images, 3]. All errors in one go. Errors: NNT1413, NNT1415.
std::optional<std::vector<ImageGrid>> readGrids(const Tensor &imageGridThw, const ImageTokenRules &rules, const SourceLoc &loc,
                                                Diagnostics &diags);

/// Whether the grids are for so many patches. Errors: NNT1414.
bool checkPatches(const std::vector<ImageGrid> &grids, int64_t patches, const SourceLoc &loc, Diagnostics &diags);

/// Each image token becomes as many as its image has; images are taken in order over all rows. Errors: NNT1411, NNT1415.
std::optional<TokenRows> expandImageTokens(const TokenRows &rows, const std::vector<ImageGrid> &grids,
                                           const ImageTokenRules &rules, const SourceLoc &loc, Diagnostics &diags);

/// Whether expanded rows hold, for each grid in order, one run of as many tokens as it has. All errors in one go.
/// Errors: NNT1411, NNT1412, NNT1415.
bool checkImageTokens(const TokenRows &rows, const std::vector<ImageGrid> &grids, const ImageTokenRules &rules,
                      const SourceLoc &loc, Diagnostics &diags);

} // namespace nnterp
