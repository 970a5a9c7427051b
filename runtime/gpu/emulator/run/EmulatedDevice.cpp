// Memory, copies and launches of the emulated device. Everything is done when it is handed in.
#include "runtime/gpu/emulator/run/EmulatedDevice.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

namespace nnterp::gpu {

std::unique_ptr<Device> makeEmulator(const EmulatorOptions &options) {
  return std::make_unique<emulator::EmulatedDevice>(options);
}

namespace emulator {

static int threadCount(const EmulatorOptions &options) {
  if (options.races || options.unwritten)
    return 1; // histories of memory are kept by one thread
  return options.threads > 0 ? options.threads : std::max(1, int(std::thread::hardware_concurrency()));
}

EmulatedDevice::EmulatedDevice(const EmulatorOptions &options)
    : options(options), pool(threadCount(options)), memory(options.unwritten), workers(size_t(pool.threads())) {}

std::string EmulatedDevice::description() const {
  return "emulator, " + std::to_string(pool.threads()) + (pool.threads() == 1 ? " thread" : " threads");
}

bool EmulatedDevice::fail(const char *code, std::string message, Diagnostics &diags) {
  dead = true;
  diags.error(code, {}, std::move(message));
  return false;
}

/// Whether the device still works, and `what` may be done now.
bool EmulatedDevice::ready(const char *what, Diagnostics &diags) {
  if (dead)
    return false;
  return !capturing ||
         fail("NNT1721", std::string(what) + " while launches are recorded, which cannot be repeated", diags);
}

void *EmulatedDevice::allocate(uint64_t bytes) {
  spoiled |= capturing;
  return memory.allocate(bytes);
}

void EmulatedDevice::release(void *released) { memory.release(released); }

bool EmulatedDevice::hostRange(const char *what, const void *start, uint64_t bytes, bool reads, Diagnostics &diags) {
  if (!bytes)
    return true;
  const uint64_t address = reinterpret_cast<uint64_t>(start);
  Allocation *allocation = memory.findRange(address, bytes);
  if (!allocation) {
    const Allocation *inside = memory.find(address);
    return fail("NNT1720",
                std::string(what) + " of " + std::to_string(bytes) + " bytes " +
                    (inside ? "leaves an allocation: " + std::to_string(inside->bytes - (address - inside->address)) +
                                  " bytes are left there"
                            : "is of memory that was not allocated"),
                diags);
  }
  if (!reads && !allocation->written.empty())
    std::fill_n(allocation->written.begin() + long(address - allocation->address), bytes, uint8_t(1));
  return true;
}

bool EmulatedDevice::upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  if (!ready("an upload", diags) || !hostRange("an upload", to, bytes, false, diags))
    return false;
  if (bytes)
    std::memcpy(to, from, bytes);
  return true;
}

bool EmulatedDevice::download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  if (!ready("a download", diags) || !hostRange("a download", from, bytes, true, diags))
    return false;
  if (bytes)
    std::memcpy(to, from, bytes);
  return true;
}

bool EmulatedDevice::copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) {
  if (!ready("a copy", diags) || !hostRange("a copy", from, bytes, true, diags) ||
      !hostRange("a copy", to, bytes, false, diags))
    return false;
  if (bytes)
    std::memmove(to, from, bytes);
  return true;
}

bool EmulatedDevice::wait(Diagnostics &diags) { return ready("a wait", diags); }

bool EmulatedDevice::checkGeometry(const KernelCode &code, const Launch &launch, Diagnostics &diags) {
  const std::string start = "kernel " + std::string(code.source->name) + " is launched with ";
  const uint64_t threads = uint64_t(launch.block[0]) * launch.block[1] * launch.block[2];
  constexpr uint32_t mostBlock[3] = {1024, 1024, 64}, mostGrid[3] = {2147483647, 65535, 65535};
  for (int k = 0; k < 3; ++k) {
    if (launch.block[k] < 1 || launch.block[k] > mostBlock[k])
      return fail("NNT1719",
                  start + "blocks of " + describeCoordinates(launch.block) +
                      " threads; each extent is 1 to (1024, 1024, 64)",
                  diags);
    if (launch.grid[k] < 1 || launch.grid[k] > mostGrid[k])
      return fail("NNT1719",
                  start + "a grid of " + describeCoordinates(launch.grid) +
                      " blocks; each extent is 1 to (2147483647, 65535, 65535)",
                  diags);
  }
  if (threads > 1024)
    return fail("NNT1719", start + "blocks of " + std::to_string(threads) + " threads; a block has at most 1024",
                diags);
  const Kernel &kernel = *code.source;
  if (kernel.maxThreads && threads > kernel.maxThreads)
    return fail("NNT1719",
                start + "blocks of " + std::to_string(threads) + " threads; .maxntid allows " +
                    std::to_string(kernel.maxThreads),
                diags);
  if (kernel.exactThreads[0] && !std::equal(kernel.exactThreads, kernel.exactThreads + 3, launch.block))
    return fail("NNT1719",
                start + "blocks of " + describeCoordinates(launch.block) + " threads; .reqntid wants " +
                    describeCoordinates(kernel.exactThreads),
                diags);
  constexpr uint64_t mostShared = 163 * 1024; // of sm_80
  uint64_t shared = launch.dynamicShared;
  for (const Region &region : code.shared)
    shared += region.bytes;
  if (shared > mostShared)
    return fail("NNT1719",
                start + std::to_string(shared) + " bytes of shared memory; a block has at most " +
                    std::to_string(mostShared),
                diags);
  return true;
}

std::optional<RecordedLaunch> EmulatedDevice::record(const Launch &launch, Diagnostics &diags) {
  if (launch.kernel < 0 || launch.kernel >= int64_t(codes.size())) {
    fail("NNT1719",
         "kernel number " + std::to_string(launch.kernel) + " is launched, of " + std::to_string(codes.size()), diags);
    return std::nullopt;
  }
  const KernelCode &code = *codes[size_t(launch.kernel)];
  if (!checkGeometry(code, launch, diags))
    return std::nullopt;
  RecordedLaunch recorded;
  recorded.kernel = launch.kernel;
  std::copy_n(launch.grid, 3, recorded.grid);
  std::copy_n(launch.block, 3, recorded.block);
  recorded.dynamicShared = launch.dynamicShared;
  recorded.params.assign(code.paramBytes, 0);
  for (size_t k = 0; k < code.paramOffsets.size(); ++k)
    std::memcpy(recorded.params.data() + code.paramOffsets[k], launch.parameters[k], code.source->params[k].bytes);
  return recorded;
}

bool EmulatedDevice::launch(const Launch &launch, Diagnostics &diags) {
  if (dead)
    return false;
  std::optional<RecordedLaunch> recorded = record(launch, diags);
  if (!recorded)
    return false;
  if (!capturing)
    return execute(*recorded, diags);
  recording.push_back(std::move(*recorded));
  return true;
}

/// The module's variables, and the allocations that parameters point into.
void EmulatedDevice::findRegions(const RecordedLaunch &launch, LaunchState &state) {
  for (const auto &[address, variable] : variables) {
    GlobalRegion region;
    region.name = "the variable " + variable.first;
    region.low = address;
    region.bytes = memory.find(address)->bytes;
    region.constant = variable.second;
    state.regions.push_back(region);
  }
  const KernelCode &code = *state.code;
  for (size_t k = 0; k < code.paramOffsets.size(); ++k)
    for (uint64_t at = 0; at + 8 <= code.source->params[k].bytes; at += 8) {
      uint64_t value = 0;
      std::memcpy(&value, launch.params.data() + code.paramOffsets[k] + at, 8);
      Allocation *allocation = memory.find(value);
      if (!allocation || variables.count(allocation->address))
        continue;
      const std::string param = "parameter " + std::to_string(k);
      const auto known = std::find_if(state.regions.begin(), state.regions.end(),
                                      [&](const GlobalRegion &region) { return region.low == allocation->address; });
      if (known != state.regions.end()) {
        known->name += " and " + std::to_string(k);
        continue;
      }
      GlobalRegion region;
      region.name = "allocation " + std::to_string(allocation->number) + " of " + param;
      region.low = allocation->address;
      region.bytes = allocation->bytes;
      region.writtenBytes = options.unwritten ? &allocation->written : nullptr;
      state.regions.push_back(region);
    }
}

bool EmulatedDevice::execute(const RecordedLaunch &launch, Diagnostics &diags) {
  const auto start = std::chrono::steady_clock::now();
  LaunchState state;
  state.module = module.get();
  state.code = codes[size_t(launch.kernel)].get();
  state.spec = &specs[size_t(launch.kernel)];
  std::copy_n(launch.grid, 3, state.grid);
  std::copy_n(launch.block, 3, state.block);
  state.blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  state.threads = launch.block[0] * launch.block[1] * launch.block[2];
  state.warps = (state.threads + lanes - 1) / lanes;
  state.dynamicShared = launch.dynamicShared;
  state.params = launch.params;
  state.maxInstructions = options.maxInstructions ? options.maxInstructions : uint64_t(1) << 36;
  GlobalRaces races;
  state.globalRaces = options.races ? &races : nullptr;
  state.sharedRaces = options.races;
  findRegions(launch, state);
  state.fillValues();

  std::atomic<uint64_t> next{0};
  const int threads = int(std::min<uint64_t>(uint64_t(pool.threads()), state.blocks));
  pool.run(threads, [&](int t) {
    Execution &worker = workers[size_t(t)];
    worker.begin(state);
    for (uint64_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < state.blocks;)
      if (state.failure.happened() || !worker.executeBlock(block))
        return;
  });
  if (options.counts) {
    EmulatorCounts &counts = (*options.counts)[size_t(launch.kernel)];
    ++counts.launches;
    counts.blocks += state.blocks;
    for (Execution &worker : workers) {
      counts.warpInstructions += std::exchange(worker.warpInstructions, 0);
      counts.laneInstructions += std::exchange(worker.laneInstructions, 0);
    }
    counts.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  if (!state.failure.happened())
    return true;
  dead = true;
  diags.all().push_back(std::move(state.failure.diagnostic));
  return false;
}

bool EmulatedDevice::beginCapture(Diagnostics &diags) {
  if (dead)
    return false;
  if (capturing)
    return fail("NNT1721", "recording of launches begins while it is under way", diags);
  capturing = true;
  spoiled = false;
  recording.clear();
  return true;
}

int64_t EmulatedDevice::endCapture(Diagnostics &diags) {
  if (dead)
    return -1;
  if (!capturing) {
    fail("NNT1721", "recording of launches ends and was not begun", diags);
    return -1;
  }
  capturing = false;
  if (spoiled) {
    fail("NNT1721", "an allocation while launches are recorded, which cannot be repeated", diags);
    return -1;
  }
  graphs[nextGraph] = std::move(recording);
  recording.clear();
  return nextGraph++;
}

bool EmulatedDevice::replay(int64_t captured, Diagnostics &diags) {
  if (!ready("a replay", diags))
    return false;
  const auto found = graphs.find(captured);
  if (found == graphs.end())
    return fail("NNT1721",
                "recorded launches number " + std::to_string(captured) + " are replayed, which are not there", diags);
  for (const RecordedLaunch &launch : found->second)
    if (!execute(launch, diags))
      return false;
  return true;
}

void EmulatedDevice::forget(int64_t captured) { graphs.erase(captured); }

} // namespace emulator
} // namespace nnterp::gpu
