// Small runs for the end-to-end tests: a plan as text, rows of ids, and bitwise comparison of what comes out.
#pragma once

#include "tests/e2e/Golden.h"

#include <map>
#include <string>
#include <vector>

namespace nnterp::test {

using Rows = std::vector<std::vector<int64_t>>;
using Outputs = std::map<std::string, Tensor>;

/// A folder under the system's temporary one, gone with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  std::string path(const std::string &name) const { return folder + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string &name, const std::string &bytes) const;

private:
  std::string folder;
};

/// Greedy, and no token ends a row.
inline GenerationOptions greedily(int64_t tokens) {
  GenerationOptions options;
  options.tokens = tokens;
  options.greedy = true;
  options.eos.emplace();
  options.pad = 0;
  return options;
}

/// What a test runs. Rows stand right-aligned in a batch with `extraPads` pads before the longest.
struct Setup {
  std::string checkpoint = "tiny-text";
  DType dtype = DType::f32;
  std::string plan; ///< JSON text; errors name it plan.json
  Rows rows = {{5, 17, 3, 200, 41}}; ///< of the input `main`; empty: none is given
  std::map<std::string, Rows> inputs; ///< of a plan with worlds, instead of `rows`
  GenerationOptions generation = greedily(0);
  int64_t chunk = 0;
  std::string saveState, loadState;
  int64_t extraPads = 0;
  std::string cache; ///< "" = testCache()
  Progress progress;
};

std::optional<RunResult> tryRun(const Setup &setup, Diagnostics &diags);
/// A run that has to succeed.
RunResult run(const Setup &setup);
Outputs outputsOf(const RunResult &result);
/// The outputs of a run that has to succeed.
Outputs outputs(const Setup &setup);

/// A plan with taps at these names.
std::string tapPlan(const std::vector<std::string> &names);
/// The names of every value a text model has.
std::vector<std::string> everyName(const std::string &checkpoint);

/// `count` rows of ids below `vocab`, of the given lengths; the same for the same arguments.
Rows someRows(const std::vector<int64_t> &lengths, int64_t vocab);

bool sameBits(const Tensor &a, const Tensor &b);
/// Of sequences that were cut in different ways, on the tests' target: the CPU gives the same bits; kernels of a GPU compute the tokens of
/// a call in chunks, and what they give is close (verify::cutTolerance).
double cutTolerance(DType dtype);
bool agreeAcrossCuts(const Tensor &a, const Tensor &b);
/// Row `b` of an output of `layout` as it would be alone: its last `length` entries of each token axis.
Tensor rowAlone(const Tensor &tensor, Layout layout, int64_t b, int64_t length);

/// Entries [begin, begin + count) of one axis.
Tensor part(const Tensor &tensor, size_t axis, int64_t begin, int64_t count);
/// The index of an axis of a layout; nothing when it has none of that name.
std::optional<size_t> axisOf(Layout layout, std::string_view name);

/// How a command ended and what it printed.
struct Command {
  int status = -1;
  std::string out, err;
};
/// Runs `nnterp` with these arguments, the test's cache and no terminal.
Command nnterpTool(const std::vector<std::string> &arguments);
/// The same for any of the tools; `environment`: settings in the shell's form.
Command runTool(const std::string &tool, const std::vector<std::string> &arguments, const std::string &environment = "");

} // namespace nnterp::test
