// Runs a program that gets its input at once and answers at once, within limits of time and size.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nnterp {

struct ChildLimits {
  std::chrono::milliseconds time{30000};
  size_t bytes = size_t(16) << 20; ///< of standard output, and as much again of standard error
};

struct ChildResult {
  enum class End {
    finished,   ///< by itself: `status` says how
    notStarted, ///< `error` says why: no such program, no memory
    tooSlow,    ///< stopped when its time was over
    tooMuch,    ///< stopped when it had written more than it may
  } end = End::finished;
  int status = 0; ///< of waitpid; 0: success
  std::string out, err, error;
};

/// Runs `arguments[0]`, looked for in PATH, with `input` on its standard input, to its end. It inherits the environment.
ChildResult runChild(const std::vector<std::string> &arguments, std::string_view input, const ChildLimits &limits);

} // namespace nnterp
