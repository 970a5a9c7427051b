// cp.async: what is copied is read when the copy starts and written when it is waited for, so that nothing works by
// luck of timing.
#include "runtime/gpu/emulator/run/Control.h"
#include "runtime/gpu/emulator/run/Execution.h"

#include <algorithm>
#include <cstring>

namespace nnterp::gpu::emulator {

static uint64_t value(Warp &warp, Slot slot, int lane, bool narrow) {
  const char *at = warp.base[slot & 3] + (slot & ~3u);
  return narrow ? reinterpret_cast<const uint32_t *>(at)[lane] : reinterpret_cast<const uint64_t *>(at)[lane];
}

/// The list at x: slot of the source's address, its offset in two halves, slot of the size, whether there is one.
static const Inst *copy(Warp &warp, const Inst *inst) {
  Execution &execution = *warp.block->execution;
  const Slot *list = warp.block->lists + inst->x;
  const uint64_t offset = uint64_t(list[1]) | uint64_t(list[2]) << 32;
  const uint32_t active = warp.active;
  uint64_t to[lanes], from[lanes];
  for (int l = 0; l < lanes; ++l) {
    to[l] = value(warp, inst->a, l, inst->b) + uint64_t(inst->imm);
    from[l] = value(warp, list[0], l, false) + offset;
  }
  if (!admit(warp, inst, Memory::shared, to, inst->c, Access::write))
    return nullptr;
  bool good = true;
  for (int l = 0; l < lanes && good; ++l) {
    if (!(active >> l & 1))
      continue;
    uint32_t size = inst->c;
    if (list[4])
      size = std::min<uint32_t>(size, uint32_t(value(warp, list[3], l, true)));
    PendingCopy pending{uint32_t(l), warp.commits[l], inst->c, to[l], {}};
    if (size) {
      warp.active = uint32_t(1) << l;
      good = admitSource(warp, inst, from, size, inst->c);
      if (good && warp.block->observed)
        good = observe(warp, inst, Memory::global, from, size, Access::read);
      if (good)
        std::memcpy(pending.data, reinterpret_cast<const void *>(from[l]), size);
    }
    std::memset(warp.block->shadow + to[l], inFlight, inst->c);
    execution.copies[warp.number].push_back(pending);
  }
  warp.active = active;
  return good ? inst + 1 : nullptr;
}

static const Inst *commit(Warp &warp, const Inst *inst) {
  for (int l = 0; l < lanes; ++l)
    warp.commits[l] += warp.active >> l & 1;
  return inst + 1;
}

/// Copies of the groups before the last `imm` arrive.
static const Inst *wait(Warp &warp, const Inst *inst) {
  Execution &execution = *warp.block->execution;
  std::vector<PendingCopy> &copies = execution.copies[warp.number];
  const uint32_t active = warp.active;
  bool good = true;
  const auto arrived = [&](const PendingCopy &pending) {
    if (!(active >> pending.lane & 1) || int64_t(pending.group) + inst->imm >= int64_t(warp.commits[pending.lane]))
      return false;
    uint64_t to[lanes];
    to[pending.lane] = pending.to;
    warp.active = uint32_t(1) << pending.lane;
    if (good && warp.block->observed)
      good = observe(warp, inst, Memory::shared, to, pending.bytes, Access::write);
    std::memcpy(warp.block->shared + pending.to, pending.data, pending.bytes);
    std::memset(warp.block->shadow + pending.to, written, pending.bytes);
    return true;
  };
  copies.erase(std::remove_if(copies.begin(), copies.end(), arrived), copies.end());
  warp.active = active;
  return good ? inst + 1 : nullptr;
}

static const Inst *waitAll(Warp &warp, const Inst *inst) {
  commit(warp, inst);
  return wait(warp, inst); // imm is 0
}

static const NamedHandler entries[] = {
    {"cp.async", copy},
    {"cp.async.commit_group", commit},
    {"cp.async.wait_group", wait},
    {"cp.async.wait_all", waitAll},
};
HandlerTable asyncTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator
