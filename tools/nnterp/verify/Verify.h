// Holds a checkpoint's values against what the family promises, and runs against each other (design.md 8, nnterp verify).
#pragma once

#include "tools/nnterp/verify/Check.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nnterp::verify {

/// Makes one of the runs; a test's may alter what comes out.
using RunFunction = std::function<std::optional<RunResult>(RunKind, const RunOptions &, Diagnostics &)>;

struct VerifyOptions {
  std::string checkpoint;
  std::vector<InputArgument> inputs; ///< texts and ids; none: rows of ids made from the vocabulary
  std::optional<DType> dtype;
  int64_t generate = 3;              ///< tokens per row, at least 3: two are fed back
  int64_t chunk = 2;                 ///< columns per piece of the prompt
  bool allBlocks = false;            ///< else the first linear, the first full and the last one
  std::vector<std::string> only;     ///< names of checks; none: all
  Target target = Target::cpu;
  std::shared_ptr<gpu::Device> onDevice; ///< for all runs; null: verifyModel opens one where the target has one
  bool useCache = true;
  std::string cacheDir;              ///< "" = ProgramCache::defaultRoot()
  Progress progress;                 ///< gets the check and how much of everything is done; may be empty
  RunFunction run;                   ///< empty: runModel
};

struct Outcome {
  const Check *check;
  std::vector<int64_t> blocks; ///< that were looked at
  Findings findings;
};

struct VerifyReport {
  std::string checkpoint;
  DType dtype = DType::f32;
  std::vector<std::vector<int64_t>> rows;
  int64_t generate = 0;
  std::vector<Outcome> outcomes;
  double milliseconds = 0;

  size_t failures() const;
};

/// Checks of one checkpoint. Runs are made when a check first needs them, and kept until they are released.
class Verifier {
public:
  /// Reads the configuration, the headers of the weights and the prompts. Errors: those of runModel on them.
  static std::optional<Verifier> open(const VerifyOptions &options, Diagnostics &diags);
  ~Verifier();
  Verifier(Verifier &&) noexcept;

  /// Errors: those of the runs; a promise that does not hold is no error but an outcome.
  std::optional<Outcome> judge(const Check &check, Diagnostics &diags);
  /// Forgets the runs that none of these checks needs.
  void releaseAllBut(const std::vector<const Check *> &coming);
  /// How many runs these checks take.
  size_t runsOf(const std::vector<const Check *> &checks) const;

  DType dtype() const;
  const std::vector<std::vector<int64_t>> &rows() const;

private:
  class Session;
  explicit Verifier(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session;
};

/// Runs the checks. Nothing when something could not be run or an option is wrong; a check that fails is in the report, and an
/// error.
/// Errors: those of the runs, NNT1501 for each check that fails, NNT1502.
std::optional<VerifyReport> verifyModel(const VerifyOptions &options, Diagnostics &diags);

/// Aligned columns: check, blocks, result, largest difference, promise; below it what was expected and found where a check failed.
std::string reportText(const VerifyReport &report);
std::string reportJson(const VerifyReport &report);
/// Names and promises.
std::string checkList();

} // namespace nnterp::verify
