// The plain lowering, one function per area of the model: each gives the values that replace an op's results, or
// nothing if the op is not of its area.
#pragma once

#include "PlainBuilder.h"

#include <optional>

namespace nnterp {
class EditOp;
}

namespace nnterp::plain {

using Results = SmallVector<Value>;

std::optional<Results> lowerBasics(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerDelta(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerMemory(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerAttention(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerImages(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerMixture(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerPlan(PlainBuilder &b, mlir::Operation *op);
std::optional<Results> lowerRouting(PlainBuilder &b, mlir::Operation *op);

/// An edit's result at one index: the entry `old` of its value there, or what the edit makes of it. `offset`: as the
/// op's own.
Value editEntry(PlainBuilder &b, EditOp op, ValueRange at, Value offset, Value old);

} // namespace nnterp::plain
