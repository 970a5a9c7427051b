// A device that computes nothing and remembers what it was asked for: which kernels a program starts, with which grids and parameters.
#pragma once

#include "runtime/gpu/Device.h"

#include <map>

namespace nnterp::gpu {

/// What the text of a kernel says.
struct KernelText {
  std::vector<int> parameterBytes; ///< by parameter
  bool matrixUnits = false;        ///< it multiplies with mma.sync
};

/// Kernels by name. Reads no more of the text than that; what is no kernel is passed over.
std::map<std::string, KernelText> kernelTexts(std::string_view ptx);

struct NotedLaunch {
  int64_t kernel = 0;
  uint32_t grid[3] = {}, block[3] = {};
  uint32_t dynamicShared = 0;
  std::vector<int64_t> parameters; ///< integers, addresses, or the bits of floating-point numbers

  int64_t blocks() const;
};

/// Addresses are made up, and whatever is read from them is 0.
class RecordingDevice : public Device {
public:
  std::string description() const override { return "recording device"; }
  bool load(std::string_view ptx, const std::vector<KernelSpec> &kernels, Diagnostics &diags) override;
  void *allocate(uint64_t bytes) override;
  void release(void *) override {}
  bool upload(void *, const void *, uint64_t, Diagnostics &) override { return true; }
  bool download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool copy(void *, const void *, uint64_t, Diagnostics &) override { return true; }
  bool launch(const Launch &launch, Diagnostics &diags) override;
  bool wait(Diagnostics &) override { return true; }
  bool beginCapture(Diagnostics &) override { return true; }
  int64_t endCapture(Diagnostics &) override { return 0; }
  bool replay(int64_t, Diagnostics &) override { return true; }
  void forget(int64_t) override {}

  const std::vector<NotedLaunch> &launches() const { return list; }
  void clear() { list.clear(); }
  const std::vector<KernelText> &texts() const { return kernels; } ///< in the order of the program's list
  const std::string &ptx() const { return text; }

private:
  std::string text;
  std::vector<KernelText> kernels;
  std::vector<NotedLaunch> list;
  uint64_t next = uint64_t(1) << 32;
};

} // namespace nnterp::gpu
