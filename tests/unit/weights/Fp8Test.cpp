// Tests of multiplying out block-scaled FP8.
#include "runtime/weights/Fp8.h"
#include "Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

TEST_CASE("each block has its scale, ragged ends too", "[fp8]") {
  const int64_t rows = 5, cols = 7;
  std::vector<uint8_t> bits(size_t(rows * cols));
  for (size_t i = 0; i < bits.size(); ++i)
    bits[i] = uint8_t(i * 7 % 0x7f | (i % 3 ? 0 : 0x80));
  Tensor scale = tensorOf(DType::bf16, {3, 3}, {1, 2, 3, 0.5, 0.25, 7, -1, 0.1, 1e-3});
  Fp8Matrix matrix{bits.data(), &scale, 0, rows, cols, 2, 3};
  for (DType target : {DType::f32, DType::bf16, DType::f16}) {
    Tensor out = Tensor::make(target, {rows, cols});
    multiplyOut(matrix, target, out.data);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < cols; ++c) {
        float exact = fp8ToFloat(bits[size_t(r * cols + c)]) * float(scale.at(r / 2 * 3 + c / 3));
        INFO(name(target) << " " << r << " " << c);
        CHECK(out.at(r * cols + c) == (target == DType::f32 ? exact : toFloat(fromFloat(exact, target), target)));
      }
  }
}

TEST_CASE("the first scale of a matrix may lie anywhere in the scales", "[fp8]") {
  uint8_t one = 0x38;
  Tensor scale = tensorOf(DType::f32, {3, 1, 1}, {5, 6, 7});
  float out = 0;
  multiplyOut({&one, &scale, 2, 1, 1, 128, 128}, DType::f32, &out);
  CHECK(out == 7);
}
