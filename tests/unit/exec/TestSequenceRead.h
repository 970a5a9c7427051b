// What the test programs of sequences compute: each token is put into a cache, and the next one is decided by all that
// the cache holds, (sum of (place + 1) * (id + position)) modulo the vocabulary.
#pragma once

#include <cstdint>

namespace nnterp::test {

/// One call: ids [B,W], lengths [B], positions [3,B,W], past [B], total [1], next [B,V], cache [B,1,capacity,1]. False
/// when a row has more tokens than were announced, or than there is room for.
inline bool readTokens(const int64_t *ids, const int64_t *lengths, const int64_t *positions, const int64_t *past,
                       const int64_t *total, float *next, float *cells, int64_t B, int64_t W, int64_t V, int64_t capacity) {
  bool good = true;
  for (int64_t b = 0; b < B; ++b) {
    for (int64_t i = 0; i < lengths[b]; ++i)
      cells[b * capacity + past[b] + i] = float(ids[b * W + i] + positions[b * W + i]);
    int64_t sum = 0;
    for (int64_t p = 0; p < past[b] + lengths[b]; ++p)
      sum += (p + 1) * int64_t(cells[b * capacity + p]);
    for (int64_t v = 0; v < V; ++v)
      next[b * V + v] = v == sum % V ? 5 : 0;
    good = good && past[b] + lengths[b] <= *total && *total <= capacity;
  }
  return good;
}

} // namespace nnterp::test
