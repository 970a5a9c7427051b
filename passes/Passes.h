// Declarations of the project's passes.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace mlir {
class ModuleOp;
namespace arith { class ArithDialect; }
namespace bufferization { class BufferizationDialect; }
namespace gpu { class GPUDialect; class GPUModuleOp; }
namespace func { class FuncDialect; class FuncOp; }
namespace linalg { class LinalgDialect; }
namespace LLVM { class LLVMDialect; }
namespace math { class MathDialect; }
namespace NVVM { class NVVMDialect; }
namespace memref { class MemRefDialect; }
namespace scf { class SCFDialect; }
namespace tensor { class TensorDialect; }
} // namespace mlir

namespace nnterp {
class NnterpDialect;
namespace device { class DeviceDialect; }
namespace hybrid { class HybridDialect; }

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace nnterp
