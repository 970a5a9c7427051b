// Golden cases: where they are, how one is run, and the rule by which numbers are judged.
#pragma once

#include "runtime/abi/Json.h"
#include "tools/nnterp/RunModel.h"

#include <string>
#include <utility>
#include <vector>

namespace nnterp::test {

/// A folder of tests/data/cases.
struct GoldenCase {
  std::string name, directory, checkpoint, dtype;
  GenerationOptions generation;                            ///< greedy; tokens, end tokens and pad as the case has them
  std::vector<std::pair<std::string, std::string>> inputs; ///< names, and files in the folder
};

/// Every case, by name.
std::vector<GoldenCase> goldenCases();

/// How far a tensor is from its golden, by tests/data/README.md: the rule, and the ratio to the reference's own distance.
struct Distance {
  bool within = true;
  std::string why;     ///< first violation, for the message
  double rms = 0;      ///< of our error, mask values left out
  double ratio = 0;    ///< rms / the reference's rms; 0 where the reference is exact or the tensor holds integers
};
Distance judge(const Tensor &ours, const Tensor &golden, double noiseMax, double noiseRms, bool bfloat16);

/// Runs a case through the path of `nnterp run`; programs are cached in the build folder.
std::optional<RunResult> runCase(const GoldenCase &golden, Diagnostics &diags);

/// All errors as text, for messages.
std::string text(const Diagnostics &diags);

/// Path of a small checkpoint of the test data.
std::string checkpointPath(const std::string &name);

/// A cache for compiled programs that all end-to-end tests share.
std::string testCache();
/// What the environment variable NNTERP_TARGET says tests run on; without it, the CPU.
Target testTarget();
/// A GPU that all runs of the process share, as it takes long to open; null on other targets, where every run makes its own.
std::shared_ptr<gpu::Device> testDevice();

} // namespace nnterp::test
