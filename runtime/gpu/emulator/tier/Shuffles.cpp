// Shuffles, votes and reductions among the lanes of a warp.
#include "runtime/gpu/emulator/run/Checks.h"
#include "runtime/gpu/emulator/tier/Lanes.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

/// The mask operand is the same in all lanes that execute the instruction.
inline bool allTogether(Warp &w, const Inst *i, Slot mask) {
  const uint32_t value = at<uint32_t>(w, mask)[__builtin_ctz(w.active)];
  return __builtin_expect(value == w.active, 1) || together(w, i, value);
}

enum class Shuffle { up, down, butterfly, index };

/// Fields: b and c of the instruction; x the mask, imm the slot of the predicate, or -1.
template <Shuffle mode> const Inst *shuffle(Warp &w, const Inst *i) {
  if (!allTogether(w, i, i->x))
    return nullptr;
  const uint32_t *b = at<uint32_t>(w, i->b), *c = at<uint32_t>(w, i->c), *a = at<uint32_t>(w, i->a);
  alignas(64) int32_t from[lanes], inside[lanes];
  NNTERP_LANES(l) {
    const int shift = int(b[l] & 31), clamp = int(c[l] & 31), segment = int(c[l] >> 8 & 31);
    const int first = l & segment, last = first | (clamp & ~segment);
    const int j = mode == Shuffle::up          ? l - shift
                  : mode == Shuffle::down      ? l + shift
                  : mode == Shuffle::butterfly ? l ^ shift
                                               : first | (shift & ~segment & 31);
    const bool in = mode == Shuffle::up ? j >= last : j <= last;
    from[l] = in ? j : l;
    inside[l] = in ? -1 : 0;
  }
  if (__builtin_expect(w.active != allLanes, 0))
    for (int l = 0; l < lanes; ++l)
      if (has(w.active, l) && !has(w.active, from[l])) {
        failShuffle(w, i, l, from[l]);
        return nullptr;
      }
  alignas(64) uint32_t values[lanes];
#if defined(__AVX512F__)
  const __m512i low = _mm512_load_si512(a), high = _mm512_load_si512(a + 16);
  _mm512_store_si512(values, _mm512_permutex2var_epi32(low, _mm512_load_si512(from), high));
  _mm512_store_si512(values + 16, _mm512_permutex2var_epi32(low, _mm512_load_si512(from + 16), high));
#else
  for (int l = 0; l < lanes; ++l)
    values[l] = a[from[l] & 31];
#endif
  store<uint32_t>(
      w, i->d, [&](int l) __attribute__((always_inline)) { return values[l]; });
  if (i->imm >= 0) {
    uint32_t &p = predicate(w, Slot(i->imm));
    p = (p & ~w.active) | (pack(inside) & w.active);
  }
  return i + 1;
}

enum class Vote { all, any, uniform, ballot };

/// a the predicate, c whether it is inverted, b the mask.
template <Vote how> const Inst *vote(Warp &w, const Inst *i) {
  if (!allTogether(w, i, i->b))
    return nullptr;
  const uint32_t holds = (predicate(w, i->a) ^ (i->c ? allLanes : 0)) & w.active;
  if (how == Vote::ballot) {
    store<uint32_t>(w, i->d, [=](int) { return holds; });
    return i + 1;
  }
  const bool result = how == Vote::all   ? holds == w.active
                      : how == Vote::any ? holds != 0
                                         : holds == w.active || !holds;
  uint32_t &d = predicate(w, i->d);
  d = result ? d | w.active : d & ~w.active;
  return i + 1;
}

const Inst *activeMask(Warp &w, const Inst *i) {
  const uint32_t mask = w.active;
  store<uint32_t>(w, i->d, [=](int) { return mask; });
  return i + 1;
}

/// match: lanes with the same value; `all` gives the mask if there is one value only, and 0 otherwise.
template <class T, bool all> const Inst *match(Warp &w, const Inst *i) {
  if (!allTogether(w, i, i->b))
    return nullptr;
  const T *a = at<T>(w, i->a);
  const uint32_t active = w.active;
  uint32_t masks[lanes];
  bool one = true;
  for (int l = 0; l < lanes; ++l) {
    masks[l] = 0;
    for (int k = 0; k < lanes; ++k)
      masks[l] |= uint32_t(has(active, k) && a[k] == a[l]) << k;
    one &= !has(active, l) || masks[l] == active;
  }
  store<uint32_t>(w, i->d, [&](int l) { return all ? (one ? active : 0) : masks[l]; });
  if (i->imm >= 0) {
    uint32_t &p = predicate(w, Slot(i->imm));
    p = one ? p | active : p & ~active;
  }
  return i + 1;
}

struct Add {
  template <class T> static T run(T a, T b) { return T(uint32_t(a) + uint32_t(b)); }
};
struct Min {
  template <class T> static T run(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T run(T a, T b) { return a > b ? a : b; }
};
struct And {
  template <class T> static T run(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T run(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T run(T a, T b) { return a ^ b; }
};

template <class Op, class T> const Inst *reduce(Warp &w, const Inst *i) {
  if (!allTogether(w, i, i->b))
    return nullptr;
  const T *a = at<T>(w, i->a);
  const int first = __builtin_ctz(w.active);
  T result = a[first];
  for (int l = first + 1; l < lanes; ++l)
    if (has(w.active, l))
      result = Op::run(result, a[l]);
  store<T>(w, i->d, [=](int) { return result; });
  return i + 1;
}

static const NamedHandler entries[] = {
    {"shfl.up", shuffle<Shuffle::up>},
    {"shfl.down", shuffle<Shuffle::down>},
    {"shfl.bfly", shuffle<Shuffle::butterfly>},
    {"shfl.idx", shuffle<Shuffle::index>},
    {"vote.all", vote<Vote::all>},
    {"vote.any", vote<Vote::any>},
    {"vote.uni", vote<Vote::uniform>},
    {"vote.ballot", vote<Vote::ballot>},
    {"activemask", activeMask},
    {"match.any.b32", match<uint32_t, false>},
    {"match.any.b64", match<uint64_t, false>},
    {"match.all.b32", match<uint32_t, true>},
    {"match.all.b64", match<uint64_t, true>},
    {"redux.add.u32", reduce<Add, uint32_t>},
    {"redux.add.s32", reduce<Add, int32_t>},
    {"redux.min.u32", reduce<Min, uint32_t>},
    {"redux.min.s32", reduce<Min, int32_t>},
    {"redux.max.u32", reduce<Max, uint32_t>},
    {"redux.max.s32", reduce<Max, int32_t>},
    {"redux.and.b32", reduce<And, uint32_t>},
    {"redux.or.b32", reduce<Or, uint32_t>},
    {"redux.xor.b32", reduce<Xor, uint32_t>},
};

HandlerTable warpTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
