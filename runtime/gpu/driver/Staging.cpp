// Copies through pinned memory.
#include "runtime/gpu/driver/Staging.h"

#include <algorithm>
#include <cstring>

namespace nnterp::gpu {

Staging::~Staging() {
  for (Half &half : halves) {
    if (half.done)
      api.eventDestroy(half.done);
    if (half.memory)
      api.hostFree(half.memory);
  }
}

CUresult Staging::prepare(Half &half) {
  if (half.memory)
    return cu::success;
  void *memory = nullptr;
  CUresult result = api.hostAllocate(&memory, halfBytes, 0);
  if (result != cu::success)
    return result;
  half.memory = static_cast<char *>(memory);
  return api.eventCreate(&half.done, cu::eventDisableTiming);
}

/// Goes on with the other half, when the copies out of it are done.
CUresult Staging::turn(CUstream stream) {
  CUresult result = api.eventRecord(halves[current].done, stream);
  if (result != cu::success)
    return result;
  current = 1 - current;
  Half &next = halves[current];
  result = prepare(next);
  if (result == cu::success && next.used > 0)
    result = api.eventSynchronize(next.done);
  next.used = 0;
  return result;
}

CUresult Staging::upload(CUdeviceptr to, const void *from, uint64_t bytes, CUstream stream) {
  CUresult result = prepare(halves[current]);
  for (uint64_t done = 0, piece = 0; result == cu::success && done < bytes; done += piece) {
    // Small pieces stand side by side in a half, so that a step's inputs wait for nothing.
    if (halves[current].used == halfBytes ||
        (halves[current].used > 0 && bytes - done > halfBytes - halves[current].used))
      result = turn(stream);
    if (result != cu::success)
      break;
    Half &half = halves[current];
    piece = std::min(bytes - done, halfBytes - half.used);
    std::memcpy(half.memory + half.used, static_cast<const char *>(from) + done, piece);
    result = api.copyToDevice(to + done, half.memory + half.used, piece, stream);
    half.used = std::min(halfBytes, half.used + (piece + 255) / 256 * 256);
  }
  return result;
}

CUresult Staging::download(void *to, CUdeviceptr from, uint64_t bytes, CUstream stream) {
  uint64_t asked = 0, taken = 0, sizes[2] = {0, 0};
  int fill = 0, empty = 0, flying = 0;
  while (taken < bytes) {
    for (; asked < bytes && flying < 2; fill = 1 - fill, ++flying) {
      Half &half = halves[fill];
      sizes[fill] = std::min(bytes - asked, halfBytes);
      CUresult result = prepare(half);
      if (result == cu::success)
        result = api.copyToHost(half.memory, from + asked, sizes[fill], stream);
      if (result == cu::success)
        result = api.eventRecord(half.done, stream);
      if (result != cu::success)
        return result;
      asked += sizes[fill];
    }
    const CUresult result = api.eventSynchronize(halves[empty].done);
    if (result != cu::success)
      return result;
    std::memcpy(static_cast<char *>(to) + taken, halves[empty].memory, sizes[empty]);
    taken += sizes[empty];
    empty = 1 - empty;
    --flying;
  }
  return cu::success;
}

} // namespace nnterp::gpu
