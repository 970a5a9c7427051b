// Emits the graph of family qwen3_5_moe.
#pragma once

#include "frontend/Config.h"
#include "frontend/names/PointTable.h"

#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace nnterp {

/// The text stack of spec/qwen3_5_moe.md section 3 as a module with one function
/// `@main(%ids: [B,S] i64, %lengths: [B] i64, %positions: [3,B,S] i64)`, one `hybrid.block` per block, and an
/// `nnterp.point` at every row of `points`. `weightTypes` gives storage dtypes by standard key (absent: the config's
/// dtype, else bfloat16); `dtype` is the model dtype of the run (float32 or bfloat16). No weights are read.
mlir::OwningOpRef<mlir::ModuleOp> emitQwen35Moe(mlir::MLIRContext &context, const ModelConfig &config,
                                                const PointTable &points,
                                                const std::map<std::string, DType> &weightTypes, DType dtype);

} // namespace nnterp
