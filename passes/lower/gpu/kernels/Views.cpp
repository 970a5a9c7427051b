// What only names elements in another way: heads of a projection, exchanged axes. Readers read through a view; nothing
// is copied.
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "dialect/Hybrid/Hybrid.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// A view of the last two axes: `last(head, d)` are the source's indices there.
Value viewHeads(PlainBuilder &b, Value source, RankedTensorType type,
                function_ref<SmallVector<AffineExpr>(AffineExpr head, AffineExpr d)> last) {
  auto rank = unsigned(type.getRank());
  SmallVector<AffineExpr> at;
  for (unsigned axis = 0; axis + 2 < rank; ++axis)
    at.push_back(b.getAffineDimExpr(axis));
  llvm::append_range(at, last(b.getAffineDimExpr(rank - 2), b.getAffineDimExpr(rank - 1)));
  return ViewOp::create(b, type, source, AffineMap::get(rank, 0, at, b.getContext()));
}

/// The heads that are in the projection, each once.
Value viewOnce(PlainBuilder &b, hybrid::HeadsOp op) {
  auto type = plain::typeOf(op.getResult());
  SmallVector<int64_t> shape(type.getShape());
  shape[shape.size() - 2] /= int64_t(op.getRepeat());
  return viewHeads(b, op.getInput(), type.clone(shape), [&](AffineExpr head, AffineExpr d) -> SmallVector<AffineExpr> {
    return {head * int64_t(op.getStride()) + int64_t(op.getOffset()) + d};
  });
}

Value repeatHeads(PlainBuilder &b, Value heads, RankedTensorType type, int64_t repeat) {
  if (repeat == 1)
    return heads;
  return viewHeads(b, heads, type, [&](AffineExpr head, AffineExpr d) -> SmallVector<AffineExpr> {
    return {head.floorDiv(repeat), d};
  });
}

} // namespace

std::optional<Results> chooseViews(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case([&](hybrid::HeadsOp heads) {
        return Results{repeatHeads(b, viewOnce(b, heads), plain::typeOf(heads.getResult()), heads.getRepeat())};
      })
      .Case([&](hybrid::SwapHeadsOp swap) {
        SmallVector<AffineExpr> at;
        for (unsigned axis : {0, 2, 1, 3})
          at.push_back(b.getAffineDimExpr(axis));
        return Results{ViewOp::create(b, plain::typeOf(swap.getResult()), swap.getInput(),
                                      AffineMap::get(4, 0, at, b.getContext()))};
      })
      .Case([&](hybrid::L2NormOp norm) -> std::optional<Results> {
        // Heads that are repeated and then normalised are normalised once.
        auto heads = norm.getInput().getDefiningOp<hybrid::HeadsOp>();
        if (!heads || heads.getRepeat() == 1)
          return std::nullopt;
        auto once = hybrid::L2NormOp::create(b, viewOnce(b, heads), norm.getEps(), norm.getScale());
        Value result = chooseNorms(b, once)->front();
        once.erase();
        return Results{repeatHeads(b, result, plain::typeOf(norm.getResult()), heads.getRepeat())};
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace nnterp::device
