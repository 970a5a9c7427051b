// Tests of element types and their conversions, over all values of the small formats.
#include "runtime/abi/Tensor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace nnterp;

static const DType allTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8_e4m3, DType::i64,
                                 DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

TEST_CASE("types are known by their names", "[tensor]") {
  for (DType t : allTypes) {
    CHECK(fromSafetensorsName(safetensorsName(t)) == t);
    CHECK(fromTorchName(name(t)) == t);
    CHECK(fromTorchName("torch." + std::string(name(t))) == t);
  }
  CHECK(name(DType::bf16) == "bfloat16");
  CHECK(safetensorsName(DType::f8_e4m3) == "F8_E4M3");
  CHECK(byteSize(DType::f64) == 8);
  CHECK(byteSize(DType::bf16) == 2);
  CHECK(byteSize(DType::boolean) == 1);
  CHECK_FALSE(fromSafetensorsName("F8_E5M2"));
  CHECK_FALSE(fromTorchName("F32"));
}

TEST_CASE("shapes are counted and printed", "[tensor]") {
  CHECK(elementCount({}) == 1);
  CHECK(elementCount({2, 3, 4}) == 24);
  CHECK(elementCount({2, 0}) == 0);
  CHECK(toString(Shape{}) == "[]");
  CHECK(toString(Shape{2, 3}) == "[2, 3]");
}

TEST_CASE("16-bit formats widen exactly and come back", "[tensor]") {
  CHECK(toFloat(0x3c00, DType::f16) == 1.f);
  CHECK(toFloat(0xc000, DType::f16) == -2.f);
  CHECK(toFloat(0x0001, DType::f16) == 0x1p-24f);
  CHECK(toFloat(0x03ff, DType::f16) == 0x3ffp-24f);
  CHECK(toFloat(0x7bff, DType::f16) == 65504.f);
  CHECK(toFloat(0x3f80, DType::bf16) == 1.f);
  CHECK(toFloat(0x0001, DType::bf16) == 0x1p-133f);
  for (DType t : {DType::f16, DType::bf16})
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      float value = toFloat(uint16_t(bits), t);
      uint16_t back = fromFloat(value, t);
      bool same = value != value ? std::isnan(toFloat(back, t)) : back == bits;
      if (!same)
        FAIL("bits " << bits << " of " << name(t) << " became " << back);
    }
}

/// Checks `fromFloat` half-way between neighbours and on both sides, for all neighbours of a format.
static void checkRounding(DType t, uint16_t largest) {
  for (uint16_t bits = 0; bits < largest; ++bits) {
    float low = toFloat(bits, t), high = toFloat(bits + 1, t);
    float half = float((double(low) + double(high)) / 2);
    if (double(half) * 2 != double(low) + double(high))
      continue; // below what float32 resolves
    uint16_t even = bits & 1 ? bits + 1 : bits;
    bool ok = fromFloat(half, t) == even && fromFloat(-half, t) == (even | 0x8000) &&
              fromFloat(std::nextafter(half, 0.f), t) == bits &&
              fromFloat(std::nextafter(half, INFINITY), t) == bits + 1;
    if (!ok)
      FAIL(name(t) << " between bits " << bits << " and the next");
  }
}

TEST_CASE("16-bit formats round to nearest, ties to even", "[tensor]") {
  checkRounding(DType::f16, 0x7bff);
  checkRounding(DType::bf16, 0x7f7f);
  CHECK(fromFloat(65519.996f, DType::f16) == 0x7bff);
  CHECK(fromFloat(65520.f, DType::f16) == 0x7c00);
  CHECK(fromFloat(std::numeric_limits<float>::max(), DType::bf16) == 0x7f80);
  CHECK(fromFloat(-INFINITY, DType::f16) == 0xfc00);
  CHECK(fromFloat(-INFINITY, DType::bf16) == 0xff80);
  CHECK(std::isnan(toFloat(fromFloat(NAN, DType::f16), DType::f16)));
  CHECK(std::isnan(toFloat(fromFloat(NAN, DType::bf16), DType::bf16)));
  float nanInLowBits;
  uint32_t bits = 0x7f800001;
  std::memcpy(&nanInLowBits, &bits, 4);
  CHECK(std::isnan(toFloat(fromFloat(nanInLowBits, DType::bf16), DType::bf16)));
}

TEST_CASE("FP8 E4M3FN values", "[tensor]") {
  CHECK(fp8ToFloat(0x00) == 0.f);
  CHECK(std::signbit(fp8ToFloat(0x80)));
  CHECK(fp8ToFloat(0x01) == 0x1p-9f);
  CHECK(fp8ToFloat(0x07) == 7 * 0x1p-9f);
  CHECK(fp8ToFloat(0x08) == 0x1p-6f);
  CHECK(fp8ToFloat(0x38) == 1.f);
  CHECK(fp8ToFloat(0x39) == 1.125f);
  CHECK(fp8ToFloat(0xb8) == -1.f);
  CHECK(fp8ToFloat(0x78) == 256.f); // exponent 15 is an ordinary one
  CHECK(fp8ToFloat(0x7e) == 448.f);
  CHECK(fp8ToFloat(0xfe) == -448.f);
  CHECK(std::isnan(fp8ToFloat(0x7f)));
  CHECK(std::isnan(fp8ToFloat(0xff)));
}

TEST_CASE("conversion to FP8 rounds to nearest, ties to even", "[tensor]") {
  auto rounded = [](float x) {
    Tensor one = Tensor::make(DType::f32, {1});
    one.as<float>()[0] = x;
    return int(one.to(DType::f8_e4m3).as<uint8_t>()[0]);
  };
  for (int bits = 0; bits < 0x7e; ++bits) {
    float low = fp8ToFloat(uint8_t(bits)), high = fp8ToFloat(uint8_t(bits + 1)), half = (low + high) / 2;
    INFO(bits);
    CHECK(rounded(low) == bits);
    CHECK(rounded(half) == (bits & 1 ? bits + 1 : bits));
    CHECK(rounded(std::nextafter(half, 0.f)) == bits);
    CHECK(rounded(-std::nextafter(half, INFINITY)) == (0x80 | (bits + 1)));
  }
  CHECK(rounded(448.f) == 0x7e);
  CHECK(rounded(464.f) == 0x7e);
  CHECK(rounded(465.f) == 0x7f);
  CHECK(rounded(NAN) == 0x7f);
}

TEST_CASE("tensors are aligned, zeroed and owned together", "[tensor]") {
  Tensor t = Tensor::make(DType::f32, {3, 5});
  CHECK(reinterpret_cast<uintptr_t>(t.data) % 64 == 0);
  CHECK(t.bytes() == 60);
  for (int64_t i = 0; i < 15; ++i)
    CHECK(t.at(i) == 0);
  Tensor other = t;
  t.as<float>()[7] = 2.5f;
  t = Tensor();
  CHECK(other.at(7) == 2.5);
  CHECK(Tensor::make(DType::i64, {0, 4}).bytes() == 0);
  CHECK(Tensor::make(DType::i64, {}).bytes() == 8);
}

TEST_CASE("small integers survive every conversion", "[tensor]") {
  Tensor source = Tensor::make(DType::f64, {4});
  for (int i = 0; i < 4; ++i)
    source.as<double>()[i] = i;
  for (DType from : allTypes)
    for (DType to : allTypes) {
      Tensor result = source.to(from).to(to);
      INFO(name(from) << " to " << name(to));
      bool truth = from == DType::boolean || to == DType::boolean;
      CHECK(result.dtype == to);
      CHECK(result.shape == Shape{4});
      for (int i = 0; i < 4; ++i)
        CHECK(result.at(i) == (truth ? i != 0 : i));
    }
}

TEST_CASE("floats truncate to integers, within the range", "[tensor]") {
  Tensor source = Tensor::make(DType::f64, {6});
  double values[] = {2.9, -2.9, 1e30, -1e30, NAN, 0.5};
  std::memcpy(source.data, values, sizeof values);
  Tensor result = source.to(DType::i64);
  CHECK(result.as<int64_t>()[0] == 2);
  CHECK(result.as<int64_t>()[1] == -2);
  CHECK(result.as<int64_t>()[2] == std::numeric_limits<int64_t>::max());
  CHECK(result.as<int64_t>()[3] == std::numeric_limits<int64_t>::min());
  CHECK(result.as<int64_t>()[4] == 0);
  CHECK(result.as<int64_t>()[5] == 0);
  CHECK(source.to(DType::boolean).as<uint8_t>()[5] == 1);
}

TEST_CASE("large integers pass between integer types unharmed", "[tensor]") {
  Tensor source = Tensor::make(DType::i64, {1});
  source.as<int64_t>()[0] = (int64_t(1) << 62) + 1;
  CHECK(source.to(DType::i64).as<int64_t>()[0] == (int64_t(1) << 62) + 1);
  source.as<int64_t>()[0] = 200;
  CHECK(source.to(DType::u8).as<uint8_t>()[0] == 200);
}
