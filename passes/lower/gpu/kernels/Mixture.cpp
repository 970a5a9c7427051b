// Mixture of experts: which kernels take part, and the memory between them.
#include "passes/lower/gpu/kernels/Mixture.h"

#include "dialect/Hybrid/Hybrid.h"
#include "passes/lower/gpu/kernels/MatrixTiles.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nnterp::device {

namespace {

std::optional<Results> choose(PlainBuilder &b, hybrid::RouterOp op) {
  if (op.getK() > uint64_t(warpSize)) // a lane per slot
    return std::nullopt;
  plain::Numerics n(b, plain::elementOf(op.getLogits()));
  SmallVector<Value> inputs{op.getLogits()};
  if (op.getForced())
    inputs.push_back(op.getForced());
  RankedTensorType weights = plain::typeOf(op.getWeights()), indices = plain::typeOf(op.getIndices());
  SmallVector<Value> sizes = b.sizesLike(weights, op.getLogits());
  return Results(
      makeKernel(b, "router", inputs, {Out{weights, sizes, n.wide}, Out{indices, sizes, b.getI64Type()}}).getResults());
}

std::optional<Results> choose(PlainBuilder &b, hybrid::ExpertsOp op) {
  const int64_t experts = plain::typeOf(op.getGateUp()).getDimSize(0), count = plain::lastDim(op.getDown());
  Value slots = b.index(1);
  for (int64_t axis = 0; axis < 3; ++axis)
    slots = b.mul(slots, b.dim(op.getIndices(), axis));
  // Each expert that has slots fills tiles but its last one.
  Value perTile = slotsPerTile(b, slots, experts);
  Value tiles = b.add(b.div(slots, perTile), least(b, slots, b.index(experts + 1)));
  auto table = [&](ArrayRef<int64_t> shape, Value size) {
    return b.buffer(RankedTensorType::get(shape, b.getI64Type()), size);
  };
  constexpr int64_t any = ShapedType::kDynamic;
  auto sort =
      makeKernel(b, "experts_sort", {op.getIndices(), perTile}, {}, {table({any}, slots), table({any, 3}, tiles)},
                 b.getNamedAttr("experts", b.getI64IntegerAttr(experts)));
  Value order = sort.getResult(0), cut = sort.getResult(1);

  Out neurons{RankedTensorType::get({any, count}, plain::elementOf(op.getInput())), {slots}, b.getF32Type()};
  Value hidden =
      makeKernel(b, "experts_up", {op.getInput(), op.getGateUp(), order, cut, op.getIndices()}, neurons).getResult(0);
  RankedTensorType type = plain::typeOf(op.getResult());
  Out result{type, b.sizesLike(type, op.getIndices()), b.getF32Type()};
  return Results{
      makeKernel(b, "experts_down", {hidden, op.getDown(), order, cut, op.getWeights()}, result).getResult(0)};
}

} // namespace

std::optional<Results> chooseMixture(PlainBuilder &b, Operation *op) {
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case<hybrid::RouterOp, hybrid::ExpertsOp>([&](auto op) { return choose(b, op); })
      .Default([](Operation *) { return std::nullopt; });
}

bool buildMixture(KernelOp op) {
  StringRef kind = op.getKind();
  if (kind == "router")
    buildRouter(op);
  else if (kind == "experts_sort")
    buildExpertsSort(op);
  else if (kind == "experts_up" || kind == "experts_down")
    buildExperts(op);
  else
    return false;
  return true;
}

Value slotsPerTile(PlainBuilder &host, Value slots, int64_t experts) {
  // Where experts have few slots on average, large tiles would be mostly empty.
  Value few = host.atMost(slots, host.index(fewRows.rows * experts));
  return host.select(few, host.index(fewRows.rows), host.index(manyRows.rows));
}

} // namespace nnterp::device
