// Values known at the beginning of a launch, a block or a warp; running the warps of a block.
#include "runtime/gpu/emulator/run/Execution.h"

#include <algorithm>
#include <cstring>

namespace nnterp::gpu::emulator {

bool Failure::report(Diagnostic &&found) {
  std::lock_guard<std::mutex> lock(mutex);
  if (flag)
    return false;
  diagnostic = std::move(found);
  flag.store(true, std::memory_order_release);
  return true;
}

/// The value in the width of a register, 32 times.
static void fill(char *to, uint64_t value, uint8_t bytes) {
  for (int l = 0; l < lanes; ++l)
    std::memcpy(to + l * bytes, &value, bytes);
}

void LaunchState::fillValues() {
  values.reserve(code->launchBytes);
  for (const Preset &preset : code->perLaunch) {
    uint64_t value = 0;
    switch (preset.source) {
    case Preset::param:
      std::memcpy(&value, params.data() + preset.offset, preset.from);
      if (preset.extendSign && preset.from < 8 && value >> (8 * preset.from - 1))
        value |= ~uint64_t(0) << (8 * preset.from);
      break;
    case Preset::threads:
      value = block[preset.offset];
      break;
    case Preset::grid:
      value = grid[preset.offset];
      break;
    case Preset::dynamicBytes:
      value = dynamicShared;
      break;
    default:
      value = code->sharedBytes - sharedBegin + dynamicShared;
      break;
    }
    fill(values.data() + (preset.slot & ~3u), value, preset.bytes);
  }
}

void Execution::begin(LaunchState &state) {
  launch = &state;
  const KernelCode &code = *state.code;
  const uint64_t registerBytes = (uint64_t(code.registerBytes) + 255) / 256 * 256;
  registers.reserve(registerBytes * state.warps);
  const uint64_t sharedBytes = code.sharedBytes + state.dynamicShared;
  // Warps read whole rows: what follows the last byte is never used, but may be touched.
  shared.reserve(sharedBytes + 4096);
  shadow.reserve(sharedBytes + 4096);
  local.reserve(uint64_t(code.localBytes) * state.threads + 32 * uint64_t(code.localBytes));
  blockValues.reserve(code.blockBytes);
  sites.assign(code.sites + 1, {});
  block = {shared.data(),
           reinterpret_cast<uint8_t *>(shadow.data()),
           sites.data(),
           code.lists.data(),
           this,
           state.sharedRaces || state.globalRaces ||
               std::any_of(state.regions.begin(), state.regions.end(),
                           [](const GlobalRegion &r) { return r.writtenBytes; })};
  warps.resize(std::max<size_t>(warps.size(), state.warps));
  copies.resize(warps.size());
  for (uint32_t w = 0; w < state.warps; ++w) {
    Warp &warp = warps[w];
    char *const mine = registers.data() + registerBytes * w;
    warp.base[registerBase] = mine;
    warp.base[constantBase] = code.constants.data();
    warp.base[launchBase] = state.values.data();
    warp.base[blockBase] = blockValues.data();
    warp.number = w;
    warp.block = &block;
    warp.local = local.data() + uint64_t(code.localBytes) * lanes * w;
    warp.localBytes = code.localBytes;
    const uint32_t threads = std::min<uint32_t>(state.threads - w * lanes, lanes);
    warp.exists = threads == lanes ? allLanes : (uint32_t(1) << threads) - 1;
    for (const Preset &preset : code.perWarp)
      for (uint32_t l = 0; l < lanes; ++l) {
        const uint32_t thread = w * lanes + l, bit = uint32_t(1) << l;
        uint64_t value = 0;
        switch (preset.source) {
        case Preset::thread:
          value = preset.offset == 0   ? thread % state.block[0]
                  : preset.offset == 1 ? thread / state.block[0] % state.block[1]
                                       : thread / state.block[0] / state.block[1];
          break;
        case Preset::lane:
          value = l;
          break;
        case Preset::warp:
          value = w;
          break;
        case Preset::maskEqual:
          value = bit;
          break;
        case Preset::maskLess:
          value = bit - 1;
          break;
        case Preset::maskLessEqual:
          value = bit | (bit - 1);
          break;
        case Preset::maskGreater:
          value = uint32_t(~(bit | (bit - 1)));
          break;
        default:
          value = uint32_t(~(bit - 1));
          break;
        }
        std::memcpy(mine + (preset.slot & ~3u) + l * preset.bytes, &value, preset.bytes);
      }
  }
}

void Execution::beginBlock() {
  const KernelCode &code = *launch->code;
  coordinates[0] = uint32_t(number % launch->grid[0]);
  coordinates[1] = uint32_t(number / launch->grid[0] % launch->grid[1]);
  coordinates[2] = uint32_t(number / launch->grid[0] / launch->grid[1]);
  for (const Preset &preset : code.perBlock)
    fill(blockValues.data() + (preset.slot & ~3u), coordinates[preset.offset], preset.bytes);
  const uint64_t sharedBytes = code.sharedBytes + launch->dynamicShared;
  if (sharedBytes > sharedBegin)
    std::memset(shadow.data(), unwritten, sharedBytes);
  if (launch->sharedRaces)
    sharedRaces.begin(sharedBytes);
  for (BarrierState &barrier : barriers)
    barrier = {};
  interval = 0;
  for (uint32_t w = 0; w < launch->warps; ++w) {
    Warp &warp = warps[w];
    warp.active = warp.exists;
    warp.exited = 0;
    warp.state = WarpState::ready;
    warp.syncs = 0;
    warp.instructions = warp.laneInstructions = 0;
    std::memset(warp.commits, 0, sizeof warp.commits);
    warp.depth = 1;
    warp.next = code.code.data();
    warp.paths[0] = {warp.next, nullptr, warp.exists};
    copies[w].clear();
    for (const auto &[offset, reg] : code.cleared)
      std::memset(warp.base[registerBase] + offset, 0, 4);
  }
}

/// Until the warp waits, ends, fails or has had its turn.
bool Execution::runWarp(Warp &warp) {
  constexpr uint64_t turn = 1 << 20;
  const Inst *inst = warp.next;
  uint64_t count = 0, laneCount = 0;
  while (inst && count < turn) {
    ++count;
    laneCount += warp.active == allLanes ? lanes : uint64_t(__builtin_popcount(warp.active));
    inst = inst->run(warp, inst);
  }
  warp.instructions += count;
  warp.laneInstructions += laneCount;
  if (inst) {
    warp.next = inst;
    if (warp.instructions > launch->maxInstructions)
      return fail(warp, inst, -1, "NNT1724", "a warp does not come to an end",
                  {"it has executed " + std::to_string(warp.instructions) + " instructions"});
  }
  return warp.state != WarpState::failed;
}

bool Execution::executeBlock(uint64_t blockNumber) {
  number = blockNumber;
  beginBlock();
  for (bool ran = true; ran;) {
    ran = false;
    for (uint32_t w = 0; w < launch->warps; ++w) {
      if (warps[w].state != WarpState::ready)
        continue;
      ran = true;
      if (!runWarp(warps[w]) || launch->failure.happened())
        return false;
    }
  }
  for (uint32_t w = 0; w < launch->warps; ++w) {
    if (warps[w].state != WarpState::exited)
      return failDeadlock();
    warpInstructions += warps[w].instructions;
    laneInstructions += warps[w].laneInstructions;
  }
  return true;
}

} // namespace nnterp::gpu::emulator
