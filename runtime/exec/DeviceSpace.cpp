// Tensors in a device's memory.
#include "runtime/exec/MemorySpace.h"
#include "runtime/gpu/Device.h"

#include <algorithm>
#include <vector>

namespace nnterp {

namespace {

/// Tensors above this are sent at every update: to remember and compare them would cost more.
constexpr uint64_t largestRemembered = uint64_t(1) << 16;

/// Memory of a device, and what was sent there last.
struct Block {
  Block(std::shared_ptr<gpu::Device> device, void *memory, uint64_t bytes)
      : device(std::move(device)), memory(memory), bytes(bytes) {}
  ~Block() { device->release(memory); }
  Block(const Block &) = delete;

  std::shared_ptr<gpu::Device> device;
  void *memory;
  uint64_t bytes;
  std::vector<char> sent;
};

class DeviceSpace : public MemorySpace {
public:
  DeviceSpace(std::shared_ptr<gpu::Device> device, std::function<bool()> makeRoom)
      : device(std::move(device)), makeRoom(std::move(makeRoom)) {}

  bool make(Tensor &here, DType dtype, const Shape &shape, Diagnostics &diags) override {
    return allocate(here, dtype, shape, diags) && clear(here, diags);
  }
  bool mirror(const Tensor &host, Tensor &here, Diagnostics &diags) override {
    const auto *block = static_cast<const Block *>(here.keep.get());
    if (!block || block->bytes != host.bytes())
      return allocate(here, host.dtype, host.shape, diags);
    here.dtype = host.dtype;
    here.shape = host.shape;
    return true;
  }
  bool update(const Tensor &host, Tensor &here, Diagnostics &diags) override {
    if (!mirror(host, here, diags))
      return false;
    auto &block = *static_cast<Block *>(here.keep.get());
    const char *bytes = host.as<char>();
    if (block.bytes == 0 ||
        (block.sent.size() == block.bytes && std::memcmp(block.sent.data(), bytes, block.bytes) == 0))
      return true;
    if (block.bytes <= largestRemembered)
      block.sent.assign(bytes, bytes + block.bytes);
    return device->upload(here.data, bytes, block.bytes, diags);
  }
  bool put(const Tensor &host, Tensor &here, Diagnostics &diags) override {
    return allocate(here, host.dtype, host.shape, diags) &&
           (host.bytes() == 0 || device->upload(here.data, host.data, host.bytes(), diags));
  }
  bool fetch(const Tensor &here, const Tensor &host, Diagnostics &diags) override {
    return host.bytes() == 0 || device->download(host.data, here.data, host.bytes(), diags);
  }
  bool copy(const Tensor &from, uint64_t fromByte, const Tensor &to, uint64_t toByte, uint64_t bytes,
            Diagnostics &diags) override {
    return device->copy(static_cast<char *>(to.data) + toByte, from.as<char>() + fromByte, bytes, diags);
  }

private:
  bool allocate(Tensor &here, DType dtype, const Shape &shape, Diagnostics &diags) {
    here = Tensor(); // what was there may make the room that is needed
    here.dtype = dtype;
    here.shape = shape;
    void *memory = device->allocate(here.bytes());
    if (!memory && makeRoom && makeRoom())
      memory = device->allocate(here.bytes());
    if (!memory) {
      diags.error("NNT1742", {},
                  "the device (" + device->description() + ") has no memory left for a tensor of " +
                      std::to_string(here.bytes()) + " bytes, " + std::string(name(dtype)) + " " + toString(shape) +
                      "; a smaller batch, fewer taps or a shorter prompt needs less");
      return false;
    }
    here.data = memory;
    here.keep = std::make_shared<Block>(device, memory, here.bytes());
    return true;
  }

  /// Zeros are sent once and doubled on the device.
  bool clear(const Tensor &here, Diagnostics &diags) {
    static const std::vector<char> zeros(size_t(1) << 16);
    const uint64_t bytes = here.bytes();
    uint64_t done = std::min<uint64_t>(bytes, zeros.size());
    bool good = bytes == 0 || device->upload(here.data, zeros.data(), done, diags);
    for (uint64_t piece = 0; good && done < bytes; done += piece) {
      piece = std::min(done, bytes - done);
      good = copy(here, 0, here, done, piece, diags);
    }
    return good;
  }

  std::shared_ptr<gpu::Device> device;
  std::function<bool()> makeRoom;
};

} // namespace

std::unique_ptr<MemorySpace> deviceSpace(std::shared_ptr<gpu::Device> device, std::function<bool()> makeRoom) {
  return std::make_unique<DeviceSpace>(std::move(device), std::move(makeRoom));
}

} // namespace nnterp
