// A kernel ready to execute.
#pragma once

#include "runtime/gpu/emulator/ptx/Module.h"
#include "runtime/gpu/emulator/run/Buffer.h"
#include "runtime/gpu/emulator/run/Machine.h"

#include <string>
#include <vector>

namespace nnterp::gpu::emulator {

/// Values that are known when a launch, a block or a warp begins and then do not change: 32 copies lie at `slot`.
struct Preset {
  enum Source : uint8_t {
    param, ///< `offset` in the parameters, `bytes` long
    threads, grid, dynamicBytes, sharedBytes, // of the launch; `offset` is the axis
    block, blockNumber,                       // of the block
    thread, lane, warp, maskEqual, maskLess, maskLessEqual, maskGreater, maskGreaterEqual // of the warp
  };
  Source source;
  Slot slot;
  uint32_t offset = 0;
  uint8_t bytes = 4; ///< of the register
  uint8_t from = 4;  ///< of the parameter
  bool extendSign = false;
};

/// A piece of shared or local memory, or a variable of the module.
struct Region {
  std::string name;
  uint64_t low = 0, bytes = 0;
  bool constant = false;
};

/// Where a variable of the module was put.
struct Placed {
  Space space;
  uint64_t address;
};
using Placement = std::map<std::string_view, Placed>;

struct KernelCode {
  const Kernel *source = nullptr;
  std::vector<Inst> code;
  std::vector<int> lines; ///< of each instruction, in the PTX text
  std::vector<Slot> lists;
  Buffer constants;
  uint32_t registerBytes = 0, launchBytes = 0, blockBytes = 0;
  std::vector<Preset> perLaunch, perBlock, perWarp;
  std::vector<std::pair<Slot, uint32_t>> cleared; ///< predicates that say which lanes wrote a register: zero at first
  uint32_t sites = 0;
  std::vector<Region> shared, local;
  uint64_t sharedBytes = 0; ///< static, with gaps; dynamic shared memory begins behind it
  bool dynamicShared = false;
  uint32_t localBytes = 0;
  uint32_t paramBytes = 0;
  std::vector<uint32_t> paramOffsets;
};

} // namespace nnterp::gpu::emulator
