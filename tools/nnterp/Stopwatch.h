// Measures the steps of a run.
#pragma once

#include <chrono>

namespace nnterp {

class Stopwatch {
public:
  /// Milliseconds since the last lap.
  double lap() {
    const auto now = Clock::now();
    const double elapsed = milliseconds(now - last);
    last = now;
    return elapsed;
  }
  double total() const { return milliseconds(Clock::now() - start); }

private:
  using Clock = std::chrono::steady_clock;
  static double milliseconds(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }
  Clock::time_point start = Clock::now(), last = start;
};

} // namespace nnterp
