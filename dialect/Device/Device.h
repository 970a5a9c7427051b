// The device dialect: kernels of a GPU before they are written.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "dialect/Device/DeviceDialect.h.inc"
#define GET_OP_CLASSES
#include "dialect/Device/DeviceOps.h.inc"

namespace nnterp::device {

/// Lets one-shot bufferization carry the dialect's ops from tensors to memory.
void registerBufferization(mlir::DialectRegistry &registry);

} // namespace nnterp::device
