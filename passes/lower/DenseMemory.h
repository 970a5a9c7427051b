// Memory that is known by its address and extents, as a memref.
#pragma once

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace nnterp {

/// A memref of a row-major type over the memory at `data`. `extent(axis)` gives the extents of its dynamic axes as 64-bit integers; it is
/// asked from the last axis to the first.
inline mlir::Value denseMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::MemRefType type, mlir::Value data,
                               const mlir::LLVMTypeConverter &converter, llvm::function_ref<mlir::Value(int64_t axis)> extent) {
  auto constant = [&](int64_t value) -> mlir::Value { return mlir::LLVM::ConstantOp::create(b, loc, b.getI64Type(), value); };
  auto descriptor = mlir::MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, data);
  descriptor.setAlignedPtr(b, loc, data);
  descriptor.setConstantOffset(b, loc, 0);
  mlir::Value stride = constant(1);
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis) {
    mlir::Value size = type.isDynamicDim(unsigned(axis)) ? extent(axis) : constant(type.getDimSize(unsigned(axis)));
    descriptor.setSize(b, loc, unsigned(axis), size);
    descriptor.setStride(b, loc, unsigned(axis), stride);
    if (axis > 0)
      stride = mlir::LLVM::MulOp::create(b, loc, stride, size);
  }
  return mlir::UnrealizedConversionCastOp::create(b, loc, type, mlir::Value(descriptor)).getResult(0);
}

} // namespace nnterp
