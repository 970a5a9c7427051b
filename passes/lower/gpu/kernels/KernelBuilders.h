// The kernels that are written by hand-made builders: which ops get them, and who writes them.
//
// A kernel of this kind is chosen on tensors: an area's choose function replaces an op of the model by one or more device.kernel ops, or
// leaves it to the plain lowering. Later, on memory, its builder writes the kernel. In between, elementwise readers of its result (edits,
// taps, the next op of the model) move into its epilogue.
#pragma once

#include "dialect/Device/Device.h"
#include "passes/lower/cpu/LowerPlainOps.h"
#include "passes/lower/gpu/DeviceKernel.h"

namespace nnterp::device {

using plain::PlainBuilder;
using plain::Results;

/// What stands in an epilogue at first: each accumulator, converted to the element type of its out.
struct Out {
  mlir::RankedTensorType type;
  llvm::SmallVector<mlir::Value> sizes; ///< extents of its dynamic axes
  mlir::Type accumulator;               ///< what the builder hands over for it
};

/// A device.kernel whose outs (all of one domain) are fresh tensors and whose states are written in place.
KernelOp makeKernel(PlainBuilder &b, llvm::StringRef builder, mlir::ValueRange inputs, llvm::ArrayRef<Out> outs,
                    mlir::ValueRange states = {}, llvm::ArrayRef<mlir::NamedAttribute> config = {});

/// Up to how many entries of tables the kernel of a value looks at per element, to write the region that they select itself; with more a
/// kernel of its own gathers the region.
inline constexpr int64_t scatteredEntries = 32;

/// The extents of a memref of the host, computed before `op`.
llvm::SmallVector<mlir::Value> extentsOf(KernelOp op, mlir::Value memory);

/// The end of a kernel's work on one index: runs the epilogue on what the builder has computed, and writes its results.
class Epilogue {
public:
  Epilogue(DeviceKernel &kernel, KernelOp op) : kernel(kernel), op(op) {}
  void store(mlir::ValueRange indices, mlir::ValueRange accumulators);

private:
  DeviceKernel &kernel;
  KernelOp op;
};

// What replaces an op; nothing where an area has no kernel for it (or not for its types and extents).
std::optional<Results> chooseAttention(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> chooseDelta(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> chooseMemory(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> chooseMixture(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> chooseNorms(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> chooseProducts(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> chooseViews(PlainBuilder &b, mlir::Operation *op);

/// Whether a kernel reads an operand element by element, so that it may be a view.
bool readsElements(KernelOp op, mlir::OpOperand &operand);

// Writes a kernel of the area and launches it in the place of the op, which the caller erases; false: not of this area.
bool buildAttention(KernelOp op);
bool buildDelta(KernelOp op);
bool buildMemory(KernelOp op);
bool buildMixture(KernelOp op);
bool buildNorms(KernelOp op);
bool buildProducts(KernelOp op);

} // namespace nnterp::device
