// Aligned memory without contents.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace nnterp::gpu::emulator {

/// Grows, never shrinks; what it held is lost when it grows.
class Buffer {
public:
  Buffer() = default;
  ~Buffer() { std::free(memory); }
  Buffer(Buffer &&other) noexcept : memory(std::exchange(other.memory, nullptr)), size(std::exchange(other.size, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(size, other.size);
    return *this;
  }

  char *reserve(uint64_t bytes) {
    if (bytes > size || !memory) {
      std::free(memory);
      size = (bytes + 255) / 256 * 256 + 256;
      memory = static_cast<char *>(std::aligned_alloc(256, size));
    }
    return memory;
  }
  char *data() const { return memory; }

private:
  char *memory = nullptr;
  uint64_t size = 0;
};

} // namespace nnterp::gpu::emulator
