// A persistent set of threads.
#include "runtime/gpu/emulator/run/Pool.h"

namespace nnterp::gpu::emulator {

Pool::Pool(int threads) {
  for (int t = 1; t < threads; ++t)
    helpers.emplace_back([this, t] { loop(t); });
}

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    ending = true;
  }
  wake.notify_all();
  for (std::thread &helper : helpers)
    helper.join();
}

void Pool::run(int count, const std::function<void(int)> &task) {
  if (count > 1) {
    std::lock_guard<std::mutex> lock(mutex);
    work = &task;
    wanted = count;
    left = count - 1;
    ++round;
  }
  if (count > 1)
    wake.notify_all();
  task(0);
  if (count > 1) {
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [&] { return left == 0; });
  }
}

void Pool::loop(int number) {
  uint64_t seen = 0;
  for (;;) {
    const std::function<void(int)> *task = nullptr;
    {
      std::unique_lock<std::mutex> lock(mutex);
      wake.wait(lock, [&] { return ending || round != seen; });
      if (ending)
        return;
      seen = round;
      if (number < wanted)
        task = work;
    }
    if (!task)
      continue;
    (*task)(number);
    std::lock_guard<std::mutex> lock(mutex);
    if (--left == 0)
      done.notify_one();
  }
}

} // namespace nnterp::gpu::emulator
