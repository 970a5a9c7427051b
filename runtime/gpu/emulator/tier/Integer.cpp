// Integer arithmetic.
#include "runtime/gpu/emulator/tier/IntegerTypes.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

// Wrap-around is computed unsigned; 16-bit products in 32 bits, lest they overflow as int.
struct Add {
  template <class T> static T run(T a, T b) { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
};
struct Sub {
  template <class T> static T run(T a, T b) { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
};
struct Neg {
  template <class T> static T run(T a) { return T(Unsigned<T>(0) - Unsigned<T>(a)); }
};
struct Abs {
  template <class T> static T run(T a) { return a < 0 ? Neg::run(a) : a; }
};
struct MulLow {
  template <class T> static T run(T a, T b) { return T(u32(1) * Unsigned<T>(a) * Unsigned<T>(b)); }
};
struct MulHigh {
  template <class T> static T run(T a, T b) { return T((Wide<T>(a) * Wide<T>(b)) >> bits<T>); }
};
struct MulWide {
  template <class T> static Wide<T> run(T a, T b) { return Wide<T>(a) * Wide<T>(b); }
};
struct MadLow {
  template <class T> static T run(T a, T b, T c) { return Add::run(MulLow::run(a, b), c); }
};
struct MadHigh {
  template <class T> static T run(T a, T b, T c) { return Add::run(MulHigh::run(a, b), c); }
};
struct MadWide {
  template <class T, class W> static W run(T a, T b, W c) { return Add::run(W(MulWide::run(a, b)), c); }
};
template <bool high> struct Mul24 {
  static u64 product(u32 a, u32 b) { return u64(a & 0xffffff) * (b & 0xffffff); }
  static s64 product(s32 a, s32 b) { return s64(s32(u32(a) << 8) >> 8) * (s32(u32(b) << 8) >> 8); }
  template <class T> static T run(T a, T b) { return T(product(a, b) >> (high ? 16 : 0)); }
  template <class T> static T run(T a, T b, T c) { return Add::run(run(a, b), c); }
};
struct Min {
  template <class T> static T run(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T run(T a, T b) { return a > b ? a : b; }
};
struct Sad {
  template <class T> static T run(T a, T b, T c) { return Add::run(a < b ? Sub::run(b, a) : Sub::run(a, b), c); }
};
struct AddSat {
  static s32 run(s32 a, s32 b) {
    s64 s = s64(a) + b;
    return s > highest<s32> ? highest<s32> : s < lowest<s32> ? lowest<s32> : s32(s);
  }
};
struct SubSat {
  static s32 run(s32 a, s32 b) {
    s64 s = s64(a) - b;
    return s > highest<s32> ? highest<s32> : s < lowest<s32> ? lowest<s32> : s32(s);
  }
};

/// dp4a: A and B are the bytes' types.
template <class A, class B> struct Dot4 {
  static u32 run(u32 a, u32 b, u32 c) {
    for (int k = 0; k < 32; k += 8)
      c += u32(s32(A(a >> k)) * s32(B(b >> k)));
    return c;
  }
};

template <class Op, class T> const Inst *widening(Warp &w, const Inst *i) { return binary<Op, Wide<T>, T>(w, i); }
template <class Op, class T> const Inst *widening3(Warp &w, const Inst *i) {
  return ternary<Op, Wide<T>, T, T, Wide<T>>(w, i);
}

static const NamedHandler entries[] = {
    WHOLE("add", binary, Add),
    WHOLE("sub", binary, Sub),
    {"add.sat.s32", binary<AddSat, s32>},
    {"sub.sat.s32", binary<SubSat, s32>},
    WHOLE("mul.lo", binary, MulLow),
    WHOLE("mul.hi", binary, MulHigh),
    {"mul.wide.s16", widening<MulWide, s16>},
    {"mul.wide.u16", widening<MulWide, u16>},
    {"mul.wide.s32", widening<MulWide, s32>},
    {"mul.wide.u32", widening<MulWide, u32>},
    WHOLE("mad.lo", ternary, MadLow),
    WHOLE("mad.hi", ternary, MadHigh),
    {"mad.wide.s16", widening3<MadWide, s16>},
    {"mad.wide.u16", widening3<MadWide, u16>},
    {"mad.wide.s32", widening3<MadWide, s32>},
    {"mad.wide.u32", widening3<MadWide, u32>},
    {"mul24.lo.s32", binary<Mul24<false>, s32>},
    {"mul24.lo.u32", binary<Mul24<false>, u32>},
    {"mul24.hi.s32", binary<Mul24<true>, s32>},
    {"mul24.hi.u32", binary<Mul24<true>, u32>},
    {"mad24.lo.s32", ternary<Mul24<false>, s32>},
    {"mad24.lo.u32", ternary<Mul24<false>, u32>},
    {"mad24.hi.s32", ternary<Mul24<true>, s32>},
    {"mad24.hi.u32", ternary<Mul24<true>, u32>},
    WHOLE("sad", ternary, Sad),
    SIGNED("abs", unary, Abs),
    SIGNED("neg", unary, Neg),
    WHOLE("min", binary, Min),
    WHOLE("max", binary, Max),
    {"dp4a.s32.s32", ternary<Dot4<int8_t, int8_t>, u32>},
    {"dp4a.s32.u32", ternary<Dot4<int8_t, u8>, u32>},
    {"dp4a.u32.s32", ternary<Dot4<u8, int8_t>, u32>},
    {"dp4a.u32.u32", ternary<Dot4<u8, u8>, u32>},
};

HandlerTable integerTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
