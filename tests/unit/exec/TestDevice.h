// A device for tests: its memory is the process's under addresses that nobody else may use, its kernels are functions,
// and nothing is done before somebody waits.
#pragma once

#include "runtime/gpu/Device.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nnterp::test {

class TestDevice : public gpu::Device {
public:
  ~TestDevice() override;

  std::string description() const override { return "test device"; }
  bool checksAccesses() const override { return exact; }
  bool load(std::string_view code, const std::vector<KernelSpec> &kernels, Diagnostics &diags) override;
  void *allocate(uint64_t bytes) override;
  void release(void *memory) override;
  bool upload(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool download(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool copy(void *to, const void *from, uint64_t bytes, Diagnostics &diags) override;
  bool launch(const gpu::Launch &launch, Diagnostics &diags) override;
  bool wait(Diagnostics &diags) override;
  bool beginCapture(Diagnostics &diags) override;
  int64_t endCapture(Diagnostics &diags) override;
  bool replay(int64_t captured, Diagnostics &diags) override;
  void forget(int64_t captured) override { graphs.erase(captured); }

  /// The process's address of `bytes` at one of the device; null, and a failed test, when they are not all in one block.
  void *host(const void *there, uint64_t bytes);

  // What tests look at and decide.
  bool exact = false;             ///< what checksAccesses says
  uint64_t room = ~uint64_t(0);   ///< bytes that can be allocated
  int64_t failAt = -1;            ///< the launch that fails, counted from 0
  int64_t reason = 0;             ///< stored by every launch as failure of entry 1
  uint64_t used = 0, mostUsed = 0;
  int64_t allocations = 0, launches = 0, executed = 0, uploads = 0, uploadedBytes = 0, downloads = 0, captures = 0, replays = 0;
  size_t blocks() const { return memory.size(); }
  size_t recordings() const { return graphs.size(); }

private:
  using Work = std::function<void()>;
  bool allowed(const char *what, Diagnostics &diags);
  void read(const std::vector<uint64_t> &parameters);

  std::map<uint64_t, std::vector<char>> memory; ///< by address
  uint64_t nextAddress = uint64_t(1) << 52;     ///< beyond what a process has
  std::vector<Work> queue, captured;
  std::map<int64_t, std::vector<Work>> graphs;
  int64_t nextGraph = 0;
  bool capturing = false, failed = false;
};

} // namespace nnterp::test
