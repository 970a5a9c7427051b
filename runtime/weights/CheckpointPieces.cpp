// Puts together weights that are stored in parts or as FP8.
#include "runtime/weights/CheckpointPieces.h"
#include "runtime/weights/Fp8.h"

namespace nnterp {

/// Matrices of the last two dimensions; the scales of one follow those of the one before.
static void multiplyOutPart(const Tensor &part, const Tensor &scale, DType target, char *destination,
                            const CheckpointIndex::Options &options) {
  const size_t rank = part.shape.size();
  const int64_t rows = part.shape[rank - 2], cols = part.shape[rank - 1];
  const int64_t blocks = scale.shape[rank - 2] * scale.shape[rank - 1];
  const int64_t matrices = rows * cols == 0 ? 0 : elementCount(part.shape) / (rows * cols);
  for (int64_t m = 0; m < matrices; ++m) {
    Fp8Matrix matrix{
        part.as<uint8_t>() + m * rows * cols, &scale, m * blocks, rows, cols, options.blockRows, options.blockCols};
    multiplyOut(matrix, target, destination + size_t(m * rows * cols) * byteSize(target));
  }
}

Tensor assemble(const CheckpointPieces &pieces, const Recipe &recipe, const CheckpointIndex::Options &options) {
  Tensor result = Tensor::make(recipe.dtype, recipe.shape);
  char *destination = result.as<char>();
  for (const Recipe::Part &part : recipe.parts) {
    Tensor stored = pieces.sources[part.tensor.source]->tensor(part.tensor.entry);
    if (part.scale) {
      Tensor scale = pieces.sources[part.scale->source]->tensor(part.scale->entry);
      multiplyOutPart(stored, scale, recipe.dtype, destination, options);
    } else {
      if (stored.dtype != recipe.dtype)
        stored = stored.to(recipe.dtype);
      if (stored.bytes() > 0)
        std::memcpy(destination, stored.data, stored.bytes());
    }
    destination += size_t(elementCount(stored.shape)) * byteSize(recipe.dtype);
  }
  return result;
}

} // namespace nnterp
