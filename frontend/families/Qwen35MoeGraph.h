// Emits the graph of family qwen3_5_moe.
#pragma once

#include "frontend/Config.h"
#include "frontend/names/PointTable.h"
#include "frontend/plan/Resolved.h"

#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <set>
#include <string>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace nnterp {

/// The text stack of spec/qwen3_5_moe.md section 3 as a module with a function
/// `@main(%ids: [B,S] i64, %lengths: [B] i64, %positions: [3,B,S] i64, %pads: [B] i64)` for calls on the prompt, one
/// `hybrid.block` per block, and an `nnterp.point` at every row of `points`. `weightTypes` gives storage dtypes by standard
/// key (absent: the config's dtype, else bfloat16); `dtype` is the model dtype of the run (float32 or bfloat16). No weights
/// are read. As `shape` asks, there is a function `@step` for generated tokens, and what the sequence's memory needs:
/// `%past: [B] i64` and `%total: [1] i64` after the other arguments of a function that starts from memory, `hybrid.memory`
/// and `hybrid.remember`. With `images`, there is a function `@images` (Qwen35MoeVisionGraph.h), and `@main` takes
/// `%image_rows: [B,S] i64` after `%pads`: the image feature that stands at each token, -1 for text. With `next`, the logits that the next token is chosen from are the point `next_logits`.
mlir::OwningOpRef<mlir::ModuleOp> emitQwen35Moe(mlir::MLIRContext &context, const ModelConfig &config,
                                                const PointTable &points,
                                                const std::map<std::string, DType> &weightTypes, DType dtype,
                                                const RunShape &shape = {},
                                                const std::set<std::string> &segmentPoints = {});

} // namespace nnterp
