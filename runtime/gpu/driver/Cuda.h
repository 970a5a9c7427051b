// GPUs of this machine, through the CUDA driver. Nothing of CUDA is needed to build: the driver's library is opened when it is wanted.
#pragma once

#include "runtime/gpu/Device.h"

#include <memory>

namespace nnterp::gpu {

struct CudaOptions {
  int ordinal = 0;      ///< which GPU, as the driver counts them
  std::string library;  ///< the driver's library; "" = libcuda.so.1, wherever the system looks for libraries
};

/// Opens a GPU. Errors: NNT1740 (no driver, or one that is too old), NNT1744 (no such GPU), NNT1745 (a call of the driver failed); later NNT1746
/// (the driver refuses the PTX, with what its compiler says) and NNT1745.
std::unique_ptr<Device> openCuda(const CudaOptions &options, Diagnostics &diags);

} // namespace nnterp::gpu
