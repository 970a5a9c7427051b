// Float arithmetic by exact numbers: a result is computed in 113 bits or by search, then rounded by the rules of IEEE 754.
#pragma once

#include <cstdint>
#include <string>

namespace nnterp::gpu::test {

/// A binary format: "f16", "bf16", "f32", "f64".
struct Format {
  int bits, exponentBits, fractionBits;
};
Format format(const std::string &name);

/// 113 bits: enough for products and, because of how they come about, for quotients.
using Exact = __float128;

Exact decode(uint64_t bits, Format format);
enum class Rounding { nearest, zero, down, up };
/// The number of the format that `value` is rounded to; NaN becomes the format's largest pattern without sign.
uint64_t encode(Exact value, Format format, Rounding rounding = Rounding::nearest);
bool isNan(Exact value);
/// a + b, with a trace of what 113 bits do not hold, and the sign that a sum of zero has in this rounding.
Exact sum(Exact a, Exact b, Rounding rounding);

} // namespace nnterp::gpu::test
