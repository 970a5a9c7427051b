// One launch, what its workers share, and what each worker needs to execute blocks.
#pragma once

#include "runtime/abi/Manifest.h"
#include "runtime/gpu/Device.h"
#include "runtime/gpu/emulator/decode/Code.h"
#include "runtime/gpu/emulator/run/Checks.h"
#include "runtime/gpu/emulator/run/Races.h"

#include <atomic>
#include <mutex>

namespace nnterp::gpu::emulator {

/// The first failure of a launch; others are dropped.
class Failure {
public:
  bool happened() const { return flag.load(std::memory_order_acquire); }
  /// True for the first caller, whose diagnostic is kept.
  bool report(Diagnostic &&diagnostic);
  Diagnostic diagnostic;

private:
  std::atomic<bool> flag{false};
  std::mutex mutex;
};

/// A piece of global memory that a launch may access.
struct GlobalRegion : Region {
  std::vector<uint8_t> *writtenBytes = nullptr; ///< with EmulatorOptions::unwritten: by byte
};

/// What all workers of a launch read.
struct LaunchState {
  const Module *module = nullptr;
  const KernelCode *code = nullptr;
  const KernelSpec *spec = nullptr;
  uint32_t grid[3], block[3];
  uint64_t blocks = 0;
  uint32_t threads = 0, warps = 0, dynamicShared = 0;
  std::vector<uint8_t> params;
  std::vector<GlobalRegion> regions; ///< by address
  uint64_t maxInstructions = 0;
  Buffer values; ///< those of launchBase
  GlobalRaces *globalRaces = nullptr;
  bool sharedRaces = false;
  Failure failure;

  void fillValues();
};

struct BarrierState {
  uint32_t arrived = 0, expected = 0; ///< threads; expected 0: nobody is here
  uint32_t waiting = 0;               ///< bit for each warp that waits
  int line = 0;
  uint32_t votes = 0, result = 0; ///< bar.red: threads whose predicate held
  uint32_t counted = 0;
};

/// A copy on its way to shared memory.
struct PendingCopy {
  uint32_t lane, group, bytes;
  uint64_t to;
  uint8_t data[16];
};

/// A worker: executes blocks of a launch one after the other. Its memory is kept from launch to launch.
struct Execution {
  LaunchState *launch = nullptr;
  Block block{};
  std::vector<Warp> warps;
  std::vector<std::vector<PendingCopy>> copies; ///< by warp
  BarrierState barriers[16];
  uint32_t coordinates[3] = {0, 0, 0};
  uint64_t number = 0;   ///< of the block in the grid
  uint32_t interval = 0; ///< between barriers of the block
  SharedRaces sharedRaces;
  uint64_t warpInstructions = 0, laneInstructions = 0;
  uint64_t clock = 0; ///< how often it was asked for

  void begin(LaunchState &launch);
  /// False after a failure.
  bool executeBlock(uint64_t number);

  // Reports. All return false.
  bool fail(Warp &warp, const Inst *inst, int lane, const char *code, const std::string &message,
            const std::vector<std::string> &notes = {});
  std::string describeThread(const Warp &warp, int lane) const;
  std::string describeThread(uint32_t thread) const;
  std::string describeLine(int line) const;

private:
  void beginBlock();
  bool runWarp(Warp &warp);
  bool failDeadlock();

  Buffer registers, shared, shadow, local, blockValues;
  std::vector<Site> sites;
};

std::string describeCoordinates(const uint32_t (&values)[3]);

} // namespace nnterp::gpu::emulator
