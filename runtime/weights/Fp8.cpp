// Multiplies out block-scaled FP8 weights.
#include "runtime/weights/Fp8.h"

#include <algorithm>

namespace nnterp {

/// A block has one scale and 256 possible values, so its products are made once and then looked up.
template <class T, class Round> static void multiply(const Fp8Matrix &m, T *out, Round round) {
  float decoded[256];
  for (int i = 0; i < 256; ++i)
    decoded[i] = fp8ToFloat(uint8_t(i));
  const int64_t blocksAcross = (m.cols + m.blockCols - 1) / m.blockCols;
  T product[256];
  for (int64_t row = 0; row < m.rows; row += m.blockRows)
    for (int64_t col = 0; col < m.cols; col += m.blockCols) {
      float scale = float(m.scale->at(m.scaleOffset + row / m.blockRows * blocksAcross + col / m.blockCols));
      for (int i = 0; i < 256; ++i)
        product[i] = round(decoded[i] * scale);
      int64_t rowEnd = std::min(row + m.blockRows, m.rows), colEnd = std::min(col + m.blockCols, m.cols);
      for (int64_t r = row; r < rowEnd; ++r)
        for (int64_t c = col; c < colEnd; ++c)
          out[r * m.cols + c] = product[m.bits[r * m.cols + c]];
    }
}

void multiplyOut(const Fp8Matrix &matrix, DType target, void *destination) {
  if (target == DType::f32)
    multiply(matrix, static_cast<float *>(destination), [](float x) { return x; });
  else
    multiply(matrix, static_cast<uint16_t *>(destination), [&](float x) { return fromFloat(x, target); });
}

} // namespace nnterp
