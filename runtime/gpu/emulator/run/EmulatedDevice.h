// The device: modules, memory, launches, captured launches.
#pragma once

#include "runtime/gpu/emulator/Emulator.h"
#include "runtime/gpu/emulator/run/Execution.h"
#include "runtime/gpu/emulator/run/GlobalMemory.h"
#include "runtime/gpu/emulator/run/Pool.h"

#include <memory>
#include <optional>

namespace nnterp::gpu::emulator {

/// A launch with its parameters' values.
struct RecordedLaunch {
  int64_t kernel;
  uint32_t grid[3], block[3], dynamicShared;
  std::vector<uint8_t> params;
};

class EmulatedDevice : public Device {
public:
  explicit EmulatedDevice(const EmulatorOptions &options);

  std::string description() const override;
  bool checksAccesses() const override { return true; }
  bool load(std::string_view ptx, const std::vector<KernelSpec> &kernels, Diagnostics &diags) override;
  void *allocate(uint64_t bytes) override;
  void release(void *memory) override;
  bool upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool launch(const Launch &launch, Diagnostics &diags) override;
  bool wait(Diagnostics &diags) override;
  bool beginCapture(Diagnostics &diags) override;
  int64_t endCapture(Diagnostics &diags) override;
  bool replay(int64_t captured, Diagnostics &diags) override;
  void forget(int64_t captured) override;

private:
  bool fail(const char *code, std::string message, Diagnostics &diags);
  bool ready(const char *what, Diagnostics &diags);
  bool hostRange(const char *what, const void *memory, uint64_t bytes, bool reads, Diagnostics &diags);
  bool placeVariables(Diagnostics &diags);
  bool placeVariable(const Variable &variable, Placement &placement, Diagnostics &diags);
  bool fillAddresses(const Variable &variable, const Placement &placement, Diagnostics &diags);
  std::optional<RecordedLaunch> record(const Launch &launch, Diagnostics &diags);
  bool checkGeometry(const KernelCode &code, const Launch &launch, Diagnostics &diags);
  void findRegions(const RecordedLaunch &launch, LaunchState &state);
  bool execute(const RecordedLaunch &launch, Diagnostics &diags);

  const EmulatorOptions options;
  Pool pool;
  GlobalMemory memory;
  std::vector<Execution> workers;
  std::unique_ptr<Module> module;
  std::vector<KernelSpec> specs;
  std::vector<std::unique_ptr<KernelCode>> codes;
  std::map<uint64_t, std::pair<std::string, bool>> variables; ///< address to name and whether it is constant
  Placement placement;
  bool dead = false;

  bool capturing = false, spoiled = false;
  std::vector<RecordedLaunch> recording;
  std::map<int64_t, std::vector<RecordedLaunch>> graphs;
  int64_t nextGraph = 0;
};

} // namespace nnterp::gpu::emulator
