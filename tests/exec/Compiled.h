// Compiles a module in the form of stage `kernels` to a shared object, opens it, and runs it on memory of the test.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Frame.h"

#include <memory>
#include <string>
#include <vector>

namespace nnterp::test {

/// Runs the CPU pipelines over MLIR text and emits a shared object for the tier; empty on failure.
std::string compileText(const std::string &mlir, const std::string &tier, Diagnostics &diags);

/// The tiers this machine can run.
std::vector<std::string> runnableTiers();

/// A slot of the descriptor table over memory of the test.
template <typename T> abi::Slot slot(std::vector<T> &data, std::vector<int64_t> sizes) {
  abi::Slot result{data.data(), {}};
  for (size_t i = 0; i < sizes.size(); ++i)
    result.sizes[i] = sizes[i];
  return result;
}

/// An opened program, with a host that counts what it does.
class Program {
public:
  explicit Program(const std::string &soBytes);
  ~Program();
  Program(const Program &) = delete;

  bool opened() const { return handle != nullptr; }
  /// Calls the function of that name on a table of slots; false when there is none.
  bool run(const char *function, const std::vector<abi::Slot> &slots);

  struct Event {
    std::string what;
    int64_t first, second;
  };
  std::vector<Event> events; ///< progress and failures, in order
  int64_t allocations = 0, releases = 0;
  std::string error; ///< what dlopen said

private:
  void *handle = nullptr;
  abi::Host host;
};

} // namespace nnterp::test
