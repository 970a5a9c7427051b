// Counts positions along rows with images.
#include "runtime/images/Positions.h"

#include <algorithm>
#include <cassert>

namespace nnterp {

ImagePositions imagePositions(const TokenRows &rows, const std::vector<ImageGrid> &grids, const ImageTokenRules &rules,
                              int64_t width) {
  const auto B = int64_t(rows.size());
  for (const std::vector<int64_t> &row : rows)
    width = std::max(width, int64_t(row.size()));
  ImagePositions result{Tensor::make(DType::i64, {3, B, width}), Tensor::make(DType::i64, {B})};
  auto grid = grids.begin();
  for (int64_t b = 0; b < B; ++b) {
    const std::vector<int64_t> &row = rows[size_t(b)];
    const auto length = int64_t(row.size());
    int64_t *first = result.positions.as<int64_t>() + b * width;
    auto put = [&](int64_t token, int64_t t, int64_t h, int64_t w) {
      first[token] = t;
      first[token + B * width] = h;
      first[token + 2 * B * width] = w;
    };
    // An image stands at one time; its rows and columns count from there, and text goes on behind its longer side.
    int64_t now = 0;
    for (int64_t token = 0; token < length;) {
      if (row[size_t(token)] != rules.imageToken) {
        put(token++, now, now, now);
        ++now;
        continue;
      }
      assert(grid != grids.end() && token + grid->tokens(rules.mergeSize) <= length);
      const int64_t height = grid->h / rules.mergeSize, columns = grid->w / rules.mergeSize;
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < columns; ++x)
          put(token++, now, now + y, now + x);
      now += std::max(height, columns);
      ++grid;
    }
    result.ropeDelta.as<int64_t>()[b] = now - length;
  }
  return result;
}

} // namespace nnterp
