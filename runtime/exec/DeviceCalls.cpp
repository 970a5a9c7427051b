// Hands launches to a device, records steps and replays them.
#include "runtime/exec/DeviceCalls.h"
#include "runtime/gpu/Device.h"

#include <algorithm>
#include <cstring>

namespace nnterp {

DeviceCalls::DeviceCalls(std::shared_ptr<gpu::Device> device, size_t kernels, size_t failures)
    : device(std::move(device)), kernels(int64_t(kernels)), arena(*this->device, this->device->checksAccesses()),
      zeros(failures, 0) {}

DeviceCalls::~DeviceCalls() {
  forget();
  if (stored)
    device->release(stored);
}

std::unique_ptr<DeviceCalls> DeviceCalls::make(std::shared_ptr<gpu::Device> device, std::string_view code,
                                               const Manifest &manifest, Diagnostics &diags) {
  std::unique_ptr<DeviceCalls> calls(
      new DeviceCalls(std::move(device), manifest.kernels.size(), size_t(manifest.failureEntries)));
  if (!calls->device->load(code, manifest.kernels, diags))
    return nullptr;
  if (calls->zeros.empty())
    return calls;
  const uint64_t bytes = calls->zeros.size() * sizeof(int64_t);
  calls->stored = static_cast<int64_t *>(calls->device->allocate(bytes));
  if (!calls->stored) {
    diags.error("NNT1742", {}, "the device (" + calls->description() + ") has no memory left for a program");
    return nullptr;
  }
  return calls->device->upload(calls->stored, calls->zeros.data(), bytes, diags) ? std::move(calls) : nullptr;
}

std::string DeviceCalls::description() const { return device->description(); }

void DeviceCalls::forget() {
  if (recording >= 0)
    device->forget(recording);
  recording = -1;
}

void DeviceCalls::launch(int64_t kernel, const int64_t *geometry, const void *const *parameters) {
  if (!good)
    return;
  // What is wrong here is the fault of the program's own code: a kernel of its list, and extents that the interface
  // has.
  constexpr int64_t most = int64_t(1) << 31;
  good = kernel >= 0 && kernel < kernels &&
         std::all_of(geometry, geometry + 6, [](int64_t extent) { return extent >= 0 && extent < most; }) &&
         geometry[6] >= 0 && geometry[6] < most;
  if (!good) {
    std::string text;
    for (int i = 0; i < 7; ++i)
      text += (i ? ", " : "") + std::to_string(geometry[i]);
    diags->error("NNT1743", {},
                 "kernel " + std::to_string(kernel) + " of " + std::to_string(kernels) +
                     " was to be started with grid, block and shared bytes " + text);
    return;
  }
  if (std::any_of(geometry, geometry + 6, [](int64_t extent) { return extent == 0; }))
    return; // no thread, no work
  gpu::Launch launch;
  launch.kernel = kernel;
  for (int axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = uint32_t(geometry[axis]);
    launch.block[axis] = uint32_t(geometry[3 + axis]);
  }
  launch.dynamicShared = uint32_t(geometry[6]);
  launch.parameters = parameters;
  good = device->launch(launch, *diags);
}

bool DeviceCalls::record(const std::function<bool(const abi::Frame &)> &enter, const abi::Frame &frame,
                         Diagnostics &diags) {
  if (!device->beginCapture(diags))
    return false;
  arena.freeze(true);
  const bool entered = enter(frame);
  arena.freeze(false);
  recording = device->endCapture(diags);
  generation = arena.generation();
  if (!entered)
    diags.error("NNT1743", {}, "a step asked for memory that the step before it, on the same tensors, did not need");
  return entered && good && recording >= 0;
}

bool DeviceCalls::call(const std::vector<abi::Slot> &slots, bool step,
                       const std::function<bool(const abi::Frame &)> &enter, Diagnostics &diags) {
  const abi::Frame frame{slots.data(), stored};
  this->diags = &diags;
  good = true;
  arena.keep(step);
  if (!step)
    return enter(frame) && good;
  const bool same =
      seen.size() == slots.size() && std::memcmp(seen.data(), slots.data(), slots.size() * sizeof(abi::Slot)) == 0;
  if (!same || (recording >= 0 && generation != arena.generation())) {
    forget();
    seen = slots;
    return enter(frame) && good;
  }
  if (recording < 0 && !record(enter, frame, diags)) {
    forget();
    return false;
  }
  ++replayed;
  return device->replay(recording, diags);
}

bool DeviceCalls::failures(std::vector<int64_t> &reasons, Diagnostics &diags) {
  reasons.assign(zeros.size(), 0);
  if (zeros.empty())
    return device->wait(diags);
  const uint64_t bytes = zeros.size() * sizeof(int64_t);
  if (!device->download(reasons.data(), stored, bytes, diags))
    return false;
  const bool any = std::any_of(reasons.begin(), reasons.end(), [](int64_t reason) { return reason != 0; });
  return !any || device->upload(stored, zeros.data(), bytes, diags);
}

} // namespace nnterp
