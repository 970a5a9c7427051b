// Records the launches of calls and puts a price on them.
#include "tools/nnterp/explain/Launches.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace nnterp {

std::unique_ptr<LaunchRecorder> LaunchRecorder::open(std::string_view object, const Manifest &manifest, const Gpu &gpu,
                                                     Diagnostics &diags) {
  auto recorder = std::make_unique<LaunchRecorder>();
  recorder->device = std::make_shared<gpu::RecordingDevice>();
  recorder->program = Program::fromBytes(object, manifest, diags, recorder->device);
  if (!recorder->program)
    return nullptr;
  recorder->slots.resize(manifest.slots.size());
  for (abi::Slot &slot : recorder->slots)
    slot.data = recorder->device->allocate(1); // each an address of its own
  recorder->report.gpu = &gpu;
  recorder->report.kernels = manifest.kernels;
  recorder->report.texts = recorder->device->texts();
  recorder->report.ptxBytes = recorder->device->ptx().size();
  return recorder;
}

/// An amount of a kernel's, for a launch.
static double amountOf(const Polynomial &amount, const gpu::NotedLaunch &launch) {
  return amount.value([&](const std::string &extent) -> int64_t {
    if (extent == "blocks")
      return launch.blocks();
    const size_t index = size_t(std::atoll(extent.c_str() + 1)); // "p3"
    return index < launch.parameters.size() ? launch.parameters[index] : 0;
  });
}

bool LaunchRecorder::add(const std::string &what, Program::Entry entry, const CallExtents &extents,
                         Diagnostics &diags) {
  const Manifest &manifest = program->manifest();
  for (size_t i = 0; i < slots.size(); ++i) {
    const SlotSpec &spec = manifest.slots[i];
    for (size_t axis = 0; axis < spec.dims.size(); ++axis)
      slots[i].sizes[axis] = spec.dims[axis] < 0 ? extents(spec.name + "." + std::to_string(axis)) : spec.dims[axis];
  }
  device->clear();
  if (!program->run(slots, {}, diags, entry))
    return false;

  CallLaunches call;
  call.what = what;
  using Grid = std::tuple<int64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>;
  std::map<Grid, KernelUse> uses;
  for (const gpu::NotedLaunch &launch : device->launches()) {
    KernelUse &use = uses[{launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                           launch.block[1], launch.block[2], launch.dynamicShared}];
    use.kernel = launch.kernel;
    std::copy_n(launch.grid, 3, use.grid);
    std::copy_n(launch.block, 3, use.block);
    use.dynamicShared = launch.dynamicShared;
    const KernelSpec &spec = manifest.kernels[size_t(launch.kernel)];
    double bytes = 0;
    for (const KernelSpec::Memory &memory : spec.memory)
      bytes += std::max(0.0, std::min(amountOf(memory.whole, launch), amountOf(memory.touched, launch)));
    const double flops = amountOf(spec.flops, launch);
    const Roofline time = roofline(*report.gpu, flops, bytes, report.texts[size_t(launch.kernel)].matrixUnits);
    ++use.count;
    use.flops += flops;
    use.bytes += bytes;
    use.time.seconds += time.seconds;
    use.time.memory = time.memory;
    ++call.launches;
    call.flops += flops;
    call.bytes += bytes;
    call.seconds += time.seconds;
  }
  for (const auto &[grid, use] : uses)
    call.uses.push_back(use);
  std::stable_sort(call.uses.begin(), call.uses.end(),
                   [](const KernelUse &a, const KernelUse &b) { return a.time.seconds > b.time.seconds; });
  report.calls.push_back(std::move(call));
  return true;
}

LaunchReport LaunchRecorder::finish() {
  report.resources = assemble(device->ptx(), std::string(report.gpu->chip), report.whyNoResources);
  return std::move(report);
}

} // namespace nnterp
