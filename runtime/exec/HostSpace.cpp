// Tensors in the process's own memory.
#include "runtime/exec/MemorySpace.h"

namespace nnterp {

namespace {

class HostSpace : public MemorySpace {
public:
  bool make(Tensor &here, DType dtype, const Shape &shape, Diagnostics &) override {
    here = Tensor::make(dtype, shape);
    return true;
  }
  bool mirror(const Tensor &host, Tensor &here, Diagnostics &) override {
    here = host;
    return true;
  }
  bool update(const Tensor &host, Tensor &here, Diagnostics &) override {
    here = host;
    return true;
  }
  bool put(const Tensor &host, Tensor &here, Diagnostics &) override {
    here = host.to(host.dtype);
    return true;
  }
  bool fetch(const Tensor &here, const Tensor &host, Diagnostics &) override {
    if (here.data != host.data)
      std::memcpy(host.data, here.data, host.bytes());
    return true;
  }
  bool copy(const Tensor &from, uint64_t fromByte, const Tensor &to, uint64_t toByte, uint64_t bytes,
            Diagnostics &) override {
    std::memcpy(static_cast<char *>(to.data) + toByte, from.as<char>() + fromByte, bytes);
    return true;
  }
};

} // namespace

MemorySpace &hostSpace() {
  static HostSpace space;
  return space;
}

} // namespace nnterp
