// An emulated GPU: executes the PTX text that ships, on the CPU, and checks every access. README.md says what it knows.
#pragma once

#include "runtime/gpu/Device.h"

#include <memory>

namespace nnterp::gpu {

/// What one kernel did so far; by index in the list given to `load`.
struct EmulatorCounts {
  uint64_t launches = 0, blocks = 0;
  uint64_t warpInstructions = 0; ///< each counted once for the warp that executes it
  uint64_t laneInstructions = 0; ///< each counted for every thread that takes part
  double seconds = 0;
};

struct EmulatorOptions {
  int threads = 0;          ///< CPU threads that execute blocks; 0: as many as the machine has
  bool races = false;       ///< find data races between threads in shared and global memory; slow, and one CPU thread
  bool unwritten = false;   ///< find reads of global memory that nobody wrote; slow
  uint64_t maxInstructions = 0; ///< a warp that executes more is taken to be in an endless loop; 0: 2^36
  std::string tier; ///< instruction set of the CPU to use: "avx512", "avx2" or "generic"; the best one if it is none that is there
  std::vector<EmulatorCounts> *counts = nullptr; ///< filled if given; must outlive the device
};

std::unique_ptr<Device> makeEmulator(const EmulatorOptions &options = {});

} // namespace nnterp::gpu
