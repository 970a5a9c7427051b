// Element types and their conversions, and tensors in host memory.
#include "runtime/abi/Tensor.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

namespace nnterp {

namespace {

struct DTypeInfo {
  DType type;
  size_t size;
  std::string_view name, safetensors;
};

/// In the order of DType.
constexpr DTypeInfo dtypes[] = {
    {DType::f64, 8, "float64", "F64"},
    {DType::f32, 4, "float32", "F32"},
    {DType::f16, 2, "float16", "F16"},
    {DType::bf16, 2, "bfloat16", "BF16"},
    {DType::f8_e4m3, 1, "float8_e4m3fn", "F8_E4M3"},
    {DType::i64, 8, "int64", "I64"},
    {DType::i32, 4, "int32", "I32"},
    {DType::i16, 2, "int16", "I16"},
    {DType::i8, 1, "int8", "I8"},
    {DType::u8, 1, "uint8", "U8"},
    {DType::boolean, 1, "bool", "BOOL"},
};

template <class T> T bitCast(uint32_t bits) {
  static_assert(sizeof(T) == 4);
  T value;
  std::memcpy(&value, &bits, 4);
  return value;
}

uint32_t bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits >> 15) << 31, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 31) // infinity or NaN
    return bitCast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) // zero or subnormal: a multiple of 2^-24
    return bitCast<float>(sign | bitsOf(std::ldexp(float(mantissa), -24)));
  return bitCast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t floatToHalf(float x) {
  uint32_t bits = bitsOf(x);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    return sign | 0x7e00 | uint16_t(magnitude >> 13 & 0x3ff); // quiet NaN, payload kept
  if (magnitude >= 0x477ff000)                                // 65520 and beyond round to infinity
    return sign | 0x7c00;
  if (magnitude < 0x38800000) { // below 2^-14: a multiple of 2^-24; adding 0.5 makes the hardware round there
    uint32_t rounded = bitsOf(bitCast<float>(magnitude) + 0.5f) - bitsOf(0.5f);
    return sign | uint16_t(rounded);
  }
  uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | uint16_t((rounded >> 13) - (112 << 10));
}

uint16_t floatToBfloat(float x) {
  uint32_t bits = bitsOf(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40); // quiet NaN
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Nearest E4M3FN value, ties to even; beyond the largest (448) NaN, as torch rounds.
uint8_t floatToFp8(float x) {
  uint8_t sign = std::signbit(x) ? 0x80 : 0;
  float magnitude = std::fabs(x);
  if (!(magnitude <= 464)) // 464 lies half-way between 448 and the first value that is not there
    return sign | 0x7f;
  uint8_t low = 0; // positive values are ordered as their bits are: the largest one <= magnitude
  for (uint8_t step = 64; step > 0; step /= 2)
    if (low + step <= 0x7e && fp8ToFloat(low + step) <= magnitude)
      low += step;
  if (low == 0x7e)
    return sign | low;
  float below = magnitude - fp8ToFloat(low), above = fp8ToFloat(low + 1) - magnitude;
  return sign | uint8_t(low + (above < below || (above == below && (low & 1))));
}

bool isInteger(DType t) { return t >= DType::i64; }

int64_t integerAt(const Tensor &t, int64_t i) {
  switch (t.dtype) {
  case DType::i64:
    return t.as<int64_t>()[i];
  case DType::i32:
    return t.as<int32_t>()[i];
  case DType::i16:
    return t.as<int16_t>()[i];
  case DType::i8:
    return t.as<int8_t>()[i];
  case DType::boolean:
    return t.as<uint8_t>()[i] != 0;
  default:
    return t.as<uint8_t>()[i];
  }
}

void storeInteger(Tensor &t, int64_t i, int64_t v) {
  switch (t.dtype) {
  case DType::i64:
    t.as<int64_t>()[i] = v;
    break;
  case DType::i32:
    t.as<int32_t>()[i] = int32_t(v);
    break;
  case DType::i16:
    t.as<int16_t>()[i] = int16_t(v);
    break;
  default:
    t.as<uint8_t>()[i] = uint8_t(v);
  }
}

void storeFloat(Tensor &t, int64_t i, double v) {
  switch (t.dtype) {
  case DType::f64:
    t.as<double>()[i] = v;
    break;
  case DType::f32:
    t.as<float>()[i] = float(v);
    break;
  case DType::f8_e4m3:
    t.as<uint8_t>()[i] = floatToFp8(float(v));
    break;
  default:
    t.as<uint16_t>()[i] = fromFloat(float(v), t.dtype);
  }
}

/// Truncates towards zero; what int64 cannot hold becomes its nearest end, and NaN 0.
int64_t truncated(double v) {
  if (v != v)
    return 0;
  if (v >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (v < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return int64_t(v);
}

} // namespace

size_t byteSize(DType t) { return dtypes[size_t(t)].size; }
std::string_view name(DType t) { return dtypes[size_t(t)].name; }
std::string_view safetensorsName(DType t) { return dtypes[size_t(t)].safetensors; }

std::optional<DType> fromSafetensorsName(std::string_view s) {
  for (const DTypeInfo &info : dtypes)
    if (info.safetensors == s)
      return info.type;
  return std::nullopt;
}

std::optional<DType> fromTorchName(std::string_view s) {
  constexpr std::string_view prefix = "torch.";
  if (s.substr(0, prefix.size()) == prefix)
    s.remove_prefix(prefix.size());
  for (const DTypeInfo &info : dtypes)
    if (info.name == s)
      return info.type;
  return std::nullopt;
}

float toFloat(uint16_t bits, DType f16OrBf16) {
  return f16OrBf16 == DType::bf16 ? bitCast<float>(uint32_t(bits) << 16) : halfToFloat(bits);
}

uint16_t fromFloat(float x, DType f16OrBf16) { return f16OrBf16 == DType::bf16 ? floatToBfloat(x) : floatToHalf(x); }

float fp8ToFloat(uint8_t bits) {
  int exponent = bits >> 3 & 15, mantissa = bits & 7;
  float sign = bits & 0x80 ? -1.f : 1.f;
  if (exponent == 15 && mantissa == 7)
    return std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0)
    return sign * std::ldexp(float(mantissa), -9);
  return sign * std::ldexp(float(8 + mantissa), exponent - 10);
}

int64_t elementCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

std::string toString(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Tensor Tensor::make(DType dtype, Shape shape) {
  constexpr size_t alignment = 64;
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  // calloc gets large blocks from the system already zeroed, so that nothing is written twice.
  void *base = std::calloc(tensor.bytes() + alignment, 1);
  if (!base)
    throw std::bad_alloc(); // as operator new does
  tensor.keep = std::shared_ptr<void>(base, std::free);
  tensor.data = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(base) + alignment - 1) / alignment * alignment);
  return tensor;
}

double Tensor::at(int64_t flat) const {
  switch (dtype) {
  case DType::f64:
    return as<double>()[flat];
  case DType::f32:
    return as<float>()[flat];
  case DType::f16:
  case DType::bf16:
    return toFloat(as<uint16_t>()[flat], dtype);
  case DType::f8_e4m3:
    return fp8ToFloat(as<uint8_t>()[flat]);
  default:
    return double(integerAt(*this, flat));
  }
}

Tensor Tensor::to(DType target) const {
  Tensor result = make(target, shape);
  int64_t count = elementCount(shape);
  if (target == dtype) {
    if (count > 0)
      std::memcpy(result.data, data, bytes());
  } else if (target == DType::boolean) {
    for (int64_t i = 0; i < count; ++i)
      result.as<uint8_t>()[i] = at(i) != 0;
  } else if (isInteger(target)) {
    for (int64_t i = 0; i < count; ++i)
      storeInteger(result, i, isInteger(dtype) ? integerAt(*this, i) : truncated(at(i)));
  } else {
    for (int64_t i = 0; i < count; ++i)
      storeFloat(result, i, at(i));
  }
  return result;
}

} // namespace nnterp
