// Copies of registers, whole, taken apart and put together.
#include "runtime/gpu/emulator/tier/Lanes.h"
#include "runtime/gpu/emulator/tier/Tables.h"

namespace nnterp::gpu::emulator::NNTERP_TIER {

struct Copy {
  template <class T> static T run(T a) { return a; }
};

/// x: place of the parts among the lists, c: their number, the lowest first.
template <class Whole, class Part> const Inst *pack(Warp &w, const Inst *i) {
  const Slot *parts = w.block->lists + i->x;
  const Part *p[4];
  for (uint32_t k = 0; k < 4; ++k)
    p[k] = at<Part>(w, parts[k < i->c ? k : 0]);
  [[maybe_unused]] const bool four = i->c == 4;
  constexpr int bits = 8 * sizeof(Part);
  store<Whole>(w, i->d, [=](int l) {
    Whole value = Whole(p[0][l]) | Whole(p[1][l]) << bits;
    if constexpr (sizeof(Whole) == 4 * sizeof(Part))
      value |= four ? (Whole(p[2][l]) | Whole(p[3][l]) << bits) << 2 * bits : 0;
    return value;
  });
  return i + 1;
}

template <class Whole, class Part> const Inst *unpack(Warp &w, const Inst *i) {
  const Slot *parts = w.block->lists + i->x;
  const Whole *a = at<Whole>(w, i->a);
  for (uint32_t k = 0; k < i->c; ++k)
    store<Part>(w, parts[k], [=](int l) { return Part(a[l] >> (8 * sizeof(Part) * k)); });
  return i + 1;
}

/// isspacep: imm is the window, 0 for what is in none.
const Inst *inWindow(Warp &w, const Inst *i) {
  const uint64_t *a = at<uint64_t>(w, i->a);
  const uint64_t window = uint64_t(i->imm);
  const uint32_t inside = lanesWhere([=](int l) { return (a[l] & windowMask) == window; });
  uint32_t &d = predicate(w, i->d);
  d = (d & ~w.active) | (inside & w.active);
  return i + 1;
}

static const NamedHandler entries[] = {
    {"mov.b16", unary<Copy, uint16_t>},
    {"mov.b32", unary<Copy, uint32_t>},
    {"mov.b64", unary<Copy, uint64_t>},
    {"pack.b32.b16", pack<uint32_t, uint16_t>},
    {"pack.b64.b32", pack<uint64_t, uint32_t>},
    {"pack.b64.b16", pack<uint64_t, uint16_t>},
    {"unpack.b32.b16", unpack<uint32_t, uint16_t>},
    {"unpack.b64.b32", unpack<uint64_t, uint32_t>},
    {"unpack.b64.b16", unpack<uint64_t, uint16_t>},
    {"isspacep", inWindow},
};

HandlerTable moveTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator::NNTERP_TIER
