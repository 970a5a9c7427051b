// Bounds, alignment, shared memory that was never written, and what the observer is told.
#include "runtime/gpu/emulator/run/Execution.h"

#include <algorithm>
#include <cstdio>

namespace nnterp::gpu::emulator {

static std::string hex(uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

static std::string_view word(Memory memory) {
  return memory == Memory::global ? "global" : memory == Memory::shared ? "shared" : "local";
}

static std::string word(Access access, uint32_t bytes) {
  return std::string(access == Access::read    ? "a read"
                     : access == Access::write ? "a write"
                                               : "an atomic operation") +
         " of " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
}

/// Regions of a memory, by address; calls `visit` for each.
template <class F> static void forRegions(const LaunchState &launch, Memory memory, F &&visit) {
  if (memory == Memory::global)
    for (const GlobalRegion &region : launch.regions)
      visit(region);
  else
    for (const Region &region : memory == Memory::shared ? launch.code->shared : launch.code->local)
      visit(region);
  if (memory == Memory::shared && launch.code->dynamicShared) {
    Region dynamic{"the dynamic shared memory", launch.code->sharedBytes, launch.dynamicShared};
    visit(dynamic);
  }
}

/// Where an address lies: in a region, or how far from the nearest one.
static std::string describe(const LaunchState &launch, Memory memory, uint64_t address) {
  const std::string start = std::string(word(memory)) + " address " + hex(address) + " ";
  std::string nearest;
  uint64_t least = ~uint64_t(0);
  forRegions(launch, memory, [&](const Region &region) {
    const bool before = address < region.low, inside = !before && address - region.low < region.bytes;
    const uint64_t distance = before ? region.low - address : inside ? 0 : address - region.low - region.bytes;
    if (distance >= least)
      return;
    least = distance;
    const std::string what = region.name + " (" + std::to_string(region.bytes) + " bytes)";
    nearest = inside
                  ? "is byte " + std::to_string(address - region.low) + " of " + what
                  : "is " + std::to_string(distance) + " bytes " + (before ? "before " : "behind the end of ") + what;
  });
  if (nearest.empty() || least > uint64_t(1) << 32)
    return start + "is nowhere near memory that this launch was given";
  return start + nearest;
}

static bool findRegion(const LaunchState &launch, Memory memory, uint64_t address, uint32_t bytes, Access access,
                       Site &site) {
  bool found = false;
  forRegions(launch, memory, [&](const Region &region) {
    if (region.bytes >= bytes && address - region.low <= region.bytes - bytes &&
        !(region.constant && access != Access::read)) {
      site = {region.low, region.bytes - bytes};
      found = true;
    }
  });
  return found;
}

static bool admitAt(Warp &warp, const Inst *inst, Site &site, Memory memory, const uint64_t *addresses, uint32_t bytes,
                    uint32_t alignment, Access access) {
  Execution &execution = *warp.block->execution;
  const LaunchState &launch = *execution.launch;
  for (int l = 0; l < lanes; ++l) {
    if (!(warp.active >> l & 1))
      continue;
    const uint64_t address = addresses[l];
    if (address & (alignment - 1))
      return execution.fail(
          warp, inst, l, "NNT1711", word(access, bytes) + " is misaligned",
          {describe(launch, memory, address), "the address has to be a multiple of " + std::to_string(alignment)});
    if (address - site.low <= site.span)
      continue;
    if (!findRegion(launch, memory, address, bytes, access, site))
      return execution.fail(warp, inst, l, "NNT1710", word(access, bytes) + " is out of bounds",
                            {describe(launch, memory, address)});
  }
  return true;
}

bool admit(Warp &warp, const Inst *inst, Memory memory, const uint64_t *addresses, uint32_t bytes, Access access) {
  return admitAt(warp, inst, warp.block->sites[inst->site + uint32_t(memory)], memory, addresses, bytes, bytes, access);
}

bool admitSource(Warp &warp, const Inst *inst, const uint64_t *addresses, uint32_t bytes, uint32_t alignment) {
  Site site; // sizes differ from lane to lane, so that nothing is remembered
  return admitAt(warp, inst, site, Memory::global, addresses, bytes, alignment, Access::read);
}

bool readable(Warp &warp, const Inst *inst, const uint64_t *addresses, uint32_t bytes) {
  Execution &execution = *warp.block->execution;
  for (int l = 0; l < lanes; ++l)
    for (uint32_t k = 0; k < bytes && (warp.active >> l & 1); ++k) {
      const uint8_t state = warp.block->shadow[addresses[l] + k];
      if (state == written)
        continue;
      const std::string where = describe(*execution.launch, Memory::shared, addresses[l] + k);
      if (state == inFlight)
        return execution.fail(
            warp, inst, l, "NNT1722", "shared memory is read before the copy to it was waited for",
            {where, "a cp.async to it is on its way; cp.async.wait_group or wait_all has to come first"});
      return execution.fail(warp, inst, l, "NNT1712", "shared memory is read that no thread of the block wrote",
                            {where});
    }
  return true;
}

/// The states of bytes of global memory, from this address on; null if they are not followed.
static uint8_t *writtenStates(const LaunchState &launch, uint64_t address) {
  for (const GlobalRegion &region : launch.regions)
    if (region.writtenBytes && address - region.low < region.bytes)
      return region.writtenBytes->data() + (address - region.low);
  return nullptr;
}

static bool failRace(Warp &warp, const Inst *inst, int lane, Memory memory, uint64_t address, const std::string &what,
                     const Accessor &other) {
  Execution &execution = *warp.block->execution;
  const LaunchState &launch = *execution.launch;
  const uint32_t block[3] = {other.block % launch.grid[0], other.block / launch.grid[0] % launch.grid[1],
                             other.block / launch.grid[0] / launch.grid[1]};
  return execution.fail(
      warp, inst, lane, memory == Memory::shared ? "NNT1716" : "NNT1717",
      std::string(word(memory)) + " memory: " + what + " races with that of another thread",
      {describe(launch, memory, address),
       "the other is " + execution.describeThread(other.thread) + " of block " + describeCoordinates(block),
       "its access is at " + execution.describeLine(int(other.line))});
}

bool observe(Warp &warp, const Inst *inst, Memory memory, const uint64_t *addresses, uint32_t bytes, Access access) {
  Execution &execution = *warp.block->execution;
  const LaunchState &launch = *execution.launch;
  Accessor accessor;
  accessor.block = uint32_t(execution.number);
  accessor.interval = execution.interval;
  accessor.syncs = uint16_t(warp.syncs);
  accessor.line = uint32_t(launch.code->lines[size_t(inst - launch.code->code.data())]);
  accessor.atomic = access == Access::atomic;
  const bool shared = memory == Memory::shared;
  for (int l = 0; l < lanes; ++l) {
    if (!(warp.active >> l & 1))
      continue;
    const uint64_t address = addresses[l];
    if (uint8_t *states = shared ? nullptr : writtenStates(launch, address))
      for (uint32_t k = 0; k < bytes; ++k) {
        if (access != Access::write && !states[k])
          return execution.fail(warp, inst, l, "NNT1723", "global memory is read that nobody wrote",
                                {describe(launch, memory, address + k)});
        states[k] = 1;
      }
    if (shared ? !launch.sharedRaces : !launch.globalRaces)
      continue;
    accessor.thread = uint16_t(warp.number * lanes + uint32_t(l));
    ByteHistory *const histories = shared ? execution.sharedRaces.at(address) : launch.globalRaces->at(address);
    uint32_t at = 0;
    if (const Accessor *other = addAccess(histories, address, bytes, accessor, access != Access::read, at))
      return failRace(warp, inst, l, memory, address + at, word(access, bytes), *other);
  }
  return true;
}

} // namespace nnterp::gpu::emulator
