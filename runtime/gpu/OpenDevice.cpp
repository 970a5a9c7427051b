// Names of targets, and what they run on.
#include "runtime/gpu/OpenDevice.h"
#include "runtime/gpu/driver/Cuda.h"
#include "runtime/gpu/emulator/Emulator.h"

#include <array>

namespace nnterp {

static constexpr std::array<std::string_view, 3> targetNames = {"cpu", "cuda", "emulator"};

std::string_view name(Target target) { return targetNames[size_t(target)]; }

std::optional<Target> targetByName(std::string_view name) {
  for (size_t i = 0; i < targetNames.size(); ++i)
    if (targetNames[i] == name)
      return Target(i);
  return std::nullopt;
}

std::string_view programTarget(Target target) { return target == Target::cpu ? "cpu" : "gpu"; }

std::shared_ptr<gpu::Device> openDevice(Target target, const DeviceOptions &options, Diagnostics &diags) {
  if (target == Target::cuda)
    return gpu::openCuda({options.ordinal, ""}, diags);
  if (target == Target::cpu)
    return nullptr;
  gpu::EmulatorOptions emulator;
  emulator.races = emulator.unwritten = options.checkRaces;
  return gpu::makeEmulator(emulator);
}

} // namespace nnterp
