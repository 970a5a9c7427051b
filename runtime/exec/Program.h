// A compiled program, opened and ready to run.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Frame.h"
#include "runtime/abi/Manifest.h"
#include "runtime/exec/Arena.h"
#include "runtime/exec/DeviceCalls.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

/// What went wrong in a run at one of the plan's edits.
struct RunFailure {
  int64_t entry;  ///< index in the plan's edits
  int64_t reason; ///< abi::FailReason
};

struct RunReport {
  std::vector<RunFailure> failures; ///< each once
  uint64_t arenaPeak = 0;           ///< bytes of intermediate values held at once
  uint64_t allocations = 0;         ///< how often the arena asked for memory; 0 once it has grown
  bool replayed = false;            ///< the call was a recorded one, started at once
};

using RunProgress = std::function<void(int64_t done, int64_t total)>;

/// The shared object of an artefact. Its symbols are the whole connection: `nnterp_host`, where the services of the
/// executor are put, `nnterp_main`, the entry for calls on the prompt, `nnterp_step` and `nnterp_images`, those for
/// generated tokens and images, in programs that have them, and in programs for a GPU `nnterp_device_code`, the text of
/// their kernels.
class Program {
public:
  /// Opens a shared object on disk; one for a GPU is loaded onto `device`. Errors: NNT1014 (cannot be opened, or lacks
  /// a symbol), NNT1015 (another ABI), NNT1741 (a program for a GPU without a device, or the other way round), those of
  /// DeviceCalls::make.
  static std::unique_ptr<Program> open(const std::string &path, Manifest manifest, Diagnostics &diags,
                                       std::shared_ptr<gpu::Device> device = nullptr);
  /// Opens a shared object that is nowhere on disk. Errors as above.
  static std::unique_ptr<Program> fromBytes(std::string_view object, Manifest manifest, Diagnostics &diags,
                                            std::shared_ptr<gpu::Device> device = nullptr);
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// Its entries.
  enum class Entry { prompt, step, images };

  const Manifest &manifest() const { return info; }
  /// Runs one call on a descriptor table in the manifest's order: on the prompt, on generated tokens, or on images. The
  /// arena lives as long as the program and is used again by every call. Nothing when memory ran out or the device
  /// failed. Errors: NNT1017, those of DeviceCalls.
  std::optional<RunReport> run(const std::vector<abi::Slot> &slots, const RunProgress &progress, Diagnostics &diags,
                               Entry which = Entry::prompt);
  /// Gives memory of the device back that no call holds; whether there was any.
  bool trim() { return onDevice && onDevice->trim(); }

private:
  explicit Program(Manifest manifest) : info(std::move(manifest)) {}
  bool link(const std::string &path, const std::string &shown, Diagnostics &diags);
  bool place(const std::string &shown, std::shared_ptr<gpu::Device> device, Diagnostics &diags);

  Manifest info;
  void *library = nullptr;
  int memory = -1; ///< the file in memory that holds the bytes; open as long as the library, so that its name is unique
  const abi::Host **host = nullptr;
  abi::Entry main = nullptr, step = nullptr, images = nullptr;
  HostArena arena;
  std::unique_ptr<DeviceCalls> onDevice; ///< of a program for a GPU
};

} // namespace nnterp
