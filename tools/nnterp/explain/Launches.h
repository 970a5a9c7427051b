// What a program for a GPU starts in a call: its host code is run, its kernels are not.
#pragma once

#include "runtime/exec/Program.h"
#include "runtime/gpu/RecordingDevice.h"
#include "tools/nnterp/CallExtents.h"
#include "tools/nnterp/explain/Gpus.h"
#include "tools/nnterp/explain/Ptxas.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnterp {

/// Launches of one kernel with one grid.
struct KernelUse {
  int64_t kernel = 0; ///< index in the manifest's list
  int64_t count = 0;  ///< how often in the call
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t dynamicShared = 0;
  double flops = 0, bytes = 0; ///< of all of them
  Roofline time;               ///< of all of them
};

struct CallLaunches {
  std::string what; ///< "a prompt of 1 x 128 tokens"
  int64_t launches = 0;
  std::vector<KernelUse> uses; ///< those that take longest first
  double flops = 0, bytes = 0, seconds = 0;
};

/// A program for a GPU, looked at.
struct LaunchReport {
  const Gpu *gpu = nullptr;
  std::vector<KernelSpec> kernels;
  std::vector<gpu::KernelText> texts;
  size_t ptxBytes = 0;
  std::vector<CallLaunches> calls;
  std::optional<std::map<std::string, KernelResources>> resources; ///< by kernel
  std::string whyNoResources;
};

/// Opens programs on a device that records.
class LaunchRecorder {
public:
  /// Errors: those of Program::fromBytes.
  static std::unique_ptr<LaunchRecorder> open(std::string_view object, const Manifest &manifest, const Gpu &gpu,
                                              Diagnostics &diags);

  /// Adds a call on tensors of these extents. Errors: those of Program::run.
  bool add(const std::string &what, Program::Entry entry, const CallExtents &extents, Diagnostics &diags);
  /// All calls so far, and what ptxas says if it is there.
  LaunchReport finish();

private:
  std::shared_ptr<gpu::RecordingDevice> device;
  std::unique_ptr<Program> program;
  std::vector<abi::Slot> slots;
  LaunchReport report;
};

/// One line per kernel and grid, as a table with a heading.
std::string launchesText(const LaunchReport &report);
Json launchesJson(const LaunchReport &report);

} // namespace nnterp
