// Where the tensors that a program works on live: in the host's memory, or in a device's.
#pragma once

#include "runtime/abi/Diagnostic.h"
#include "runtime/abi/Tensor.h"

#include <functional>
#include <memory>

namespace nnterp {

namespace gpu {
class Device;
}

/// A tensor of a space is an ordinary `Tensor` whose `data` is an address there; `keep` gives the memory back. All of
/// it false with an error when there is no memory left, or the device has failed: NNT1742, and those of gpu::Device.
class MemorySpace {
public:
  virtual ~MemorySpace() = default;

  /// A zeroed tensor.
  virtual bool make(Tensor &here, DType dtype, const Shape &shape, Diagnostics &diags) = 0;
  /// What a program gets where the run has `host`, unfilled: that tensor itself, or one that takes its place here.
  /// `here` is used again where it fits.
  virtual bool mirror(const Tensor &host, Tensor &here, Diagnostics &diags) = 0;
  /// The same with the contents of `host`; small tensors that are as they were in the last update are not sent again,
  /// so nothing else may write `here`.
  virtual bool update(const Tensor &host, Tensor &here, Diagnostics &diags) = 0;
  /// A copy of its own.
  virtual bool put(const Tensor &host, Tensor &here, Diagnostics &diags) = 0;
  /// The contents of `here` into `host`, of the same size.
  virtual bool fetch(const Tensor &here, const Tensor &host, Diagnostics &diags) = 0;
  /// Bytes of one tensor to another, both here.
  virtual bool copy(const Tensor &from, uint64_t fromByte, const Tensor &to, uint64_t toByte, uint64_t bytes,
                    Diagnostics &diags) = 0;
};

/// The process's own memory: mirrors are the host's tensors themselves.
MemorySpace &hostSpace();

/// The memory of a device, which lives as long as any tensor on it. `makeRoom` is asked when there is none left, and
/// says whether it gave some back.
std::unique_ptr<MemorySpace> deviceSpace(std::shared_ptr<gpu::Device> device, std::function<bool()> makeRoom = {});

} // namespace nnterp
