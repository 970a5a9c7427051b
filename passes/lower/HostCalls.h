// What generated host code does with the frame and the host's table (runtime/abi/Frame.h).
#pragma once

#include "runtime/abi/Frame.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nnterp {

/// The pointer that the executor sets before a call.
constexpr llvm::StringLiteral hostSymbol = "nnterp_host";

/// Emits loads from the frame and calls of the host.
class RunBuilder {
public:
  RunBuilder(mlir::Operation *before)
      : b(before->getLoc(), before), pointer(mlir::LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()) {}
  RunBuilder(mlir::Location loc, mlir::Block *end)
      : b(loc, atEnd(loc.getContext(), end)), pointer(mlir::LLVM::LLVMPointerType::get(b.getContext())), i64(b.getI64Type()) {}

  mlir::Value constant(int64_t value) { return mlir::LLVM::ConstantOp::create(b, i64, value); }

  /// The address `offset` bytes behind `base`.
  mlir::Value address(mlir::Value base, int64_t offset) {
    if (offset == 0)
      return base;
    return mlir::LLVM::GEPOp::create(b, pointer, b.getI8Type(), base, llvm::ArrayRef<mlir::LLVM::GEPArg>(int32_t(offset)));
  }

  /// Loads what `offset` bytes behind `base` holds. `constantInRun`: no store of the program changes it.
  mlir::Value load(mlir::Type type, mlir::Value base, int64_t offset, bool constantInRun) {
    auto load = mlir::LLVM::LoadOp::create(b, type, address(base, offset), /*alignment=*/8);
    load.setInvariant(constantInRun);
    return load;
  }

  /// Calls a service of the host with its context as first argument.
  mlir::Value callHost(int64_t offset, mlir::Type result, llvm::ArrayRef<mlir::Value> arguments) {
    mlir::Value host = load(pointer, mlir::LLVM::AddressOfOp::create(b, pointer, hostSymbol), 0, false);
    mlir::Value callee = load(pointer, host, offset, false);
    llvm::SmallVector<mlir::Type> types{pointer};
    llvm::SmallVector<mlir::Value> operands{callee, load(pointer, host, offsetof(abi::Host, context), false)};
    for (mlir::Value argument : arguments) {
      types.push_back(argument.getType());
      operands.push_back(argument);
    }
    auto call = mlir::LLVM::CallOp::create(b, mlir::LLVM::LLVMFunctionType::get(result, types), operands);
    return call->getNumResults() ? call->getResult(0) : mlir::Value();
  }

  mlir::ImplicitLocOpBuilder b;
  mlir::Type pointer;
  mlir::IntegerType i64;

private:
  static mlir::OpBuilder atEnd(mlir::MLIRContext *context, mlir::Block *end) {
    mlir::OpBuilder builder(context);
    builder.setInsertionPointToEnd(end);
    return builder;
  }
};

} // namespace nnterp
