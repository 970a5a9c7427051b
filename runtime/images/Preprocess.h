// Image files to what the image encoder takes: patches (spec/qwen3_5_moe.md 5.4).
#pragma once

#include "runtime/abi/Tensor.h"
#include "runtime/images/Grid.h"
#include "runtime/images/ImageRules.h"
#include "runtime/images/Picture.h"

#include <optional>
#include <utility>
#include <vector>

namespace nnterp {

/// Patches of images, one image after the other.
struct ImagePatches {
  Tensor pixelValues; ///< float32 [P, 3*temporalPatchSize*patchSize^2]; merge blocks in order, within a patch channel, frame, y, x
  std::vector<ImageGrid> grids;
};

/// Height and width that a picture is resized to. Errors: NNT1403 (the result would have too many pixels), NNT1405.
std::optional<std::pair<int64_t, int64_t>> targetSize(int64_t height, int64_t width, const ImageRules &rules,
                                                      const std::string &file, Diagnostics &diags);

/// Patches of files, in order, without a second copy of them: 24 bytes per pixel of the resized pictures, and the files one by one. All
/// errors in one go. Errors: NNT0101 (at `from` where given), NNT1017, NNT1401 to NNT1405.
std::optional<ImagePatches> loadImages(const std::vector<std::string> &paths, const ImageRules &rules, Diagnostics &diags,
                                       const SourceLoc &from = {});
std::optional<ImagePatches> loadImage(const std::string &path, const ImageRules &rules, Diagnostics &diags,
                                      const SourceLoc &from = {});

} // namespace nnterp
