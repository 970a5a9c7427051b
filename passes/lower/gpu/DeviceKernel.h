// A kernel while it is being written: its function, what it is given, and its launch.
#pragma once

#include "passes/lower/cpu/PlainBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <array>

namespace nnterp {

/// Writes one kernel and launches it at one place of a host function. Each kernel is a gpu.module of its own with one function of the
/// same name, `KIND_HASH`: the hash is that of its body, so equal kernels are one, and a kernel's name and text depend on nothing but
/// what it does.
///
/// Parameters are bare pointers and 64-bit integers. A memref of the host becomes a pointer and those of its extents that are not known;
/// inside it is a memref again.
class DeviceKernel {
public:
  /// Which extents of memory a kernel is written for: those that types of the host tell, or none, so that equal work on memory of other
  /// extents is the same kernel. In the latter, what stands inside for memory has a dynamic type.
  enum class Extents { ofTypes, none };

  /// `anchor`: the host op that the kernel stands for; the launch is put before it.
  DeviceKernel(mlir::Operation *anchor, llvm::StringRef kind, int64_t threadsPerBlock, Extents known = Extents::ofTypes);

  /// Writes the body; its insertion point is the end of what has been written.
  plain::PlainBuilder b;

  /// A value of the host inside the kernel. Constants, extents, views and loads are made inside; memory and numbers are parameters.
  mlir::Value import(mlir::Value host);
  /// An extent of memory of the host, inside the kernel.
  mlir::Value extent(mlir::Value host, int64_t axis);
  /// Copies a host op with its regions into the body, importing what it uses.
  mlir::Operation *clone(mlir::Operation *op);
  /// What stands inside for a value of the host; set where a body is copied whose arguments are known.
  mlir::IRMapping inside;
  mlir::Operation *anchorOp() const { return anchor; }

  // Indices of the thread and its block, 0-based.
  mlir::Value thread();
  mlir::Value block(unsigned axis = 0);
  /// Memory of a block's threads: static shape, undefined contents.
  mlir::Value shared(mlir::ArrayRef<int64_t> shape, mlir::Type element);
  void barrier();

  /// Runs `body` for every index below `extents` (of the host), a thread per index, the last axis varying fastest, so that neighbours touch
  /// neighbouring memory; then ends the kernel and launches it.
  void perElement(mlir::ValueRange extents, mlir::function_ref<void(mlir::ValueRange at)> body);
  /// Ends the kernel and launches it with these numbers of blocks (host values, index). Nothing is launched when one is 0.
  void launch(std::array<mlir::Value, 3> grid);
  void launch(mlir::Value blocks);

private:
  void importOperands(mlir::Operation *op);
  bool isOfAnyExtents(mlir::Value host);
  mlir::Value importMemory(mlir::Value host);
  mlir::Value parameter(mlir::Value hostScalar);
  void castForViews();
  mlir::gpu::GPUFuncOp named();

  mlir::Operation *anchor;
  mlir::OpBuilder host;
  std::string kind;
  int64_t threads;
  Extents known;
  mlir::gpu::GPUModuleOp module;
  mlir::gpu::GPUFuncOp function;
  mlir::Operation *bodyStart; ///< what is imported stands before it, so that it may be used first in any inner block
  llvm::SmallVector<mlir::Value> operands; ///< of the launch
  llvm::SmallVector<std::pair<mlir::Value, mlir::MemRefType>> memories; ///< that are parameters; their types on the host
  int64_t globals = 0;
};

namespace device {
/// Runs `body` where a condition holds.
void when(plain::PlainBuilder &b, mlir::Value condition, mlir::function_ref<void()> body);
/// The indices of the `flat`-th entry of a domain in row-major order; the first index takes what is left.
llvm::SmallVector<mlir::Value> delinearize(plain::PlainBuilder &b, mlir::Value flat, mlir::ValueRange extents);
} // namespace device

/// The short name of the kernels of an op: where its location says what it was made from, that.
std::string kernelKind(mlir::Operation *op);

} // namespace nnterp
