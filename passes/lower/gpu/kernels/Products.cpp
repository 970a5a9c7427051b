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
      : op(op), shape(shape), kernel(op, name, TileShape::threads), b(kernel.b),
        input(cast<MemRefType>(op.getInputs()[0].getType())), weight(cast<MemRefType>(op.getInputs()[1].getType())),
        columns(weight.getDimSize(0)), depth(weight.getDimSize(1)) {}

  /// `rows`: all rows of the input, a value of the host.
  void build(Value rows) {
    SmallVector<Value> extents;
    for (Value extent : ArrayRef(extentsOf(op, op.getOuts()[0])).drop_back())
      extents.push_back(kernel.import(extent));
    Value count = b.index(1);
    for (Value extent : extents)
      count = b.mul(count, extent);
    Value firstRow = b.mul(kernel.block(1), b.index(shape.rows)),
          firstColumn = b.mul(kernel.block(0), b.index(shape.columns));
    auto rowsOf = [&](unsigned operand, Value first, Value end) {
      return TileSide{kernel.import(op.getInputs()[operand]), [this, first, end](Value place) {
                        Value row = least(b, b.add(first, place), b.sub(end, b.index(1)));
                        return b.mul(row, b.index(depth));
                      }};
    };
    TileProduct product(kernel, input.getElementType(), depth, shape);
    product.compute(rowsOf(0, firstRow, count), rowsOf(1, firstColumn, b.index(columns)));

    Epilogue epilogue(kernel, op);
    product.perElement(shape.columns, [&](Value tileRow, Value tileColumn) {
      Value row = b.add(firstRow, tileRow), column = b.add(firstColumn, tileColumn);
      when(b, b.both(b.less(row, count), b.less(column, b.index(columns))), [&] {
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
    kernel.launch({tiles(number(columns), shape.columns), tiles(rows, shape.rows), number(1)});
  }

private:
  Value bias(Value column) {
    Value entry = load(b, kernel.import(op.getInputs()[2]), column);
    return b.convert(b.convert(entry, input.getElementType()), b.getF32Type());
  }

  KernelOp op;
  TileShape shape;
  DeviceKernel kernel;
  PlainBuilder &b;
  MemRefType input, weight;
  int64_t columns, depth;
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
