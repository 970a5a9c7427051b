// Opens artefacts with dlopen and runs them with the executor's services.
#include "runtime/exec/Program.h"
#include "runtime/exec/Arena.h"

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

void fail(void *context, int64_t entry, int64_t reason) {
  std::vector<RunFailure> &failures = static_cast<Execution *>(context)->report.failures;
  auto same = [&](const RunFailure &f) { return f.entry == entry && f.reason == reason; };
  if (std::none_of(failures.begin(), failures.end(), same))
    failures.push_back({entry, reason});
}

/// Nothing that needs a destructor lives in this frame: a jump back into it is well defined.
bool call(abi::Entry entry, const abi::Frame *frame, Execution &execution) {
  if (setjmp(execution.outOfMemory))
    return false;
  entry(frame);
  return true;
}

} // namespace

std::unique_ptr<Program> Program::open(const std::string &path, Manifest manifest, Diagnostics &diags) {
  std::unique_ptr<Program> program(new Program(std::move(manifest)));
  return program->link(path, path, diags) ? std::move(program) : nullptr;
}

std::unique_ptr<Program> Program::fromBytes(std::string_view object, Manifest manifest, Diagnostics &diags) {
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
  return program->link("/proc/self/fd/" + std::to_string(program->memory), shown, diags) ? std::move(program) : nullptr;
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

Program::~Program() {
  if (library)
    dlclose(library);
  if (memory >= 0)
    close(memory);
}

std::optional<RunReport> Program::run(const std::vector<abi::Slot> &slots, const RunProgress &onProgress,
                                      Diagnostics &diags, Entry which) {
  Execution execution{arena, {}, &onProgress, {}};
  const abi::Host services{abi::version, &execution, allocate, release, progress, fail};
  const abi::Frame frame{slots.data()};
  arena.restartPeak();
  const uint64_t before = arena.systemAllocations();
  *host = &services;
  const bool finished = call(which == Entry::step ? step : which == Entry::images ? images : main, &frame, execution);
  *host = nullptr;
  execution.report.arenaPeak = arena.peakBytes();
  execution.report.allocations = arena.systemAllocations() - before;
  if (finished)
    return std::move(execution.report);
  diags.error("NNT1017", {},
              "memory ran out after " + std::to_string(arena.currentBytes() >> 20) +
                  " MiB of intermediate values; a shorter prompt or a smaller batch needs less");
  arena.clear(); // the call was left in the middle and gave nothing back
  return std::nullopt;
}

} // namespace nnterp
