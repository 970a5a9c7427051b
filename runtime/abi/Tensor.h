// Element types, and tensors in host memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// Element types that checkpoints, plans and outputs use. f8 is E4M3FN.
enum class DType : uint8_t { f64, f32, f16, bf16, f8_e4m3, i64, i32, i16, i8, u8, boolean };

size_t byteSize(DType t);
/// "float32", "bfloat16", "int64", …
std::string_view name(DType t);
/// "F32", "BF16", "F8_E4M3", …: the safetensors spelling.
std::string_view safetensorsName(DType t);
std::optional<DType> fromSafetensorsName(std::string_view s);
/// "float32" | "torch.bfloat16" | …
std::optional<DType> fromTorchName(std::string_view s);

/// Exact widening and round-to-nearest-even narrowing of the 16- and 8-bit formats.
float toFloat(uint16_t bits, DType f16OrBf16);
uint16_t fromFloat(float x, DType f16OrBf16);
float fp8ToFloat(uint8_t bits);

using Shape = std::vector<int64_t>;
/// Product of the extents; 1 for rank 0.
int64_t elementCount(const Shape &shape);
/// "[2, 3]"
std::string toString(const Shape &shape);

/// A dense row-major tensor that owns its bytes or views memory that `keep` keeps alive (a mapped file).
struct Tensor {
  DType dtype = DType::f32;
  Shape shape;
  void *data = nullptr;
  std::shared_ptr<void> keep;

  static Tensor make(DType dtype, Shape shape); ///< owned, zeroed, 64-byte aligned
  size_t bytes() const { return size_t(elementCount(shape)) * byteSize(dtype); }
  template <class T> T *as() { return static_cast<T *>(data); }
  template <class T> const T *as() const { return static_cast<const T *>(data); }
  /// The element at a flat index, widened.
  double at(int64_t flat) const;
  /// A copy converted to another type (integers from floats truncate).
  Tensor to(DType target) const;
};

} // namespace nnterp
