// Logic, shifts, fields and counts of bits.
#include "runtime/gpu/emulator/tier/IntegerTypes.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

struct And {
  template <class T> static T run(T a, T b) { return T(a & b); }
};
struct Or {
  template <class T> static T run(T a, T b) { return T(a | b); }
};
struct Xor {
  template <class T> static T run(T a, T b) { return T(a ^ b); }
};
struct Not {
  template <class T> static T run(T a) { return T(~a); }
};
struct IsZero {
  template <class T> static T run(T a) { return T(a == 0); }
};
// Shift amounts are not taken modulo the width, but clamped to it.
struct Shl {
  template <class T> static T run(T a, u32 b) { return b < u32(bits<T>) ? T(Unsigned<T>(a) << b) : T(0); }
};
struct Shr {
  template <class T> static T run(T a, u32 b) {
    return b < u32(bits<T>) ? T(a >> b) : isSigned<T> ? T(a >> (bits<T> - 1)) : T(0);
  }
};
template <bool left, bool clamp> struct Funnel {
  static u32 run(u32 low, u32 high, u32 amount) {
    const u32 n = clamp ? (amount > 32 ? 32 : amount) : amount & 31;
    const u64 both = u64(high) << 32 | low;
    return left ? u32(both << n >> 32) : u32(both >> n);
  }
};
/// The position is that of the highest bit that differs from the sign, or its distance from the top.
template <bool amount> struct FindBit {
  template <class T> static u32 run(T a) {
    const Unsigned<T> value = isSigned<T> && a < T(0) ? Unsigned<T>(~a) : Unsigned<T>(a);
    if (!value)
      return ~u32(0);
    const int leading = __builtin_clzll(u64(value)) - (64 - bits<T>);
    return u32(amount ? leading : bits<T> - 1 - leading);
  }
};
struct BitField {
  template <class T> static T run(T a, u32 b, u32 c) {
    const u32 first = b & 255, count = c & 255;
    const u32 top = first + count - 1 < u32(bits<T>) && count ? first + count - 1 : bits<T> - 1;
    const bool sign = isSigned<T> && count && (Unsigned<T>(a) >> top & 1);
    const u32 there = first < u32(bits<T>) ? bits<T> - first : 0, valid = count < there ? count : there;
    const Unsigned<T> inside =
        valid >= u32(bits<T>) ? Unsigned<T>(~Unsigned<T>(0)) : Unsigned<T>((Unsigned<T>(1) << valid) - 1);
    const Unsigned<T> field = first < u32(bits<T>) ? (Unsigned<T>(a) >> first) & inside : Unsigned<T>(0);
    return T(sign ? field | ~inside : field);
  }
};
struct Reverse {
  static u32 run(u32 a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
  }
  static u64 run(u64 a) { return u64(run(u32(a))) << 32 | run(u32(a >> 32)); }
};
struct Clz {
  template <class T> static u32 run(T a) { return a ? u32(__builtin_clzll(u64(a)) - (64 - bits<T>)) : u32(bits<T>); }
};
struct Popc {
  static u32 run(u64 a) {
    a -= a >> 1 & 0x5555555555555555;
    a = (a & 0x3333333333333333) + (a >> 2 & 0x3333333333333333);
    a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return u32(a * 0x0101010101010101 >> 56);
  }
};

/// bfi d, a, b, c, length: the fourth operand is `x`.
template <class T> const Inst *insertField(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a), *b = at<T>(w, i->b);
  const u32 *c = at<u32>(w, i->c), *x = at<u32>(w, i->x);
  store<T>(w, i->d, [=](int l) {
    const u32 first = c[l] & 255, count = x[l] & 255;
    T mask = count >= u32(bits<T>) ? T(~T(0)) : T((T(1) << count) - 1);
    mask = first < u32(bits<T>) ? T(mask << first) : T(0);
    return first < u32(bits<T>) ? T((b[l] & ~mask) | (T(a[l] << first) & mask)) : b[l];
  });
  return i + 1;
}

/// prmt.b32: `imm` is the mode; 0 selects by nibbles of c.
const Inst *permute(Warp &w, const Inst *i) {
  const u32 *a = at<u32>(w, i->a), *b = at<u32>(w, i->b), *c = at<u32>(w, i->c);
  const int mode = int(i->imm);
  store<u32>(w, i->d, [=](int l) {
    const u64 both = u64(b[l]) << 32 | a[l];
    u32 result = 0;
    for (int k = 0; k < 4; ++k) {
      const int s = int(c[l] & 3);
      int pick = int(c[l] >> (4 * k) & 15);
      switch (mode) {
      case 1:
        pick = s + k;
        break; // f4e
      case 2:
        pick = (s + 8 - k) & 7;
        break; // b4e
      case 3:
        pick = s;
        break; // rc8
      case 4:
        pick = k > s ? k : s;
        break; // ecl
      case 5:
        pick = k < s ? k : s;
        break; // ecr
      case 6:
        pick = (s & 1 ? 2 : 0) + (k & 1);
        break; // rc16
      default:
        break;
      }
      u32 byte = u32(both >> (8 * (pick & 7))) & 255;
      if (mode == 0 && pick & 8)
        byte = byte & 128 ? 255 : 0;
      result |= byte << (8 * k);
    }
    return result;
  });
  return i + 1;
}

/// lop3.b32: `imm` is the truth table.
const Inst *logic3(Warp &w, const Inst *i) {
  const u32 *a = at<u32>(w, i->a), *b = at<u32>(w, i->b), *c = at<u32>(w, i->c);
  const u32 table = u32(i->imm);
  u32 terms[8];
  for (int k = 0; k < 8; ++k)
    terms[k] = table >> k & 1 ? ~u32(0) : 0;
  store<u32>(w, i->d, [=](int l) {
    u32 result = 0;
    for (int k = 0; k < 8; ++k)
      result |= terms[k] & (k & 4 ? a[l] : ~a[l]) & (k & 2 ? b[l] : ~b[l]) & (k & 1 ? c[l] : ~c[l]);
    return result;
  });
  return i + 1;
}

template <class Op, class T> const Inst *shift(Warp &w, const Inst *i) { return binary<Op, T, T, u32>(w, i); }
template <class Op, class T> const Inst *count(Warp &w, const Inst *i) { return unary<Op, u32, T>(w, i); }
template <class Op, class T> const Inst *field(Warp &w, const Inst *i) { return ternary<Op, T, T, u32, u32>(w, i); }

static const NamedHandler entries[] = {
    BITS("and", binary, And),
    BITS("or", binary, Or),
    BITS("xor", binary, Xor),
    BITS("not", unary, Not),
    BITS("cnot", unary, IsZero),
    BITS("shl", shift, Shl),
    BITS("shr", shift, Shr),
    WHOLE("shr", shift, Shr),
    {"shf.l.wrap.b32", ternary<Funnel<true, false>, u32>},
    {"shf.l.clamp.b32", ternary<Funnel<true, true>, u32>},
    {"shf.r.wrap.b32", ternary<Funnel<false, false>, u32>},
    {"shf.r.clamp.b32", ternary<Funnel<false, true>, u32>},
    {"bfind.s32", count<FindBit<false>, s32>},
    {"bfind.u32", count<FindBit<false>, u32>},
    {"bfind.s64", count<FindBit<false>, s64>},
    {"bfind.u64", count<FindBit<false>, u64>},
    {"bfind.shiftamt.s32", count<FindBit<true>, s32>},
    {"bfind.shiftamt.u32", count<FindBit<true>, u32>},
    {"bfind.shiftamt.s64", count<FindBit<true>, s64>},
    {"bfind.shiftamt.u64", count<FindBit<true>, u64>},
    {"bfe.s32", field<BitField, s32>},
    {"bfe.u32", field<BitField, u32>},
    {"bfe.s64", field<BitField, s64>},
    {"bfe.u64", field<BitField, u64>},
    {"bfi.b32", insertField<u32>},
    {"bfi.b64", insertField<u64>},
    {"brev.b32", unary<Reverse, u32>},
    {"brev.b64", unary<Reverse, u64>},
    {"clz.b32", count<Clz, u32>},
    {"clz.b64", count<Clz, u64>},
    {"popc.b32", count<Popc, u32>},
    {"popc.b64", count<Popc, u64>},
    {"prmt.b32", permute},
    {"lop3.b32", logic3},
};

HandlerTable bitsTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
