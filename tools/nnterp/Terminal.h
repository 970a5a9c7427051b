// What people see while they wait and when something is wrong.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Json.h"

#include <string>
#include <string_view>

namespace nnterp {

/// Exit statuses of the tools (design.md 8).
enum ExitStatus : int { exitSuccess = 0, exitDiagnosed = 1, exitUsage = 2 };

/// One line on standard error that is drawn again as work goes on, and gone when it is done. Nothing is drawn unless
/// standard error is a terminal.
class ProgressBar {
public:
  explicit ProgressBar(bool wanted);
  ~ProgressBar() { clear(); }
  void show(std::string_view phase, double fraction);
  void clear();
  /// Clears it, and draws nothing more: from now on the terminal is for something else.
  void stop();

private:
  bool enabled;
  std::string drawn;
};

/// Errors and, unless `quiet`, notes to standard error. Returns exitDiagnosed if there are errors, else exitSuccess.
int report(const Diagnostics &diags, bool quiet = false);

/// `[{"code": …, "severity": …, "file": …, "line": …, "col": …, "message": …, "notes": […]}, …]`
Json toJson(const Diagnostics &diags);

/// Writes a result to standard output; exitDiagnosed (NNT0102) when it cannot be written.
int print(std::string_view text);

} // namespace nnterp
