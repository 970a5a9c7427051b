// Images in a batch: which feature stands at which token, and what the image encoder reads.
#pragma once

#include "runtime/exec/CallInputs.h"
#include "runtime/images/ImageTokens.h"

namespace nnterp {

/// Gives a batch its images: `pixels` float32 [P,N], the patches of all images in order. Checks that the tokens are as many as the
/// images have, and that rows of `pixels` are `patchValues` long; sets positions (spec/qwen3_5_moe.md 5.1) unless the input gave its
/// own. All errors in one go. Errors: NNT1009, NNT1411 to NNT1415.
bool addImages(Batch &batch, Tensor pixels, std::vector<ImageGrid> grids, const ImageTokenRules &rules, int64_t patchValues,
               const SourceLoc &loc, Diagnostics &diags);

/// The inputs of the image encoder under `prefix` + name: pixels [P,N], patches [6,P] (per patch: row and column in its image, the
/// image's height and width in patches, its first patch and the end), segments [images+1] (where each image's patches begin, and
/// the end). A batch without images has none of each.
void setImageInputs(const Batch &batch, const ImageTokenRules &rules, int64_t patchValues, const std::string &prefix,
                    TensorMap &into);

} // namespace nnterp
