// Counts the work of kernels in structured form.
#include "passes/lower/gpu/KernelWork.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;

namespace nnterp {

namespace {

int64_t elements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

int64_t bytesOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return elements(type) * (element.isIndex() ? 8 : int64_t(element.getIntOrFloatBitWidth() + 7) / 8);
}

/// A number of things, as pieces of a polynomial: what is divided is rounded up once, at the end.
class Amount {
public:
  Amount(Polynomial whole = {}, int64_t pieces = 1) : whole(std::move(whole)), pieces(pieces) {
    // Kernels divide by powers of two.
    for (Polynomial half; this->pieces % 2 == 0 && (half = this->whole.dividedBy(2)) + half == this->whole;)
      this->whole = half, this->pieces /= 2;
    if (this->pieces > mostPieces)
      this->whole = rounded(), this->pieces = 1;
  }
  Amount(int64_t number) : whole(number) {}

  Amount dividedBy(int64_t by) const { return {whole, pieces * by}; }
  Polynomial rounded() const { return whole.dividedBy(pieces); }

  friend Amount operator*(const Amount &a, const Amount &b) { return {a.whole * b.whole, a.pieces * b.pieces}; }
  friend Amount operator+(const Amount &a, const Amount &b) {
    const int64_t common = std::lcm(a.pieces, b.pieces);
    return {a.whole * Polynomial(common / a.pieces) + b.whole * Polynomial(common / b.pieces), common};
  }
  Amount &operator+=(const Amount &other) { return *this = *this + other; }

private:
  static constexpr int64_t mostPieces = int64_t(1) << 24; ///< so that no number here becomes too large

  Polynomial whole;
  int64_t pieces = 1;
};

class Counter {
public:
  explicit Counter(gpu::GPUFuncOp kernel) : kernel(kernel) {}

  KernelWork count() {
    KernelWork work;
    Polynomial threads = Polynomial::extent("blocks") * Polynomial(kernel.getKnownBlockSize()->front());
    work.flops = visit(kernel.getBody(), threads).rounded();
    for (Value memory : order)
      work.memory.push_back({wholeOf(memory).rounded(), touched[memory].rounded()});
    return work;
  }

private:
  gpu::GPUFuncOp kernel;
  SmallVector<Value> order; ///< memory of the launch, by first access
  llvm::DenseMap<Value, Amount> touched;
  llvm::DenseMap<Value, Amount> outside; ///< how often the loop of an induction variable runs

  /// The floating-point operations of a region that runs `times` times.
  Amount visit(Region &region, const Amount &times) {
    Amount flops;
    for (Block &block : region)
      for (Operation &op : block) {
        if (auto loop = dyn_cast<scf::ForOp>(op)) {
          IntegerAttr step;
          int64_t stride = matchPattern(loop.getStep(), m_Constant(&step)) ? step.getInt() : 1;
          outside[loop.getInductionVar()] = times;
          flops += visit(loop.getRegion(), stepsOf(loop, times).dividedBy(std::max<int64_t>(stride, 1)));
        } else {
          for (Region &inner : op.getRegions())
            flops += visit(inner, times);
          flops += times * flopsOf(&op);
          access(&op, times);
        }
      }
    return flops;
  }

  static int64_t flopsOf(Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op))
      return elements(op->getResult(0).getType());
    if (isa<math::FmaOp>(op))
      return 2 * elements(op->getResult(0).getType());
    if (isa<math::MathDialect>(op->getDialect()))
      return elements(op->getResult(0).getType());
    if (auto mma = dyn_cast<NVVM::MmaOp>(op)) // of a warp's 32 threads together
      return 2 * int64_t(mma.getShape().getM()) * mma.getShape().getN() * mma.getShape().getK() / 32;
    return 0;
  }

  void access(Operation *op, const Amount &times) {
    Value memory;
    Type moved;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      memory = load.getMemref();
      moved = load.getType();
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      memory = store.getMemref();
      moved = store.getValue().getType();
    } else if (auto load = dyn_cast<vector::LoadOp>(op)) {
      memory = load.getBase();
      moved = load.getType();
    } else if (auto store = dyn_cast<vector::StoreOp>(op)) {
      memory = store.getBase();
      moved = store.getValueToStore().getType();
    } else if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      memory = load.getAddr();
      moved = load.getType();
    }
    if (!memory)
      return;
    memory = rootOf(memory);
    if (!memory.getDefiningOp<UnrealizedConversionCastOp>())
      return; // shared memory, tables
    if (!llvm::is_contained(order, memory))
      order.push_back(memory);
    touched[memory] += times * bytesOf(moved);
  }

  static Value rootOf(Value memory) {
    while (Operation *def = memory.getDefiningOp()) {
      if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp,
               memref::ReinterpretCastOp, LLVM::GEPOp, LLVM::IntToPtrOp, arith::IndexCastOp,
               memref::ExtractAlignedPointerAsIndexOp>(def))
        break;
      memory = def->getOperand(0);
    }
    return memory;
  }

  Amount wholeOf(Value memory) {
    auto type = cast<MemRefType>(memory.getType());
    Amount bytes(bytesOf(type.getElementType()));
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      bytes = bytes * extentOf(memory, axis);
    return bytes;
  }

  /// How many numbers a loop that runs `times` times walks over, in steps of 1.
  Amount stepsOf(scf::ForOp loop, const Amount &times) {
    // Of a range that the rounds of an outer loop walk piece by piece, all of them together walk all.
    if (auto end = loop.getUpperBound().getDefiningOp<arith::MinSIOp>())
      if (auto begin = loop.getLowerBound().getDefiningOp<arith::MulIOp>())
        if (auto next = end.getLhs().getDefiningOp<arith::AddIOp>();
            next && next.getLhs() == begin && next.getRhs() == begin.getRhs())
          if (auto outer = outside.find(begin.getLhs()); outer != outside.end())
            if (std::optional<Amount> all = valueOf(end.getRhs()))
              return outer->second * *all;
    if (std::optional<Amount> range = distance(loop.getLowerBound(), loop.getUpperBound()))
      return times * *range;
    // Data: no more than what its index walks over.
    Polynomial longest(1);
    loop.walk([&](memref::LoadOp load) {
      for (auto [axis, index] : llvm::enumerate(load.getIndices()))
        if (index == loop.getInductionVar())
          longest = Polynomial::cover(longest, extentOf(load.getMemref(), int64_t(axis)).rounded());
    });
    return times * longest;
  }

  /// From one number to another, from above; as from 0 where nothing is known of the lower one.
  std::optional<Amount> distance(Value lower, Value upper) {
    IntegerAttr first, last;
    if (matchPattern(lower, m_Constant(&first)) && matchPattern(upper, m_Constant(&last)))
      return Amount(std::max<int64_t>(last.getInt() - first.getInt(), 0));
    if (auto sum = upper.getDefiningOp<arith::AddIOp>(); sum && sum.getLhs() == lower)
      return valueOf(sum.getRhs());
    if (auto least = upper.getDefiningOp<arith::MinSIOp>()) {
      std::optional<Amount> range = distance(lower, least.getLhs());
      return range ? range : distance(lower, least.getRhs());
    }
    return valueOf(upper);
  }

  Amount extentOf(Value memory, int64_t axis) {
    auto type = cast<MemRefType>(memory.getType());
    if (!type.isDynamicDim(unsigned(axis)))
      return type.getDimSize(unsigned(axis));
    Value descriptor = memory;
    while (Operation *def = descriptor.getDefiningOp()) {
      if (auto insert = dyn_cast<LLVM::InsertValueOp>(def)) {
        if (insert.getPosition() == ArrayRef<int64_t>{3, axis})
          return valueOf(insert.getValue()).value_or(Amount(1));
        descriptor = insert.getContainer();
      } else if (isa<UnrealizedConversionCastOp>(def)) {
        descriptor = def->getOperand(0);
      } else {
        break;
      }
    }
    return 1;
  }

  /// A number as extents of the launch, from above; nothing for what is read from memory.
  std::optional<Amount> valueOf(Value v) {
    IntegerAttr constant;
    if (matchPattern(v, m_Constant(&constant)))
      return Amount(constant.getInt());
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      if (argument.getOwner() == &kernel.getBody().front() && argument.getType().isInteger(64))
        return Amount(Polynomial::extent("p" + std::to_string(argument.getArgNumber())));
      return std::nullopt;
    }
    Operation *def = v.getDefiningOp();
    if (auto dim = dyn_cast<memref::DimOp>(def))
      if (std::optional<int64_t> axis = dim.getConstantIndex())
        return extentOf(dim.getSource(), *axis);
    if (isa<arith::IndexCastOp, UnrealizedConversionCastOp>(def))
      return valueOf(def->getOperand(0));
    if (def->getNumOperands() == 2) {
      std::optional<Amount> lhs = valueOf(def->getOperand(0)), rhs = valueOf(def->getOperand(1));
      IntegerAttr divisor;
      bool byConstant = matchPattern(def->getOperand(1), m_Constant(&divisor)) && divisor.getInt() > 0;
      if (isa<arith::MinSIOp, arith::MinUIOp>(def))
        return lhs ? lhs : rhs;
      if (!lhs)
        return std::nullopt;
      if (isa<arith::DivUIOp, arith::CeilDivUIOp, arith::CeilDivSIOp, arith::DivSIOp>(def))
        return byConstant ? lhs->dividedBy(divisor.getInt()) : *lhs;
      if (isa<arith::SubIOp>(def))
        return lhs;
      if (rhs && isa<arith::AddIOp>(def))
        return *lhs + *rhs;
      if (rhs && isa<arith::MulIOp>(def))
        return *lhs * *rhs;
    }
    return std::nullopt;
  }
};

} // namespace

KernelWork workOf(gpu::GPUFuncOp kernel) { return Counter(kernel).count(); }

} // namespace nnterp
