// Conversions. Integers of 8 bits, and those in registers wider than their type, go through 64 bits (`wide`, `narrow`).
#include "runtime/gpu/emulator/tier/Real.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

template <class T> constexpr bool isSigned = T(-1) < T(0);
template <class T> constexpr T highest = T(isSigned<T> ? (u64(1) << (8 * sizeof(T) - 1)) - 1 : ~u64(0));
template <class T> constexpr T lowest = T(isSigned<T> ? ~u64(highest<T>) : u64(0));

template <class D> struct Wrap {
  template <class S> static D run(S a) { return D(a); }
};
template <class D> struct Clamp {
  template <class S> static D run(S a) {
    if (isSigned<S> && a < S(0))
      return isSigned<D> && s64(a) >= s64(lowest<D>) ? D(a) : lowest<D>;
    return u64(a) <= u64(highest<D>) ? D(a) : highest<D>;
  }
};

template <class D, class S> const Inst *wrap(Warp &w, const Inst *i) { return unary<Wrap<D>, D, S>(w, i); }
template <class D, class S> const Inst *clamp(Warp &w, const Inst *i) { return unary<Clamp<D>, D, S>(w, i); }

/// The low bits of a register of type R, as S, extended to 64 bits.
template <class S> struct Extend {
  template <class R> static u64 run(R a) { return u64(s64(S(a))); }
};
template <class S, class R> const Inst *wide(Warp &w, const Inst *i) { return unary<Extend<S>, u64, R>(w, i); }
/// 64 bits to D, extended by its sign to a register of type R.
template <class Op> struct ThenExtend {
  template <class S> static u64 run(S a) { return u64(s64(Op::run(a))); }
};
template <class Op, class R, class S> const Inst *narrow(Warp &w, const Inst *i) {
  return unary<ThenExtend<Op>, R, S>(w, i);
}

// Roundings of a float to a whole number, still as a float.
struct Nearest {
  static float run(float a) { return __builtin_rintf(a); }
  static double run(double a) { return __builtin_rint(a); }
};
struct Zero {
  static float run(float a) { return __builtin_truncf(a); }
  static double run(double a) { return __builtin_trunc(a); }
};
struct Down {
  static float run(float a) { return __builtin_floorf(a); }
  static double run(double a) { return __builtin_floor(a); }
};
struct Up {
  static float run(float a) { return __builtin_ceilf(a); }
  static double run(double a) { return __builtin_ceil(a); }
};
struct Keep {
  template <class T> static T run(T a) { return a; }
};

/// To the nearest integer there is. NaN gives 0, or the highest bit if either type has 64.
template <class D, class Round> struct ToInteger {
  template <class S> static D run(S a) {
    const S r = Round::run(a);
    constexpr S above = S(u64(1) << (8 * sizeof(D) - 1)) * S(isSigned<D> ? 1 : 2);
    constexpr D ofNan = sizeof(S) == 8 || sizeof(D) == 8 ? D(u64(1) << (8 * sizeof(D) - 1)) : D(0);
    if (r != r)
      return ofNan;
    if (r >= above)
      return highest<D>;
    if (r < S(lowest<D>))
      return lowest<D>;
    return D(r);
  }
};

template <class Op> struct Flushed {
  static auto run(float a) { return Op::run(flush(a)); }
};
template <class Op> struct FlushedResult {
  template <class T> static float run(T a) { return flush(Op::run(a)); }
};
template <class Op> struct Saturated {
  template <class T> static auto run(T a) { return saturate(Op::run(a)); }
};
template <class D> struct To {
  template <class S> static D run(S a) { return D(a); }
};

// 16-bit floats.
template <class Round> struct HalfOp { // a rounding to whole numbers, of float16
  static u16 run(u16 a) { return toHalf(Round::run(fromHalf(a))); }
};
struct ToHalf {
  static u16 run(float a) { return toHalf(a); }
  static u16 run(double a) { return toHalf(toOdd(a)); }
  template <class S> static u16 run(S a) { return toHalf(toOdd(double(a))); }
};
struct ToHalfZero {
  static u16 run(float a) { return toHalf<Round::zero>(a); }
};
struct ToBrain {
  static u16 run(float a) { return toBrain(a); }
};
struct ToBrainZero {
  static u16 run(float a) { return toBrain<Round::zero>(a); }
};
struct FromHalf {
  static float run(u16 a) { return fromHalf(a); }
};
struct FromBrain {
  static float run(u16 a) { return fromBrain(a); }
};
template <class Op, class Round, class D> struct HalfToInteger {
  static D run(u16 a) { return ToInteger<D, Round>::run(Op::run(a)); }
};
template <class Op> struct Relu {
  static u16 run(float a) { return Op::run(a > 0 || a != a ? a : 0.0f); }
};
template <class Op> struct SaturatedSource {
  static u16 run(float a) { return Op::run(saturate(a)); }
};

/// Two float32 to a pair; the first operand is the high half.
template <class Op> struct PairOf {
  static u32 run(float a, float b) { return u32(Op::run(a)) << 16 | Op::run(b); }
};
template <class Op> const Inst *pair(Warp &w, const Inst *i) { return binary<PairOf<Op>, u32, float, float>(w, i); }

#define PAIR(d, D, s, S)                                                                                               \
  {"cvt." d "." s, wrap<D, S>}, { "cvt.sat." d "." s, clamp<D, S> }
#define FROM(s, S)                                                                                                     \
  PAIR("u16", u16, s, S), PAIR("s16", s16, s, S), PAIR("u32", u32, s, S), PAIR("s32", s32, s, S),                      \
      PAIR("u64", u64, s, S), PAIR("s64", s64, s, S)
#define WIDE(s, S)                                                                                                     \
  {"wide." s ".b16", wide<S, u16>}, {"wide." s ".b32", wide<S, u32>}, { "wide." s ".b64", wide<S, u64> }
#define NARROW1(d, D, r, R)                                                                                            \
  {"narrow." d "." r, narrow<Wrap<D>, R, u64>}, {"narrow.sat." d "." r ".u64", narrow<Clamp<D>, R, u64>}, {            \
    "narrow.sat." d "." r ".s64", narrow<Clamp<D>, R, s64>                                                             \
  }
#define NARROW(d, D) NARROW1(d, D, "b16", u16), NARROW1(d, D, "b32", u32), NARROW1(d, D, "b64", u64)
#define TOINT1(r, Round, d, D)                                                                                         \
  {"cvt." r "." d ".f32", unary<ToInteger<D, Round>, D, float>},                                                       \
      {"cvt." r ".ftz." d ".f32", unary<Flushed<ToInteger<D, Round>>, D, float>},                                      \
      {"cvt." r "." d ".f64", unary<ToInteger<D, Round>, D, double>}, {                                                \
    "cvt." r "." d ".f16", unary<HalfToInteger<FromHalf, Round, D>, D, u16>                                            \
  }
#define TOINT(r, Round)                                                                                                \
  TOINT1(r, Round, "u16", u16), TOINT1(r, Round, "s16", s16), TOINT1(r, Round, "u32", u32),                            \
      TOINT1(r, Round, "s32", s32), TOINT1(r, Round, "u64", u64), TOINT1(r, Round, "s64", s64)
#define FROMINT(s, S)                                                                                                  \
  {"cvt.f32." s, unary<To<float>, float, S>}, {"cvt.f64." s, unary<To<double>, double, S>},                            \
      {"cvt.f16." s, unary<ToHalf, u16, S>}, {"cvt.sat.f32." s, unary<Saturated<To<float>>, float, S>}, {              \
    "cvt.sat.f64." s, unary<Saturated<To<double>>, double, S>                                                          \
  }
#define WHOLE(r, Round)                                                                                                \
  {"cvt." r "f32.f32", unary<Round, float>}, {"cvt." r "ftz.f32.f32", unary<Flushed<Round>, float>},                   \
      {"cvt." r "sat.f32.f32", unary<Saturated<Round>, float>},                                                        \
      {"cvt." r "ftz.sat.f32.f32", unary<Saturated<Flushed<Round>>, float>},                                           \
      {"cvt." r "f64.f64", unary<Round, double>}, {"cvt." r "sat.f64.f64", unary<Saturated<Round>, double>}, {         \
    "cvt." r "f16.f16", unary<HalfOp<Round>, u16>                                                                      \
  }

static const NamedHandler entries[] = {
    FROM("u16", u16),
    FROM("s16", s16),
    FROM("u32", u32),
    FROM("s32", s32),
    FROM("u64", u64),
    FROM("s64", s64),
    WIDE("u8", u8),
    WIDE("s8", s8),
    WIDE("u16", u16),
    WIDE("s16", s16),
    WIDE("u32", u32),
    WIDE("s32", s32),
    WIDE("u64", u64),
    WIDE("s64", s64),
    NARROW("u8", u8),
    NARROW("s8", s8),
    NARROW("u16", u16),
    NARROW("s16", s16),
    NARROW("u32", u32),
    NARROW("s32", s32),
    TOINT("rni", Nearest),
    TOINT("rzi", Zero),
    TOINT("rmi", Down),
    TOINT("rpi", Up),
    FROMINT("u16", u16),
    FROMINT("s16", s16),
    FROMINT("u32", u32),
    FROMINT("s32", s32),
    FROMINT("u64", u64),
    FROMINT("s64", s64),
    WHOLE("", Keep),
    WHOLE("rni.", Nearest),
    WHOLE("rzi.", Zero),
    WHOLE("rmi.", Down),
    WHOLE("rpi.", Up),
    {"cvt.f64.f32", unary<To<double>, double, float>},
    {"cvt.ftz.f64.f32", unary<Flushed<To<double>>, double, float>},
    {"cvt.sat.f64.f32", unary<Saturated<To<double>>, double, float>},
    {"cvt.f32.f64", unary<To<float>, float, double>},
    {"cvt.ftz.f32.f64", unary<FlushedResult<To<float>>, float, double>},
    {"cvt.sat.f32.f64", unary<Saturated<To<float>>, float, double>},
    {"cvt.f32.f16", unary<FromHalf, float, u16>},
    {"cvt.ftz.f32.f16", unary<FromHalf, float, u16>},
    {"cvt.sat.f32.f16", unary<Saturated<FromHalf>, float, u16>},
    {"cvt.f64.f16", unary<FromHalf, double, u16>},
    {"cvt.f32.bf16", unary<FromBrain, float, u16>},
    {"cvt.f16.f32", unary<ToHalf, u16, float>},
    {"cvt.ftz.f16.f32", unary<Flushed<ToHalf>, u16, float>},
    {"cvt.sat.f16.f32", unary<SaturatedSource<ToHalf>, u16, float>},
    {"cvt.relu.f16.f32", unary<Relu<ToHalf>, u16, float>},
    {"cvt.rz.f16.f32", unary<ToHalfZero, u16, float>},
    {"cvt.rz.relu.f16.f32", unary<Relu<ToHalfZero>, u16, float>},
    {"cvt.f16.f64", unary<ToHalf, u16, double>},
    {"cvt.bf16.f32", unary<ToBrain, u16, float>},
    {"cvt.relu.bf16.f32", unary<Relu<ToBrain>, u16, float>},
    {"cvt.rz.bf16.f32", unary<ToBrainZero, u16, float>},
    {"cvt.rz.relu.bf16.f32", unary<Relu<ToBrainZero>, u16, float>},
    {"cvt.f16x2.f32", pair<ToHalf>},
    {"cvt.relu.f16x2.f32", pair<Relu<ToHalf>>},
    {"cvt.rz.f16x2.f32", pair<ToHalfZero>},
    {"cvt.rz.relu.f16x2.f32", pair<Relu<ToHalfZero>>},
    {"cvt.bf16x2.f32", pair<ToBrain>},
    {"cvt.relu.bf16x2.f32", pair<Relu<ToBrain>>},
    {"cvt.rz.bf16x2.f32", pair<ToBrainZero>},
    {"cvt.rz.relu.bf16x2.f32", pair<Relu<ToBrainZero>>},
};

HandlerTable convertTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
