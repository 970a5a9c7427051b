// Opens artefacts with dlopen and runs them with the executor's services.
#include "runtime/exec/Program.h"

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nnterp {

namespace {

/// What the services of one call work on.
struct Execution {
  Arena &arena;
  DeviceCalls *device; ///< null for a program that runs here
  RunReport report;
  const RunProgress *progress;
  /// The way out when memory is exhausted: generated code cannot go on without the block it asked for, and has nothing
  /// to clean up that the arena does not free.
  std::jmp_buf outOfMemory;
};

void *allocate(void *context, uint64_t bytes) {
  auto *execution = static_cast<Execution *>(context);
  void *memory = execution->arena.allocate(bytes);
  if (!memory)
    std::longjmp(execution->outOfMemory, 1);
  return memory;
}

void release(void *context, void *memory) { static_cast<Execution *>(context)->arena.release(memory); }

void progress(void *context, int64_t done, int64_t total) {
  const RunProgress &report = *static_cast<Execution *>(context)->progress;
  if (report)
    report(done, total);
}

void note(std::vector<RunFailure> &failures, int64_t entry, int64_t reason) {
  auto same = [&](const RunFailure &f) { return f.entry == entry && f.reason == reason; };
  if (std::none_of(failures.begin(), failures.end(), same))
    failures.push_back({entry, reason});
}

void fail(void *context, int64_t entry, int64_t reason) {
  note(static_cast<Execution *>(context)->report.failures, entry, reason);
}

void launch(void *context, int64_t kernel, const int64_t *geometry, const void *const *parameters) {
  if (DeviceCalls *device = static_cast<Execution *>(context)->device)
    device->launch(kernel, geometry, parameters);
}

/// Nothing that needs a destructor lives in this frame: a jump back into it is well defined.
bool call(abi::Entry entry, const abi::Frame *frame, Execution &execution) {
  if (setjmp(execution.outOfMemory))
    return false;
  entry(frame);
  return true;
}

} // namespace

std::unique_ptr<Program> Program::open(const std::string &path, Manifest manifest, Diagnostics &diags,
                                       std::shared_ptr<gpu::Device> device) {
  std::unique_ptr<Program> program(new Program(std::move(manifest)));
  const bool good = program->link(path, path, diags) && program->place(path, std::move(device), diags);
  return good ? std::move(program) : nullptr;
}

std::unique_ptr<Program> Program::fromBytes(std::string_view object, Manifest manifest, Diagnostics &diags,
                                            std::shared_ptr<gpu::Device> device) {
  std::unique_ptr<Program> program(new Program(std::move(manifest)));
  const std::string shown = "the compiled program";
  program->memory = memfd_create("nnterp-program", MFD_CLOEXEC);
  bool written = program->memory >= 0;
  while (written && !object.empty()) {
    const ssize_t done = write(program->memory, object.data(), object.size());
    written = done > 0 || (done < 0 && errno == EINTR);
    object.remove_prefix(done > 0 ? size_t(done) : 0);
  }
  if (!written) {
    diags.error("NNT1014", {}, shown + " cannot be kept in memory: " + std::strerror(errno));
    return nullptr;
  }
  const bool good = program->link("/proc/self/fd/" + std::to_string(program->memory), shown, diags) &&
                    program->place(shown, std::move(device), diags);
  return good ? std::move(program) : nullptr;
}

bool Program::link(const std::string &path, const std::string &shown, Diagnostics &diags) {
  if (info.abi != abi::version) {
    diags.error("NNT1015", {},
                shown + " was compiled for version " + std::to_string(info.abi) +
                    " of the interface to programs; this executor has version " + std::to_string(abi::version));
    return false;
  }
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *reason = dlerror();
    diags.error("NNT1014", {}, shown + " cannot be opened: " + (reason ? reason : "unknown reason"));
    return false;
  }
  host = static_cast<const abi::Host **>(dlsym(library, "nnterp_host"));
  main = reinterpret_cast<abi::Entry>(dlsym(library, "nnterp_main"));
  if (info.steps)
    step = reinterpret_cast<abi::Entry>(dlsym(library, "nnterp_step"));
  if (info.images)
    images = reinterpret_cast<abi::Entry>(dlsym(library, "nnterp_images"));
  if (host && main && (step || !info.steps) && (images || !info.images))
    return true;
  diags.error("NNT1014", {},
              shown + " is no program of ours: it has no symbol " +
                  (!host                 ? "nnterp_host"
                   : !main               ? "nnterp_main"
                   : info.steps && !step ? "nnterp_step"
                                         : "nnterp_images"));
  return false;
}

/// Puts the kernels of a program for a GPU onto the device.
bool Program::place(const std::string &shown, std::shared_ptr<gpu::Device> device, Diagnostics &diags) {
  const bool forDevice = info.target == "gpu";
  if (forDevice != (device != nullptr)) {
    diags.error("NNT1741", {},
                shown + (forDevice ? " was compiled for a GPU; expected the target cuda or emulator"
                                   : " was compiled for the CPU; expected the target cpu"));
    return false;
  }
  if (!forDevice)
    return true;
  const auto *code = static_cast<const char *>(dlsym(library, "nnterp_device_code"));
  if (!code) {
    diags.error("NNT1014", {}, shown + " is no program of ours: it has no symbol nnterp_device_code");
    return false;
  }
  onDevice = DeviceCalls::make(std::move(device), code, info, diags);
  return onDevice != nullptr;
}

Program::~Program() {
  onDevice.reset();
  if (library)
    dlclose(library);
  if (memory >= 0)
    close(memory);
}

std::optional<RunReport> Program::run(const std::vector<abi::Slot> &slots, const RunProgress &onProgress,
                                      Diagnostics &diags, Entry which) {
  Arena &memory = onDevice ? onDevice->memory() : arena;
  Execution execution{memory, onDevice.get(), {}, &onProgress, {}};
  const abi::Host services{abi::version, &execution, allocate, release, progress, fail, launch};
  const abi::Entry entry = which == Entry::step ? step : which == Entry::images ? images : main;
  bool enough = true;
  auto enter = [&](const abi::Frame &frame) {
    *host = &services;
    enough = nnterp::call(entry, &frame, execution);
    *host = nullptr;
    return enough;
  };
  memory.restartPeak();
  const uint64_t before = memory.systemAllocations();
  const int64_t replays = onDevice ? onDevice->replays() : 0;
  const size_t errors = diags.all().size();
  bool finished =
      onDevice ? onDevice->call(slots, which == Entry::step, enter, diags) : enter(abi::Frame{slots.data(), nullptr});
  execution.report.arenaPeak = memory.peakBytes();
  execution.report.allocations = memory.systemAllocations() - before;
  execution.report.replayed = onDevice && onDevice->replays() > replays;
  std::vector<int64_t> reasons;
  finished = finished && (!onDevice || onDevice->failures(reasons, diags));
  for (size_t plan = 0; plan < reasons.size(); ++plan)
    if (reasons[plan] != 0)
      note(execution.report.failures, int64_t(plan), reasons[plan]);
  if (finished)
    return std::move(execution.report);
  if (!enough && diags.all().size() == errors)
    diags.error("NNT1017", {},
                (onDevice ? "the device (" + onDevice->description() + ") has no memory left" : "memory ran out") +
                    " after " + std::to_string(memory.currentBytes() >> 20) +
                    " MiB of intermediate values; a shorter prompt or a smaller batch needs less");
  memory.clear(); // the call was left in the middle and gave nothing back
  return std::nullopt;
}

} // namespace nnterp
