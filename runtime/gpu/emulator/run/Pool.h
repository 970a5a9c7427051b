// Threads that wait for work: all of them, and the caller, take blocks of a launch from a common counter.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace nnterp::gpu::emulator {

class Pool {
public:
  explicit Pool(int threads); ///< the caller included
  ~Pool();
  Pool(const Pool &) = delete;

  int threads() const { return int(helpers.size()) + 1; }
  /// Calls `work(t)` once for each of the first `count` threads, at once; 0 is the caller. Returns when all are done.
  void run(int count, const std::function<void(int)> &work);

private:
  void loop(int number);

  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(int)> *work = nullptr;
  uint64_t round = 0;
  int wanted = 0, left = 0;
  bool ending = false;
  std::vector<std::thread> helpers;
};

} // namespace nnterp::gpu::emulator
