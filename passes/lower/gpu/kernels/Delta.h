// The kernels of gated DeltaNet: the short convolution, and those of the delta rule, for one row and value head each.
//
// The latter take, as inputs, queries and keys [B,S,HV,DK], values [B,S,HV,DV], decays and betas [B,S,HV] and lengths [B].
#pragma once

#include "dialect/Hybrid/Hybrid.h"
#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "passes/lower/gpu/kernels/Warp.h"

namespace nnterp::device {

/// What the kernels of the delta rule know: where the block works, and what stands there.
class DeltaKernel {
public:
  DeltaKernel(KernelOp op, llvm::StringRef name, int64_t columnsPerBlock);

protected:
  static constexpr int64_t threads = 128;
  enum Input : unsigned { queries, keys, values, decays, betas, lengths, initial };

  /// An entry of an input as float32; 0 where `exists` is false.
  mlir::Value read(Input input, mlir::ValueRange at, mlir::Value exists);
  mlir::Value read(Input input, mlir::ValueRange at);
  mlir::Value exp(mlir::Value x);
  mlir::Value real(double value) { return b.real(b.getF32Type(), value); }
  mlir::Value memory(Input input) { return kernel.import(op.getInputs()[input]); }
  void launch();

  KernelOp op;
  int64_t depth, width; ///< DK, DV
  int64_t columns;      ///< of the state, that a block works on
  DeviceKernel kernel;
  PlainBuilder &b;
  mlir::Value row, head, firstColumn, sequence, length; ///< of the block; S; tokens of its row
};

/// Token by token, the state in registers, edited between a token and its result. `shortOnly`: rows of one token or none.
void buildDeltaSteps(KernelOp op, bool shortOnly);
/// Rows of several tokens, in chunks that are counted from a row's first token.
void buildDeltaChunks(KernelOp op);
/// Whether a chunk of these extents finds place in shared memory.
bool chunksFit(KernelOp op);

/// Whether a kernel's state_edit does anything at all for `at`: row, token, head.
mlir::Value isEdited(DeviceKernel &kernel, mlir::Region &edit, mlir::ValueRange at);
/// What it makes of some entries that one thread has: `places` are their indices.
llvm::SmallVector<mlir::Value> editEntries(DeviceKernel &kernel, mlir::Region &edit, llvm::ArrayRef<llvm::SmallVector<mlir::Value>> places,
                                           mlir::ValueRange entries);

Results chooseShortConv(PlainBuilder &b, hybrid::ShortConvOp op);
void buildShortConv(KernelOp op);

} // namespace nnterp::device
