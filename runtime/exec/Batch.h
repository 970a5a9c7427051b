// The prompt of a run, as compiled programs want it: rows left-aligned, pads gone.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"
#include "runtime/images/ImageTokens.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// What the model says about ids.
struct InputRules {
  int64_t vocabSize = 0;
  std::vector<int64_t> imageTokens; ///< ids that stand for pictures; empty for a text-only model
  std::optional<ImageTokenRules> images = std::nullopt; ///< of a model with an image encoder
  int64_t patchValues = 0;               ///< numbers per patch
};

/// The images of an input, all patches in one packed row.
struct BatchImages {
  Tensor pixels; ///< float32 [P,N]
  std::vector<ImageGrid> grids;
  Tensor rows;   ///< int64 [B,S]: the image feature that stands at a token, -1 for text
};

/// A token's place on the three rotary axes.
using Position = std::array<int64_t, 3>;

/// B rows of at most S tokens. Real token p of row b stands at [b, p]; what is behind a row's end is 0.
struct Batch {
  Tensor ids;       ///< int64 [B,S]
  Tensor lengths;   ///< int64 [B]: real tokens of each row
  Tensor positions; ///< int64 [3,B,S]: temporal, height, width; all the index in the row unless given
  std::optional<BatchImages> images;
  bool ownPositions = false; ///< the input gave positions: what a sequence already holds does not shift them

  int64_t rows() const { return ids.shape[0]; }
  int64_t seq() const { return ids.shape[1]; } ///< S: the padded length
  std::vector<int64_t> rowLengths() const;
  Position position(int64_t row, int64_t token) const;
};

/// Positions must lie below this: as far as rotary angles are computed exactly.
constexpr int64_t maxPosition = int64_t(1) << 20;

/// A batch of rows of ids; `width`: S where that is more than the longest row. All errors in one go, at `loc`.
/// Errors: NNT1004, NNT1005, NNT1012, NNT1013.
std::optional<Batch> batchFromIds(const std::vector<std::vector<int64_t>> &rows, const InputRules &rules,
                                  const SourceLoc &loc, Diagnostics &diags, int64_t width = 0);

/// A batch from an input file (spec/plan.md 2). All errors in one go. Errors: those of Safetensors::open,
/// NNT1004 to NNT1013, and those of images (NNT14xx).
std::optional<Batch> batchFromFile(const std::string &path, const InputRules &rules, Diagnostics &diags);

} // namespace nnterp
