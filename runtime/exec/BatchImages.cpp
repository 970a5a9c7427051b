// Lays images out for compiled programs.
#include "runtime/exec/BatchImages.h"
#include "runtime/images/Positions.h"

#include <algorithm>

namespace nnterp {

static TokenRows rowsOf(const Batch &batch) {
  TokenRows rows;
  for (int64_t b = 0; b < batch.rows(); ++b) {
    const int64_t *row = batch.ids.as<int64_t>() + b * batch.seq();
    rows.emplace_back(row, row + batch.lengths.as<int64_t>()[b]);
  }
  return rows;
}

bool addImages(Batch &batch, Tensor pixels, std::vector<ImageGrid> grids, const ImageTokenRules &rules,
               int64_t patchValues, const SourceLoc &loc, Diagnostics &diags) {
  if (pixels.shape.size() != 2 || pixels.shape[1] != patchValues) {
    diags.error("NNT1009", loc,
                "\"pixel_values\" has shape " + toString(pixels.shape) + "; expected [patches, " +
                    std::to_string(patchValues) + "]");
    return false;
  }
  const TokenRows rows = rowsOf(batch);
  const bool fits = checkPatches(grids, pixels.shape[0], loc, diags);
  if (!checkImageTokens(rows, grids, rules, loc, diags) || !fits)
    return false;
  const int64_t S = batch.seq();
  BatchImages images{std::move(pixels), std::move(grids), Tensor::make(DType::i64, {batch.rows(), S})};
  std::fill_n(images.rows.as<int64_t>(), batch.rows() * S, -1);
  int64_t next = 0;
  for (size_t b = 0; b < rows.size(); ++b)
    for (size_t i = 0; i < rows[b].size(); ++i)
      if (rows[b][i] == rules.imageToken)
        images.rows.as<int64_t>()[int64_t(b) * S + int64_t(i)] = next++;
  if (!batch.ownPositions)
    batch.positions = imagePositions(rows, images.grids, rules, S).positions;
  batch.images = std::move(images);
  return true;
}

void setImageInputs(const Batch &batch, const ImageTokenRules &rules, int64_t patchValues, const std::string &prefix,
                    TensorMap &into) {
  const std::vector<ImageGrid> grids = batch.images ? batch.images->grids : std::vector<ImageGrid>();
  const int64_t P = batch.images ? batch.images->pixels.shape[0] : 0; // as many as the grids have: addImages checks
  Tensor patches = Tensor::make(DType::i64, {6, P}), segments = Tensor::make(DType::i64, {int64_t(grids.size()) + 1});
  const int64_t m = rules.mergeSize;
  int64_t begin = 0;
  for (size_t image = 0; image < grids.size(); ++image) {
    const ImageGrid &grid = grids[image];
    const int64_t end = begin + grid.patches();
    for (int64_t p = begin; p < end; ++p) {
      // Merge blocks in raster order, patches in raster order within a block.
      const int64_t n = (p - begin) % (grid.h * grid.w), block = n / (m * m), across = grid.w / m;
      const int64_t row = m * (block / across) + n / m % m, column = m * (block % across) + n % m;
      const int64_t place[6] = {row, column, grid.h, grid.w, begin, end};
      for (int64_t k = 0; k < 6; ++k)
        patches.as<int64_t>()[k * P + p] = place[k];
    }
    begin = end;
    segments.as<int64_t>()[image + 1] = end;
  }
  into[prefix + "pixels"] = batch.images ? batch.images->pixels : Tensor::make(DType::f32, {0, patchValues});
  into[prefix + "patches"] = std::move(patches);
  into[prefix + "segments"] = std::move(segments);
}

} // namespace nnterp
