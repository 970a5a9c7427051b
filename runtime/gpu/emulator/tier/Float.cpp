// Arithmetic of float32 and float64. Roundings other than to nearest are set by the instruction before; `.approx` forms
// are rounded as well as `.rn` ones.
#include "runtime/gpu/emulator/tier/Real.h"
#include "runtime/gpu/emulator/tier/Tables.h"

#include <math.h>

namespace nnterp::gpu::emulator::NNTERP_TIER {

struct Add {
  template <class T> static T run(T a, T b) { return a + b; }
};
struct Sub {
  template <class T> static T run(T a, T b) { return a - b; }
};
struct Mul {
  template <class T> static T run(T a, T b) { return a * b; }
};
struct Div {
  template <class T> static T run(T a, T b) { return a / b; }
};
struct Fma {
  static float run(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static double run(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Sqrt {
  static float run(float a) { return __builtin_sqrtf(a); }
  static double run(double a) { return __builtin_sqrt(a); }
};
struct Rcp {
  template <class T> static T run(T a) { return T(1) / a; }
};
struct Rsqrt {
  static float run(float a) { return float(1 / __builtin_sqrt(double(a))); }
  static double run(double a) { return 1 / __builtin_sqrt(a); }
};
struct Exp2 {
  static float run(float a) { return float(exp2(double(a))); }
};
struct Log2 {
  static float run(float a) { return float(log2(double(a))); }
};
struct Sin {
  static float run(float a) { return float(sin(double(a))); }
};
struct Cos {
  static float run(float a) { return float(cos(double(a))); }
};
struct Tanh {
  static float run(float a) { return float(tanh(double(a))); }
};
struct Abs {
  static float run(float a) { return cast<float>(cast<uint32_t>(a) & 0x7fffffff); }
  static double run(double a) { return cast<double>(cast<uint64_t>(a) & 0x7fffffffffffffff); }
};
struct Neg {
  static float run(float a) { return cast<float>(cast<uint32_t>(a) ^ 0x80000000); }
  static double run(double a) { return cast<double>(cast<uint64_t>(a) ^ 0x8000000000000000); }
};
struct Min {
  template <class T> static T run(T a, T b) { return minimum<false>(a, b); }
};
struct Max {
  template <class T> static T run(T a, T b) { return maximum<false>(a, b); }
};
struct MinNan {
  template <class T> static T run(T a, T b) { return minimum<true>(a, b); }
};
struct MaxNan {
  template <class T> static T run(T a, T b) { return maximum<true>(a, b); }
};
/// The sign of the first operand, the magnitude of the second.
struct CopySign {
  template <class T> static T run(T a, T b) { return negative(a) ? Neg::run(Abs::run(b)) : Abs::run(b); }
};

template <class Op> struct Ftz {
  template <class... T> static float run(T... a) { return flush(Op::run(flush(a)...)); }
};
template <class Op> struct Sat {
  template <class T, class... Ts> static T run(T a, Ts... more) { return saturate(Op::run(a, more...)); }
};

#define F32(key, F, Op)                                                                                                \
  {key ".f32", F<Op, float>}, { key ".ftz.f32", F<Ftz<Op>, float> }
#define F32SAT(key, F, Op)                                                                                             \
  F32(key, F, Op), {key ".sat.f32", F<Sat<Op>, float>}, { key ".ftz.sat.f32", F<Sat<Ftz<Op>>, float> }
#define F64(key, F, Op)                                                                                                \
  { key ".f64", F<Op, double> }

static const NamedHandler entries[] = {
    F32SAT("add", binary, Add),
    F64("add", binary, Add),
    F32SAT("sub", binary, Sub),
    F64("sub", binary, Sub),
    F32SAT("mul", binary, Mul),
    F64("mul", binary, Mul),
    F32SAT("fma", ternary, Fma),
    F64("fma", ternary, Fma),
    F32("div", binary, Div),
    F64("div", binary, Div),
    F32("sqrt", unary, Sqrt),
    F64("sqrt", unary, Sqrt),
    F32("rcp", unary, Rcp),
    F64("rcp", unary, Rcp),
    F32("rsqrt", unary, Rsqrt),
    F64("rsqrt", unary, Rsqrt),
    F32("ex2", unary, Exp2),
    F32("lg2", unary, Log2),
    F32("sin", unary, Sin),
    F32("cos", unary, Cos),
    {"tanh.f32", unary<Tanh, float>},
    F32("abs", unary, Abs),
    F64("abs", unary, Abs),
    F32("neg", unary, Neg),
    F64("neg", unary, Neg),
    F32("min", binary, Min),
    F64("min", binary, Min),
    F32("max", binary, Max),
    F64("max", binary, Max),
    F32("min.NaN", binary, MinNan),
    F32("max.NaN", binary, MaxNan),
    {"copysign.f32", binary<CopySign, float>},
    {"copysign.f64", binary<CopySign, double>},
};

HandlerTable floatTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
