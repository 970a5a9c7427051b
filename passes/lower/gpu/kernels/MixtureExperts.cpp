// The products with experts: a tile of slots that have the same expert, gathered by the order of the sort.
#include "passes/lower/gpu/kernels/Mixture.h"

#include "passes/lower/gpu/kernels/MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace nnterp::device {

namespace {

MemRefType typeOf(Value memory) { return cast<MemRefType>(memory.getType()); }

/// What both kernels have in common; the last input's first three extents are [B,S,K].
class ExpertsKernel {
public:
  ExpertsKernel(KernelOp op, bool few)
      : op(op), shape(few ? fewRows : manyRows),
        kernel(op, (op.getKind() + (few ? "_few" : "")).str(), TileShape::threads, DeviceKernel::Extents::none),
        b(kernel.b), model(typeOf(op.getInputs()[0]).getElementType()) {}
  virtual ~ExpertsKernel() = default;

  void build() {
    Value tiles = kernel.import(op.getInputs()[3]), tile = kernel.block(1);
    order = kernel.import(op.getInputs()[2]);
    for (int64_t axis = 0; axis < 3; ++axis)
      extents.push_back(kernel.extent(op.getInputs().back(), axis));
    outputs = kernel.extent(op.getInputs()[1], 1), depth = kernel.extent(op.getInputs()[1], 2);
    columns = kernel.extent(op.getOuts()[0], typeOf(op.getOuts()[0]).getRank() - 1);
    expert = loadIndex(b, tiles, {tile, b.index(0)});
    first = loadIndex(b, tiles, {tile, b.index(1)}), end = loadIndex(b, tiles, {tile, b.index(2)});
    exists = b.less(expert, kernel.extent(op.getInputs()[1], 0));
    firstColumn = b.mul(kernel.block(0), b.index(columnsPerTile()));
    write();
    PlainBuilder host(op.getLoc(), op);
    Value across = host.index(llvm::divideCeil(typeOf(op.getOuts()[0]).getShape().back(), columnsPerTile()));
    kernel.launch({across, memref::DimOp::create(host, op.getInputs()[3], 0), host.index(1)});
  }

protected:
  virtual void write() = 0;
  virtual int64_t columnsPerTile() const = 0; ///< of the result

  TileProduct tileProduct() {
    return TileProduct(kernel, model, depth, fitOf(typeOf(op.getInputs()[1]).getDimSize(2), model, shape), shape);
  }

  /// The slot at a place of the tile; behind the tile's end, its last one.
  Value slotAt(Value place) { return loadIndex(b, order, least(b, b.add(first, place), b.sub(end, b.index(1)))); }

  /// Rows of the expert's weights.
  TileSide weightRows(std::function<Value(Value place)> row) {
    return {kernel.import(op.getInputs()[1]), [this, row = std::move(row)](Value place) {
              return b.mul(b.add(b.mul(expert, outputs), row(place)), depth);
            }};
  }

  /// Runs `body` for every slot of the tile and every column of the result.
  void perElement(TileProduct &product,
                  function_ref<void(Value row, Value tileColumn, Value slot, Value column)> body) {
    product.perElement(columnsPerTile(), [&](Value row, Value tileColumn) {
      Value column = b.add(firstColumn, tileColumn);
      when(b, b.both(b.less(b.add(first, row), end), b.less(column, columns)),
           [&] { body(row, tileColumn, slotAt(row), column); });
    });
  }

  Value md(Value v) { return b.convert(b.convert(v, model), b.getF32Type()); }

  KernelOp op;
  TileShape shape;
  DeviceKernel kernel;
  PlainBuilder &b;
  Type model;
  Value outputs, depth;                                 ///< rows of an expert's weights, and how long they are
  Value columns;                                        ///< of the result
  SmallVector<Value> extents;                           ///< [B,S,K]
  Value order, expert, first, end, exists, firstColumn; ///< `first`, `end`: of the tile in the order
};

/// silu(gate) * up. A tile has as many rows of gate as of up, so that both numbers of a neuron are in one tile.
class UpKernel : public ExpertsKernel {
public:
  using ExpertsKernel::ExpertsKernel;

private:
  int64_t columnsPerTile() const override { return shape.columns / 2; }

  void write() override {
    TileProduct product = tileProduct();
    Value input = kernel.import(op.getInputs()[0]), half = b.index(columnsPerTile());
    when(b, b.both(exists, b.less(first, end)), [&] {
      // A token's slots stand behind each other.
      TileSide tokens{input, [&](Value place) { return b.mul(b.div(slotAt(place), extents[2]), depth); }};
      product.compute(tokens, weightRows([&](Value place) {
                        Value isUp = b.atLeast(place, half);
                        Value neuron = b.add(firstColumn, b.select(isUp, b.sub(place, half), place));
                        neuron = least(b, neuron, b.sub(columns, b.index(1)));
                        return b.add(neuron, b.select(isUp, columns, b.index(0)));
                      }));
      Epilogue epilogue(kernel, op);
      perElement(product, [&](Value row, Value tileColumn, Value slot, Value column) {
        Value gate = md(product.sum(row, tileColumn)), up = md(product.sum(row, b.add(tileColumn, half)));
        epilogue.store({slot, column}, b.mul(md(silu(gate)), up));
      });
    });
  }

  Value silu(Value x) {
    Value negated = arith::NegFOp::create(b, x);
    return b.div(x, b.add(b.real(b.getF32Type(), 1), math::ExpOp::create(b, negated)));
  }
};

/// The product back to the width of the model, times the slot's weight.
class DownKernel : public ExpertsKernel {
public:
  using ExpertsKernel::ExpertsKernel;

private:
  int64_t columnsPerTile() const override { return shape.columns; }

  void write() override {
    TileProduct product = tileProduct();
    Value neurons = kernel.import(op.getInputs()[0]), shares = kernel.import(op.getInputs()[4]);
    when(b, b.less(first, end), [&] {
      when(b, exists, [&] {
        TileSide slots{neurons, [&](Value place) { return b.mul(slotAt(place), depth); }};
        product.compute(slots, weightRows([&](Value place) {
                          return least(b, b.add(firstColumn, place), b.sub(columns, b.index(1)));
                        }));
      });
      Epilogue epilogue(kernel, op);
      perElement(product, [&](Value row, Value tileColumn, Value slot, Value column) {
        SmallVector<Value> at = rowIndices(b, slot, extents);
        Value y = b.ifElse(
            exists,
            [&] { return b.mul(md(product.sum(row, tileColumn)), b.convert(load(b, shares, at), b.getF32Type())); },
            [&] { return b.zero(b.getF32Type()); });
        at.push_back(column);
        epilogue.store(at, y);
      });
    });
  }
};

} // namespace

void buildExperts(KernelOp op) {
  if (!hasDenseMatrices(op))
    return;
  PlainBuilder host(op.getLoc(), op);
  Value slots = host.index(1);
  for (Value extent : ArrayRef(extentsOf(op, op.getInputs().back())).take_front(3))
    slots = host.mul(slots, extent);
  Value perTile = slotsPerTile(host, slots, typeOf(op.getInputs()[1]).getDimSize(0));
  eitherShape(op, host.equal(perTile, host.index(fewRows.rows)), [&](KernelOp copy, bool few) {
    if (op.getKind() == "experts_up")
      UpKernel(copy, few).build();
    else
      DownKernel(copy, few).build();
  });
}

} // namespace nnterp::device
