// One tile of a matrix product: global memory to registers, to shared memory, to accumulators, and back.
#include "passes/lower/gpu/kernels/MatrixTiles.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

namespace {

constexpr int64_t chunkBytes = 16, globalSpace = 0, sharedSpace = 3;

/// Where memory begins.
Value addressOf(PlainBuilder &b, Value memory, unsigned space) {
  Value number = b.toInt64(memref::ExtractAlignedPointerAsIndexOp::create(b, memory));
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext(), space), number);
}

Value elementAddress(PlainBuilder &b, Value address, Type element, Value index) {
  return LLVM::GEPOp::create(b, address.getType(), element, address, ArrayRef<LLVM::GEPArg>{b.toInt64(index)});
}

int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

Type chunkType(PlainBuilder &b) { return VectorType::get(4, b.getI32Type()); }

Value number(PlainBuilder &b, int64_t value) { return LLVM::ConstantOp::create(b, b.getI32Type(), value); }

int64_t perChunkOf(Type model) { return chunkBytes / bytesOf(model); }

/// How many pieces of a size it takes to cover a length.
Value pieces(PlainBuilder &b, Value length, int64_t size) {
  return b.div(b.add(length, b.index(size - 1)), b.index(size));
}

} // namespace

Fit fitOf(int64_t depth, Type model, const TileShape &shape) {
  const int64_t chunk = perChunkOf(model), all = shape.groups * shape.panels * Panel::chunks * chunk;
  return depth % all == 0 ? Fit::whole : depth % chunk == 0 ? Fit::chunks : Fit::elements;
}

void eitherShape(KernelOp op, Value few, function_ref<void(KernelOp copy, bool few)> build) {
  OpBuilder host(op);
  auto branch = scf::IfOp::create(host, op.getLoc(), few, /*withElseRegion=*/true);
  for (bool isFew : {true, false}) {
    host.setInsertionPointToStart(isFew ? branch.thenBlock() : branch.elseBlock());
    auto copy = cast<KernelOp>(host.clone(*op));
    build(copy, isFew);
    copy.erase();
  }
}

bool hasDenseMatrices(KernelOp op) {
  for (Value matrix : op.getInputs().take_front(2))
    if (auto type = cast<MemRefType>(matrix.getType()); !type.getLayout().isIdentity()) {
      op.emitOpError("expects dense matrices, but one is ") << type;
      return false;
    }
  return true;
}

SmallVector<Value> rowIndices(PlainBuilder &b, Value row, ValueRange extents) {
  auto narrow = [&](Value v) -> Value { return arith::IndexCastOp::create(b, b.getI32Type(), v); };
  SmallVector<Value> few;
  for (Value extent : extents)
    few.push_back(narrow(extent));
  SmallVector<Value> indices = delinearize(b, narrow(row), few);
  for (Value &index : indices)
    index = arith::IndexCastUIOp::create(b, b.getIndexType(), index);
  return indices;
}

/// What a thread reads of a side: one chunk of each panel for each of some rows, always the same column of chunks.
struct TileProduct::Reader {
  Value address;
  Type element;
  int64_t rows;   ///< of the side
  Values starts;  ///< elements where the thread's rows begin
  Values vectors; ///< where their chunks go in a panel
};

TileProduct::TileProduct(DeviceKernel &kernel, Type model, Value depth, Fit fit, const TileShape &shape)
    : kernel(kernel), b(kernel.b), model(model), depth(depth), fit(fit), perChunk(perChunkOf(model)),
      panelDepth(Panel::chunks * perChunk), shape(shape) {
  panels = fit == Fit::whole ? b.div(depth, b.index(panelDepth)) : pieces(b, depth, panelDepth);
  // Whole stages of either shape.
  partPanels = b.mul(pieces(b, panels, fewRows.groups * fewRows.panels), b.index(fewRows.panels));
  if (fit == Fit::whole && shape.groups > 1)
    partPanels = b.div(panels, b.index(shape.groups));
  int64_t result = shape.groups * shape.rows * columnPitch() * 4 / chunkBytes;
  memory = kernel.shared({std::max(shape.stages * stageVectors(), result)}, chunkType(b));
  floats = addressOf(b, memory, sharedSpace);
  group = b.div(kernel.thread(), b.index(shape.groupThreads()));
  thread = b.remainder(kernel.thread(), b.index(shape.groupThreads()));
  accumulators = makeAccumulators(b, model, shape, thread);
}

TileProduct::Reader TileProduct::reader(const TileSide &side, int64_t rows) {
  Reader result{
      addressOf(b, side.memory, globalSpace), cast<MemRefType>(side.memory.getType()).getElementType(), rows, {}, {}};
  const int64_t apart = shape.groupThreads() / Panel::chunks;
  Value first = b.div(thread, b.index(Panel::chunks)), column = b.remainder(thread, b.index(Panel::chunks));
  for (int64_t row = 0; row < rows; row += apart) {
    Value place = b.add(first, b.index(row));
    result.starts.push_back(side.start(place));
    result.vectors.push_back(b.add(b.mul(column, b.index(Panel::pitch(rows))), place));
  }
  return result;
}

/// A chunk of a row; behind the depth, some other one, which `writeStage` replaces by zeros.
Value TileProduct::readChunk(const Reader &side, Value start, Value k) {
  Value at = b.add(start, fit == Fit::whole ? k : b.select(b.less(k, depth), k, b.index(0)));
  Type type = VectorType::get(perChunk, side.element);
  unsigned aligned = unsigned(std::min(chunkBytes, perChunk * bytesOf(side.element)));
  Value read = LLVM::LoadOp::create(b, type, elementAddress(b, side.address, side.element, at), aligned);
  return packed([&](int64_t i) { return LLVM::ExtractElementOp::create(b, read, number(b, i)); }, read);
}

/// A chunk of a row that does not begin where a chunk may: element by element, zero behind the depth.
Value TileProduct::readElements(const Reader &side, Value start, Value k) {
  return packed([&](int64_t i) -> Value {
    Value at = b.add(k, b.index(i)), exists = b.less(at, depth);
    Value address = elementAddress(b, side.address, side.element, b.add(start, b.select(exists, at, b.index(0))));
    Value entry = LLVM::LoadOp::create(b, side.element, address, unsigned(bytesOf(side.element)));
    return b.select(exists, entry, b.zero(side.element));
  });
}

/// Elements as a chunk of the model's type; `whole`, where given, is the vector they come from.
Value TileProduct::packed(function_ref<Value(int64_t i)> element, Value whole) {
  Type type = VectorType::get(perChunk, model);
  Value chunk = whole;
  if (!whole || whole.getType() != type) {
    chunk = b.zero(type);
    for (int64_t i = 0; i < perChunk; ++i)
      chunk = LLVM::InsertElementOp::create(b, chunk, b.convert(element(i), model), number(b, i));
  }
  return LLVM::BitcastOp::create(b, chunkType(b), chunk);
}

/// The first element of a thread's chunk of a panel, in its row.
Value TileProduct::chunkStart(Value panel) {
  Value column = b.remainder(thread, b.index(Panel::chunks));
  return b.add(b.mul(panel, b.index(panelDepth)), b.mul(column, b.index(perChunk)));
}

TileProduct::Values TileProduct::readStage(ArrayRef<Reader> sides, Value firstPanel) {
  Values chunks;
  if (fit == Fit::elements)
    return chunks; // so many reads ahead of their use would take too many registers
  for (const Reader &side : sides)
    for (int64_t panel = 0; panel < shape.panels; ++panel) {
      Value k = chunkStart(b.add(firstPanel, b.index(panel)));
      for (Value start : side.starts)
        chunks.push_back(readChunk(side, start, k));
    }
  return chunks;
}

void TileProduct::writeStage(ArrayRef<Reader> sides, Value firstPanel, ValueRange chunks, Value base) {
  if (fit == Fit::elements)
    return forEach(b, b.index(0), b.index(shape.panels), 1, [&](Value panel) {
      Value k = chunkStart(b.add(firstPanel, panel)), side = b.add(base, b.mul(panel, b.index(pairVectors())));
      for (const Reader &from : sides) {
        for (auto [start, vector] : llvm::zip(from.starts, from.vectors))
          store(b, readElements(from, start, k), memory, b.add(side, vector));
        side = b.add(side, b.index(Panel::vectors(from.rows)));
      }
    });
  size_t next = 0;
  int64_t offset = 0;
  for (const Reader &side : sides) {
    for (int64_t panel = 0; panel < shape.panels; ++panel) {
      Value exists = b.less(chunkStart(b.add(firstPanel, b.index(panel))), depth);
      for (Value vector : side.vectors) {
        Value chunk = chunks[next++];
        if (fit == Fit::chunks) // not as soon as it was read: that would have waited for it
          chunk = b.select(exists, chunk, b.zero(chunk.getType()));
        store(b, chunk, memory, b.add(b.add(base, b.index(panel * pairVectors() + offset)), vector));
      }
    }
    offset += Panel::vectors(side.rows);
  }
}

TileProduct::Values TileProduct::sumPart(ArrayRef<Reader> sides, Value first, Value end, Value last, Values &staged) {
  const size_t count = size_t(accumulators->count());
  Values carried(count, b.zero(b.getF32Type()));
  llvm::append_range(carried, staged);
  carried = forEach(b, first, end, shape.panels, carried, [&](Value panel, ValueRange now) -> Values {
    Value base = b.mul(group, b.index(shape.panels * pairVectors()));
    if (shape.stages > 1)
      base = b.add(base, b.mul(b.remainder(b.div(panel, b.index(shape.panels)), b.index(2)), b.index(stageVectors())));
    ValueRange chunks = now.drop_front(count);
    writeStage(sides, panel, chunks, base);
    kernel.barrier();
    // While the products of this stage are computed, the next one is on its way.
    Value next = b.add(panel, b.index(shape.panels));
    auto ahead = scf::IfOp::create(
        b, b.less(next, last), [&](OpBuilder &, Location) { scf::YieldOp::create(b, readStage(sides, next)); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(b, chunks); });
    Values numbers = b.loop(b.index(shape.panels), now.take_front(count), [&](Value i, ValueRange sums) {
      Value left = b.add(base, b.mul(i, b.index(pairVectors())));
      return accumulators->multiply(memory, left, b.add(left, b.index(Panel::vectors(shape.rows))), sums);
    });
    if (shape.stages == 1)
      kernel.barrier();
    llvm::append_range(numbers, ahead.getResults());
    return numbers;
  });
  staged.assign(carried.begin() + count, carried.end());
  carried.truncate(count);
  return carried;
}

void TileProduct::compute(const TileSide &left, const TileSide &right) {
  SmallVector<Reader, 2> sides{reader(left, shape.rows), reader(right, shape.columns)};
  if (shape.groups > 1) {
    // A group whose part is empty sums zeros, so that all threads reach the same barriers.
    Value first = b.mul(group, partPanels), end = b.add(first, partPanels);
    Values staged = readStage(sides, first);
    return leave(sumPart(sides, first, end, end, staged));
  }
  const size_t count = size_t(accumulators->count());
  Values carried(count, b.real(b.getF32Type(), -0.0)); // what adding to changes nothing
  llvm::append_range(carried, readStage(sides, b.index(0)));
  carried = b.loop(b.index(fewRows.groups), carried, [&](Value part, ValueRange now) -> Values {
    Value first = b.mul(part, partPanels);
    Values chunks(now.drop_front(count));
    Values numbers = sumPart(sides, first, least(b, b.add(first, partPanels), panels), panels, chunks);
    for (auto [number, total] : llvm::zip(numbers, now))
      number = b.add(total, number);
    llvm::append_range(numbers, chunks);
    return numbers;
  });
  carried.truncate(count);
  leave(carried);
}

Value TileProduct::place(Value group, Value row, Value column) {
  Value line = b.add(b.mul(group, b.index(shape.rows)), row);
  return elementAddress(b, floats, b.getF32Type(), b.add(b.mul(line, b.index(columnPitch())), column));
}

/// Writes a thread's numbers over the panels, which nobody needs any more.
void TileProduct::leave(ValueRange numbers) {
  kernel.barrier();
  for (auto [i, number] : llvm::enumerate(numbers)) {
    auto [row, column] = accumulators->place(int64_t(i));
    LLVM::StoreOp::create(b, number, place(group, row, column), 4);
  }
  kernel.barrier();
}

Value TileProduct::sum(Value row, Value column) {
  Value total;
  for (int64_t part = 0; part < shape.groups; ++part) {
    Value number = LLVM::LoadOp::create(b, b.getF32Type(), place(b.index(part), row, column), 4);
    total = total ? b.add(total, number) : number;
  }
  return total;
}

void TileProduct::perElement(int64_t columns, function_ref<void(Value row, Value column)> body) {
  forEach(b, kernel.thread(), b.index(shape.rows * columns), TileShape::threads,
          [&](Value i) { body(b.div(i, b.index(columns)), b.remainder(i, b.index(columns))); });
}

} // namespace nnterp::device
