// Comparisons, predicates and selection.
#include "runtime/gpu/emulator/tier/Real.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

struct Eq {
  template <class T> static bool run(T a, T b) { return a == b; }
};
struct Ne {
  template <class T> static bool run(T a, T b) { return a < b || a > b; }
}; // ordered; of integers the same as !=
struct Lt {
  template <class T> static bool run(T a, T b) { return a < b; }
};
struct Le {
  template <class T> static bool run(T a, T b) { return a <= b; }
};
struct Gt {
  template <class T> static bool run(T a, T b) { return a > b; }
};
struct Ge {
  template <class T> static bool run(T a, T b) { return a >= b; }
};
struct Equ {
  template <class T> static bool run(T a, T b) { return !Ne::run(a, b); }
};
struct Neu {
  template <class T> static bool run(T a, T b) { return a != b; }
};
struct Ltu {
  template <class T> static bool run(T a, T b) { return !(a >= b); }
};
struct Leu {
  template <class T> static bool run(T a, T b) { return !(a > b); }
};
struct Gtu {
  template <class T> static bool run(T a, T b) { return !(a <= b); }
};
struct Geu {
  template <class T> static bool run(T a, T b) { return !(a < b); }
};
struct Num {
  template <class T> static bool run(T a, T b) { return a == a && b == b; }
};
struct Nan {
  template <class T> static bool run(T a, T b) { return a != a || b != b; }
};

template <class Op> struct Flushed {
  static bool run(float a, float b) { return Op::run(flush(a), flush(b)); }
};
template <class S, class Op> struct Widened {
  static bool run(uint16_t a, uint16_t b) { return Op::run(S::widen(a), S::widen(b)); }
};

/// setp: d|x = a cmp b, the first combined with c, the second its negation combined with c. `imm`: 0 plain, 1 and, 2
/// or, 3 xor.
inline void storeCombined(Warp &w, const Inst *i, uint32_t holds) {
  uint32_t other = ~holds;
  if (i->imm & 3) {
    const uint32_t c = predicate(w, i->c) ^ (i->imm & 4 ? allLanes : 0);
    const int how = int(i->imm & 3);
    holds = how == 1 ? holds & c : how == 2 ? holds | c : holds ^ c;
    other = how == 1 ? other & c : how == 2 ? other | c : other ^ c;
  }
  storePredicate(w, i->d, holds);
  if (i->imm & 8)
    storePredicate(w, i->x, other);
}

template <class Op, class T> const Inst *compare(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a), *b = at<T>(w, i->b);
  storeCombined(w, i, lanesWhere([=](int l) __attribute__((always_inline)) { return Op::run(a[l], b[l]); }));
  return i + 1;
}

/// Comparison of pairs: the first predicate is that of the low halves, the second that of the high ones.
template <class S, class Op> const Inst *comparePairs(Warp &w, const Inst *i) {
  const uint32_t *a = at<uint32_t>(w, i->a), *b = at<uint32_t>(w, i->b);
  storePredicate(w, i->d,
                 lanesWhere([=](int l) { return Op::run(S::widen(uint16_t(a[l])), S::widen(uint16_t(b[l]))); }));
  storePredicate(w, i->x, lanesWhere([=](int l) { return Op::run(S::widen(a[l] >> 16), S::widen(b[l] >> 16)); }));
  return i + 1;
}

/// set: `imm` is what true gives.
template <class Op, class T> const Inst *set(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a), *b = at<T>(w, i->b);
  const uint32_t yes = uint32_t(i->imm);
  store<uint32_t>(w, i->d, [=](int l) { return Op::run(a[l], b[l]) ? yes : 0; });
  return i + 1;
}

/// selp: `imm` inverts the predicate.
template <class T> const Inst *select(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a), *b = at<T>(w, i->b);
  const uint32_t first = predicate(w, i->c) ^ uint32_t(i->imm);
  store<T>(
      w, i->d, [=](int l) __attribute__((always_inline)) { return has(first, l) ? a[l] : b[l]; });
  return i + 1;
}

template <class T, class C, bool ftz = false> const Inst *selectBySign(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a), *b = at<T>(w, i->b);
  const C *c = at<C>(w, i->c);
  store<T>(w, i->d, [=](int l) { return c[l] >= C(0) || (ftz && flush(float(c[l])) == 0) ? a[l] : b[l]; });
  return i + 1;
}

// Logic of predicates; sources are inverted by bits 0 and 1 of `imm`.
struct PredAnd {
  static uint32_t run(uint32_t a, uint32_t b) { return a & b; }
};
struct PredOr {
  static uint32_t run(uint32_t a, uint32_t b) { return a | b; }
};
struct PredXor {
  static uint32_t run(uint32_t a, uint32_t b) { return a ^ b; }
};
template <class Op> const Inst *logic(Warp &w, const Inst *i) {
  const uint32_t a = predicate(w, i->a) ^ (i->imm & 1 ? allLanes : 0),
                 b = predicate(w, i->b) ^ (i->imm & 2 ? allLanes : 0);
  storePredicate(w, i->d, Op::run(a, b));
  return i + 1;
}
template <bool inverted> const Inst *copyPredicate(Warp &w, const Inst *i) {
  const uint32_t a = predicate(w, i->a) ^ (i->imm & 1 ? allLanes : 0);
  storePredicate(w, i->d, inverted ? ~a : a);
  return i + 1;
}

// testp
template <class T> struct Layout;
template <> struct Layout<float> {
  using Bits = uint32_t;
  static constexpr Bits exponent = 0x7f800000, sign = 0x80000000;
};
template <> struct Layout<double> {
  using Bits = uint64_t;
  static constexpr Bits exponent = 0x7ff0000000000000, sign = 0x8000000000000000;
};
template <class T> inline auto magnitude(T a) { return cast<typename Layout<T>::Bits>(a) & ~Layout<T>::sign; }
struct Finite {
  template <class T> static bool run(T a) { return magnitude(a) < Layout<T>::exponent; }
};
struct Infinite {
  template <class T> static bool run(T a) { return magnitude(a) == Layout<T>::exponent; }
};
struct Number {
  template <class T> static bool run(T a) { return a == a; }
};
struct NotNumber {
  template <class T> static bool run(T a) { return a != a; }
};
struct Subnormal {
  template <class T> static bool run(T a) { return magnitude(a) != 0 && !(magnitude(a) & Layout<T>::exponent); }
};
struct Normal {
  template <class T> static bool run(T a) { return Finite::run(a) && (magnitude(a) & Layout<T>::exponent) != 0; }
};
template <class Op, class T> const Inst *test(Warp &w, const Inst *i) {
  const T *a = at<T>(w, i->a);
  storePredicate(w, i->d, lanesWhere([=](int l) { return Op::run(a[l]); }));
  return i + 1;
}

#define SIGNEDS(F, name, op, Op)                                                                                       \
  {name "." op ".s16", F<Op, int16_t>}, {name "." op ".s32", F<Op, int32_t>}, { name "." op ".s64", F<Op, int64_t> }
#define UNSIGNEDS(F, name, op, Op, t)                                                                                  \
  {name "." op "." t "16", F<Op, uint16_t>}, {name "." op "." t "32", F<Op, uint32_t>}, {                              \
    name "." op "." t "64", F<Op, uint64_t>                                                                            \
  }
#define REALS(F, name, op, Op)                                                                                         \
  {name "." op ".f32", F<Op, float>}, {name "." op ".ftz.f32", F<Flushed<Op>, float>}, {                               \
    name "." op ".f64", F<Op, double>                                                                                  \
  }
#define SMALL(op, Op)                                                                                                  \
  {"setp." op ".f16", compare<Widened<Half, Op>, uint16_t>},                                                           \
      {"setp." op ".bf16", compare<Widened<Brain, Op>, uint16_t>}, {"setp." op ".f16x2", comparePairs<Half, Op>}, {    \
    "setp." op ".bf16x2", comparePairs<Brain, Op>                                                                      \
  }
#define EQUAL(F, name, op, Op)                                                                                         \
  SIGNEDS(F, name, op, Op), UNSIGNEDS(F, name, op, Op, "u"), UNSIGNEDS(F, name, op, Op, "b"), REALS(F, name, op, Op)
#define ORDER(F, name, op, Op) SIGNEDS(F, name, op, Op), UNSIGNEDS(F, name, op, Op, "u"), REALS(F, name, op, Op)
#define ALL(F, name)                                                                                                   \
  EQUAL(F, name, "eq", Eq), EQUAL(F, name, "ne", Ne), ORDER(F, name, "lt", Lt), ORDER(F, name, "le", Le),              \
      ORDER(F, name, "gt", Gt), ORDER(F, name, "ge", Ge), UNSIGNEDS(F, name, "lo", Lt, "u"),                           \
      UNSIGNEDS(F, name, "ls", Le, "u"), UNSIGNEDS(F, name, "hi", Gt, "u"), UNSIGNEDS(F, name, "hs", Ge, "u"),         \
      REALS(F, name, "equ", Equ), REALS(F, name, "neu", Neu), REALS(F, name, "ltu", Ltu), REALS(F, name, "leu", Leu),  \
      REALS(F, name, "gtu", Gtu), REALS(F, name, "geu", Geu), REALS(F, name, "num", Num), REALS(F, name, "nan", Nan)
#define TEST(op, Op)                                                                                                   \
  {"testp." op ".f32", test<Op, float>}, { "testp." op ".f64", test<Op, double> }

static const NamedHandler entries[] = {
    ALL(compare, "setp"),
    ALL(set, "set"),
    SMALL("eq", Eq),
    SMALL("ne", Ne),
    SMALL("lt", Lt),
    SMALL("le", Le),
    SMALL("gt", Gt),
    SMALL("ge", Ge),
    SMALL("equ", Equ),
    SMALL("neu", Neu),
    SMALL("ltu", Ltu),
    SMALL("leu", Leu),
    SMALL("gtu", Gtu),
    SMALL("geu", Geu),
    SMALL("num", Num),
    SMALL("nan", Nan),
    {"selp.b16", select<uint16_t>},
    {"selp.b32", select<uint32_t>},
    {"selp.b64", select<uint64_t>},
    {"slct.b16.s32", selectBySign<uint16_t, int32_t>},
    {"slct.b32.s32", selectBySign<uint32_t, int32_t>},
    {"slct.b64.s32", selectBySign<uint64_t, int32_t>},
    {"slct.b16.f32", selectBySign<uint16_t, float>},
    {"slct.b32.f32", selectBySign<uint32_t, float>},
    {"slct.b64.f32", selectBySign<uint64_t, float>},
    {"slct.ftz.b16.f32", selectBySign<uint16_t, float, true>},
    {"slct.ftz.b32.f32", selectBySign<uint32_t, float, true>},
    {"slct.ftz.b64.f32", selectBySign<uint64_t, float, true>},
    {"mov.pred", copyPredicate<false>},
    {"not.pred", copyPredicate<true>},
    {"and.pred", logic<PredAnd>},
    {"or.pred", logic<PredOr>},
    {"xor.pred", logic<PredXor>},
    TEST("finite", Finite),
    TEST("infinite", Infinite),
    TEST("number", Number),
    TEST("notanumber", NotNumber),
    TEST("normal", Normal),
    TEST("subnormal", Subnormal),
};

HandlerTable compareTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
