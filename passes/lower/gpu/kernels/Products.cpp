// Products with weight matrices: input [..., K] by weight [N,K].
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "dialect/Hybrid/Hybrid.h"
#include "passes/lower/gpu/kernels/MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// From how many rows on reading the weights once per 16 of them is slower than computing larger tiles.
constexpr int64_t manyRowsFrom = 33;

/// Inputs: input [..., K], weight [N,K], and bias [N] where there is one. Out: [..., N].
class LinearKernel {
public:
  LinearKernel(KernelOp op, StringRef name, const TileShape &shape)
      : op(op), shape(shape), kernel(op, name, TileShape::threads, DeviceKernel::Extents::none), b(kernel.b),
        model(cast<MemRefType>(op.getInputs()[0].getType()).getElementType()),
        weight(cast<MemRefType>(op.getInputs()[1].getType())) {}

  /// `rows`: all rows of the input, a value of the host.
  void build(Value rows) {
    Value out = op.getOuts()[0], columns = kernel.extent(op.getInputs()[1], 0),
          depth = kernel.extent(op.getInputs()[1], 1);
    SmallVector<Value> extents;
    for (int64_t axis = 0; axis + 1 < cast<MemRefType>(out.getType()).getRank(); ++axis)
      extents.push_back(kernel.extent(out, axis));
    Value count = b.index(1);
    for (Value extent : extents)
      count = b.mul(count, extent);
    Value firstRow = b.mul(kernel.block(1), b.index(shape.rows)),
          firstColumn = b.mul(kernel.block(0), b.index(shape.columns));
    auto rowsOf = [&](unsigned operand, Value first, Value end) {
      return TileSide{kernel.import(op.getInputs()[operand]), [=](Value place) {
                        Value row = least(b, b.add(first, place), b.sub(end, b.index(1)));
                        return b.mul(row, depth);
                      }};
    };
    TileProduct product(kernel, model, depth, fitOf(weight.getDimSize(1), model, shape), shape);
    product.compute(rowsOf(0, firstRow, count), rowsOf(1, firstColumn, columns));

    Epilogue epilogue(kernel, op);
    product.perElement(shape.columns, [&](Value tileRow, Value tileColumn) {
      Value row = b.add(firstRow, tileRow), column = b.add(firstColumn, tileColumn);
      when(b, b.both(b.less(row, count), b.less(column, columns)), [&] {
        Value y = product.sum(tileRow, tileColumn);
        if (op.getInputs().size() > 2)
          y = b.add(y, bias(column));
        SmallVector<Value> at = rowIndices(b, row, extents);
        at.push_back(column);
        epilogue.store(at, y);
      });
    });
    OpBuilder host(op);
    auto tiles = [&](Value extent, int64_t width) -> Value {
      return arith::CeilDivUIOp::create(host, op.getLoc(), extent,
                                        arith::ConstantIndexOp::create(host, op.getLoc(), width));
    };
    auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(host, op.getLoc(), value); };
    kernel.launch({tiles(number(weight.getDimSize(0)), shape.columns), tiles(rows, shape.rows), number(1)});
  }

private:
  Value bias(Value column) {
    Value entry = load(b, kernel.import(op.getInputs()[2]), column);
    return b.convert(b.convert(entry, model), b.getF32Type());
  }

  KernelOp op;
  TileShape shape;
  DeviceKernel kernel;
  PlainBuilder &b;
  Type model;
  MemRefType weight;
};

} // namespace

std::optional<Results> chooseProducts(PlainBuilder &b, Operation *op) {
  auto linear = dyn_cast<hybrid::LinearOp>(op);
  if (!linear)
    return std::nullopt;
  SmallVector<Value> inputs{linear.getInput(), linear.getWeight()};
  if (linear.getBias())
    inputs.push_back(linear.getBias());
  RankedTensorType type = plain::typeOf(linear.getResult());
  Out out{type, b.sizesLike(type, linear.getInput()), b.getF32Type()};
  return Results{makeKernel(b, "linear", inputs, out).getResult(0)};
}

bool buildProducts(KernelOp op) {
  if (op.getKind() != "linear")
    return false;
  if (!hasDenseMatrices(op))
    return true;
  PlainBuilder host(op.getLoc(), op);
  Value rows = host.index(1);
  for (Value extent : ArrayRef(extentsOf(op, op.getOuts()[0])).drop_back())
    rows = host.mul(rows, extent);
  eitherShape(op, host.less(rows, host.index(manyRowsFrom)), [&](KernelOp copy, bool few) {
    LinearKernel(copy, few ? "linear_few" : "linear", few ? fewRows : manyRows).build(rows);
  });
  return true;
}

} // namespace nnterp::device
