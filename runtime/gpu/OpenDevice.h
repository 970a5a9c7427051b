// The device of a target.
#pragma once

#include "runtime/gpu/Device.h"
#include "runtime/gpu/Target.h"

#include <memory>

namespace nnterp {

struct DeviceOptions {
  int ordinal = 0;         ///< which of the machine's GPUs
  bool checkRaces = false; ///< the emulator looks for data races and for memory that is read before it is written; slow
};

/// Opens a GPU or makes an emulated one; null for the target cpu, which has none, and after an error. Errors: those of openCuda.
std::shared_ptr<gpu::Device> openDevice(Target target, const DeviceOptions &options, Diagnostics &diags);

} // namespace nnterp
