// Branches, divergence, guards, barriers.
#include "runtime/gpu/emulator/run/Control.h"

#include "runtime/gpu/emulator/run/Execution.h"

#include <cfenv>
#include <cstring>

namespace nnterp::gpu::emulator {

static uint32_t &predicate(Warp &warp, Slot slot) {
  return *reinterpret_cast<uint32_t *>(warp.base[slot & 3] + (slot & ~3u));
}
template <class T> static T *values(Warp &warp, Slot slot) {
  return reinterpret_cast<T *>(warp.base[slot & 3] + (slot & ~3u));
}
static uint32_t guarded(Warp &warp, const Inst *inst) {
  return warp.active & (predicate(warp, inst->a) ^ (inst->c ? allLanes : 0));
}
/// What stands for no instruction of the program is not counted as one.
static void uncount(Warp &warp) {
  --warp.instructions;
  warp.laneInstructions -= uint64_t(__builtin_popcount(warp.active));
}

/// Goes on with the topmost path that has lanes left.
static const Inst *resume(Warp &warp) {
  for (; warp.depth; --warp.depth) {
    const Path &path = warp.paths[warp.depth - 1];
    const uint32_t mask = path.mask & ~warp.exited;
    if (mask && path.next) {
      warp.active = mask;
      return path.next;
    }
  }
  warp.active = 0;
  warp.state = WarpState::exited;
  return nullptr;
}

/// The lanes part, to meet again at the join. The path they are on waits there for them, unless another one does
/// already.
static void part(Warp &warp, const Inst *join) {
  Path &path = warp.paths[warp.depth - 1];
  if (!join || path.join == join) {
    --warp.depth;
    return;
  }
  path.next = join;
  path.mask = warp.active;
}

static void push(Warp &warp, const Inst *target, const Inst *join, uint32_t mask) {
  if (target != join)
    warp.paths[warp.depth++] = {target, join, mask};
}

static const Inst *joinOf(const Inst *inst) { return inst->x == noJoin ? nullptr : inst + int32_t(inst->x); }

const Inst *jump(Warp &, const Inst *inst) { return inst + inst->imm; }

const Inst *branchIf(Warp &warp, const Inst *inst) {
  const uint32_t taken = guarded(warp, inst);
  if (!taken)
    return inst + 1;
  if (taken == warp.active)
    return inst + inst->imm;
  const Inst *join = joinOf(inst);
  const uint32_t active = warp.active;
  part(warp, join);
  push(warp, inst + 1, join, active & ~taken);
  push(warp, inst + inst->imm, join, taken);
  return resume(warp);
}

const Inst *branchIndexed(Warp &warp, const Inst *inst) {
  const uint32_t *index = values<uint32_t>(warp, inst->a);
  const Slot *distances = warp.block->lists + inst->d;
  const uint32_t active = warp.active;
  const Inst *join = joinOf(inst);
  const uint32_t first = index[__builtin_ctz(active)];
  uint32_t same = 0;
  for (int l = 0; l < lanes; ++l) {
    if (!(active >> l & 1))
      continue;
    if (index[l] >= inst->c) {
      warp.block->execution->fail(
          warp, inst, l, "NNT1725", "a jump is outside its list of labels",
          {"the index is " + std::to_string(index[l]) + " of " + std::to_string(inst->c) + " labels"});
      return nullptr;
    }
    same |= uint32_t(index[l] == first) << l;
  }
  if (same == active)
    return inst + int32_t(distances[first]);
  part(warp, join);
  for (uint32_t left = active; left;) {
    const uint32_t one = index[__builtin_ctz(left)];
    uint32_t mask = 0;
    for (int l = 0; l < lanes; ++l)
      mask |= uint32_t((left >> l & 1) && index[l] == one) << l;
    push(warp, inst + int32_t(distances[one]), join, mask);
    left &= ~mask;
  }
  return resume(warp);
}

const Inst *joinPaths(Warp &warp, const Inst *inst) {
  uncount(warp);
  if (warp.paths[warp.depth - 1].join != inst)
    return inst + 1;
  --warp.depth;
  return resume(warp);
}

const Inst *exitLanes(Warp &warp, const Inst *inst) {
  const uint32_t mask = inst->x ? guarded(warp, inst) : warp.active;
  warp.exited |= mask;
  warp.active &= ~mask;
  if (warp.active)
    return inst + 1;
  --warp.depth;
  return resume(warp);
}

const Inst *trap(Warp &warp, const Inst *inst) {
  warp.block->execution->fail(warp, inst, __builtin_ctz(warp.active), "NNT1718", "a trap was reached");
  return nullptr;
}

const Inst *guard(Warp &warp, const Inst *inst) {
  const uint32_t active = warp.active, mask = guarded(warp, inst);
  const Inst *next = inst + 1, *const end = next + inst->imm;
  if (!mask)
    return end;
  warp.active = mask;
  while (next && next != end)
    next = next->run(warp, next);
  warp.active = active;
  return next;
}

const Inst *withRounding(Warp &warp, const Inst *inst) {
  static constexpr int modes[] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(modes[inst->imm]);
  const Inst *next = inst[1].run(warp, inst + 1);
  std::fesetround(FE_TONEAREST);
  return next;
}

const Inst *nothing(Warp &, const Inst *inst) { return inst + 1; }

const Inst *clock(Warp &warp, const Inst *inst) {
  char *d = values<char>(warp, inst->d);
  const uint64_t now = ++warp.block->execution->clock; // of no meaning but that it goes on
  for (uint32_t l = 0; l < uint32_t(lanes); ++l)
    if (warp.active >> l & 1)
      std::memcpy(d + l * inst->c, &now, inst->c);
  return inst + 1;
}

const Inst *checkWritten(Warp &warp, const Inst *inst) {
  uncount(warp);
  const uint32_t missing = warp.active & ~predicate(warp, inst->d);
  if (!missing)
    return inst + 1;
  Execution &execution = *warp.block->execution;
  execution.fail(warp, inst, __builtin_ctz(missing), "NNT1713",
                 "the register " + execution.launch->code->source->registers[inst->x].name +
                     " is read and was not written",
                 {"there is a path to this instruction on which nothing writes it, and the thread took that path"});
  return nullptr;
}

const Inst *markWritten(Warp &warp, const Inst *inst) {
  uncount(warp);
  predicate(warp, inst->d) |= warp.active;
  return inst + 1;
}

const Inst *copyWritten(Warp &warp, const Inst *inst) {
  uncount(warp);
  uint32_t &d = predicate(warp, inst->d);
  d = (d & ~warp.active) | (predicate(warp, inst->a) & warp.active);
  return inst + 1;
}

static const Inst *arrive(Warp &warp, const Inst *inst, bool waits, uint32_t votes) {
  Execution &execution = *warp.block->execution;
  const LaunchState &launch = *execution.launch;
  const int lane = __builtin_ctz(warp.active);
  const auto fail = [&](const std::string &message, const std::vector<std::string> &notes) {
    execution.fail(warp, inst, lane, "NNT1714", message, notes);
    return nullptr;
  };
  if (warp.active != warp.exists) {
    const uint32_t missing = warp.exists & ~warp.active;
    const int other = __builtin_ctz(missing);
    return fail(
        "a barrier is reached by some threads of a warp only",
        {execution.describeThread(warp, other) + (warp.exited >> other & 1 ? " has ended" : " took another path")});
  }
  const uint32_t id = values<uint32_t>(warp, inst->a)[lane];
  if (id >= 16)
    return fail("there are 16 barriers", {"found barrier " + std::to_string(id)});
  const uint32_t expected = inst->x ? values<uint32_t>(warp, inst->b)[lane] : launch.threads;
  BarrierState &barrier = execution.barriers[id];
  if (!expected || (inst->x && expected % lanes))
    return fail("a barrier is for a multiple of 32 threads", {"found " + std::to_string(expected)});
  if (barrier.expected && barrier.expected != expected)
    return fail("threads at one barrier disagree on how many they are",
                {"found " + std::to_string(expected) + ", and " + std::to_string(barrier.expected) + " before"});
  barrier.expected = expected;
  barrier.arrived += inst->x ? uint32_t(lanes) : uint32_t(__builtin_popcount(warp.exists));
  barrier.votes += votes;
  if (barrier.arrived < expected) {
    if (!waits)
      return inst + 1;
    barrier.waiting |= uint32_t(1) << warp.number;
    warp.state = WarpState::waiting;
    warp.barrier = uint8_t(id);
    warp.next = inst + 1;
    return nullptr;
  }
  if (barrier.arrived > expected)
    return fail("more threads come to a barrier than it is for", {"it is for " + std::to_string(expected)});
  for (uint32_t left = barrier.waiting; left; left &= left - 1)
    execution.warps[size_t(__builtin_ctz(left))].state = WarpState::ready;
  const uint32_t result = barrier.votes;
  barrier = {};
  barrier.result = result;
  barrier.counted = expected;
  ++execution.interval;
  return inst + 1;
}

const Inst *barrierSync(Warp &warp, const Inst *inst) { return arrive(warp, inst, !inst->c, 0); }

static const Inst *barrierReduce(Warp &warp, const Inst *inst) {
  const uint32_t votes = predicate(warp, Slot(inst->imm)) ^ (inst->c ? allLanes : 0);
  return arrive(warp, inst, true, uint32_t(__builtin_popcount(votes & warp.active)));
}

enum class Collect { popc, all, any };
template <Collect how> static const Inst *barrierResult(Warp &warp, const Inst *inst) {
  uncount(warp);
  const BarrierState &barrier =
      warp.block->execution->barriers[values<uint32_t>(warp, inst->a)[__builtin_ctz(warp.active)]];
  if (how == Collect::popc) {
    for (int l = 0; l < lanes; ++l)
      if (warp.active >> l & 1)
        values<uint32_t>(warp, inst->d)[l] = barrier.result;
    return inst + 1;
  }
  const bool holds = how == Collect::all ? barrier.result == barrier.counted : barrier.result > 0;
  uint32_t &d = predicate(warp, inst->d);
  d = holds ? d | warp.active : d & ~warp.active;
  return inst + 1;
}

const Inst *warpSync(Warp &warp, const Inst *inst) {
  if (!together(warp, inst, values<uint32_t>(warp, inst->a)[__builtin_ctz(warp.active)]))
    return nullptr;
  ++warp.syncs;
  return inst + 1;
}

bool together(Warp &warp, const Inst *inst, uint32_t mask) {
  Execution &execution = *warp.block->execution;
  if (const uint32_t outside = warp.active & ~mask)
    return execution.fail(warp, inst, __builtin_ctz(outside), "NNT1715",
                          "a thread executes an instruction of the warp whose mask leaves it out",
                          {"the mask names other threads"});
  if (const uint32_t missing = mask & warp.exists & ~warp.exited & ~warp.active) {
    const int lane = __builtin_ctz(missing);
    return execution.fail(warp, inst, __builtin_ctz(warp.active), "NNT1715",
                          "an instruction of the warp is reached by some of its threads only",
                          {execution.describeThread(warp, lane) + " is named by the mask and took another path"});
  }
  return true;
}

bool wholeWarp(Warp &warp, const Inst *inst) {
  if (!together(warp, inst, allLanes))
    return false;
  return warp.active == allLanes ||
         warp.block->execution->fail(warp, inst, __builtin_ctz(warp.active), "NNT1715",
                                     "an instruction of the warp needs all of its 32 threads",
                                     {"some do not exist or have ended"});
}

bool failShuffle(Warp &warp, const Inst *inst, int lane, int from) {
  return warp.block->execution->fail(warp, inst, lane, "NNT1715",
                                     "a thread takes a value from one that does not take part",
                                     {"it would come from lane " + std::to_string(from)});
}

static const NamedHandler entries[] = {
    {"bar.red.popc", barrierReduce},
    {"bar.red.and", barrierReduce},
    {"bar.red.or", barrierReduce},
    {"bar.red.result.popc", barrierResult<Collect::popc>},
    {"bar.red.result.and", barrierResult<Collect::all>},
    {"bar.red.result.or", barrierResult<Collect::any>},
};
HandlerTable controlTable() { return {entries, sizeof entries / sizeof *entries}; }

} // namespace nnterp::gpu::emulator
