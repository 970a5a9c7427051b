// Norms: the threads of a row read it once, sum over it, and write it.
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "dialect/Hybrid/Hybrid.h"
#include "passes/lower/gpu/kernels/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// How many threads work on a row: few enough entries each that they stay in registers. Depends on the row's length
/// alone, so that the order of its sums does.
int64_t threadsPerRow(int64_t length) { return length <= 256 ? warpSize : length <= 2048 ? 256 : 1024; }

/// One kernel: inputs x [..., L] and what its kind takes with it; out: like x.
class NormKernel {
public:
  explicit NormKernel(KernelOp op)
      : op(op), input(cast<MemRefType>(op.getInputs()[0].getType())), length(input.getShape().back()),
        perRow(threadsPerRow(length)), rowsPerBlock(perRow == warpSize ? 4 : 1),
        kernel(op, op.getKind(), perRow * rowsPerBlock), b(kernel.b), n(b, input.getElementType()) {}

  void build() {
    SmallVector<Value> hostExtents = extentsOf(op, op.getInputs()[0]), extents;
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value rows = b.index(1), hostRows = arith::ConstantIndexOp::create(host, loc, 1);
    for (Value extent : ArrayRef(hostExtents).drop_back()) {
      hostRows = arith::MulIOp::create(host, loc, hostRows, extent);
      extents.push_back(kernel.import(extent));
      rows = b.mul(rows, extents.back());
    }
    first = b.remainder(kernel.thread(), b.index(perRow));
    Value flat = b.add(b.mul(kernel.block(), b.index(rowsPerBlock)), b.div(kernel.thread(), b.index(perRow)));
    exists = b.less(flat, rows);
    row = delinearize(b, flat, extents);
    readRow();
    auto finish = finisher();
    Epilogue epilogue(kernel, op);
    for (int64_t k = 0; k < entriesPerThread(); ++k)
      when(b, isEntry(k), [&] { epilogue.store(at(k), finish(entries[size_t(k)], at(k))); });
    Value width = arith::ConstantIndexOp::create(host, loc, rowsPerBlock);
    kernel.launch(arith::CeilDivUIOp::create(host, loc, hostRows, width));
  }

private:
  using Finish = std::function<Value(Value entry, ValueRange at)>;

  int64_t entriesPerThread() const { return llvm::divideCeil(length, perRow); }
  Value column(int64_t k) { return b.add(first, b.index(k * perRow)); }
  Value isEntry(int64_t k) {
    return (k + 1) * perRow <= length ? exists : b.both(exists, b.less(column(k), b.index(length)));
  }
  SmallVector<Value> at(int64_t k) {
    SmallVector<Value> indices(row);
    indices.push_back(column(k));
    return indices;
  }

  void readRow() {
    Value x = kernel.import(op.getInputs()[0]);
    for (int64_t k = 0; k < entriesPerThread(); ++k)
      entries.push_back(b.ifElse(
          isEntry(k), [&] { return b.convert(load(b, x, at(k)), n.wide); }, [&] { return n.real(0); }));
  }

  /// The sum over the row of a function of its entries that is 0 outside.
  Value sum(function_ref<Value(int64_t k)> term) {
    Value total = term(0);
    for (int64_t k = 1; k < entriesPerThread(); ++k)
      total = b.add(total, term(k));
    auto add = [&](Value x, Value y) { return b.add(x, y); };
    return perRow == warpSize ? acrossLanes(b, total, 1, warpSize, add) : acrossBlock(kernel, total, perRow, add);
  }

  Value sumOfSquares() {
    return sum([&](int64_t k) { return b.mul(entries[size_t(k)], entries[size_t(k)]); });
  }

  double number(StringRef name) { return op.getConfig().getAs<FloatAttr>(name).getValueAsDouble(); }
  Value rsqrtOf(Value x) { return n.rsqrt(b.add(x, n.real(number("eps")))); }
  Value mean(Value sum) { return b.div(sum, n.real(double(length))); }
  /// The entry of a weight [L], rounded to the model dtype first.
  Value weight(unsigned input, ValueRange at) {
    return b.convert(b.convert(load(b, kernel.import(op.getInputs()[input]), at.back()), n.model), n.wide);
  }

  /// What is done with each entry when the row's sums are known.
  Finish finisher() {
    StringRef kind = op.getKind();
    return kind == "rms_norm" ? rms() : kind == "gated_rms_norm" ? gatedRms() : kind == "l2_norm" ? l2() : layer();
  }

  Finish rms() {
    Value inverse = rsqrtOf(mean(sumOfSquares()));
    return [this, inverse](Value x, ValueRange at) {
      Value gain = weight(1, at);
      if (op.getConfig().contains("unit_offset"))
        gain = b.add(n.real(1), gain);
      return b.mul(b.mul(x, inverse), gain);
    };
  }

  Finish gatedRms() {
    Value inverse = rsqrtOf(mean(sumOfSquares()));
    return [this, inverse](Value x, ValueRange at) {
      Value gate = b.convert(load(b, kernel.import(op.getInputs()[2]), at), n.wide);
      Value y = n.md(b.mul(weight(1, at), n.md(b.mul(x, inverse))));
      return b.mul(y, n.silu(gate));
    };
  }

  Finish l2() {
    Value inverse = rsqrtOf(sumOfSquares());
    return [this, inverse](Value x, ValueRange) { return b.mul(b.mul(x, inverse), n.real(number("scale"))); };
  }

  Finish layer() {
    Value middle = mean(sum([&](int64_t k) { return entries[size_t(k)]; }));
    Value variance = mean(sum([&](int64_t k) {
      Value difference = b.sub(entries[size_t(k)], middle);
      // Threads without an entry hold 0, which is not at the mean.
      return b.select(isEntry(k), b.mul(difference, difference), n.real(0));
    }));
    Value inverse = rsqrtOf(variance);
    return [this, middle, inverse](Value x, ValueRange at) {
      return b.add(b.mul(b.mul(b.sub(x, middle), inverse), weight(1, at)), weight(2, at));
    };
  }

  KernelOp op;
  MemRefType input;
  int64_t length, perRow, rowsPerBlock;
  DeviceKernel kernel;
  PlainBuilder &b;
  plain::Numerics n;
  Value first, exists;        ///< the thread's first column; whether its row is one
  SmallVector<Value> row;     ///< indices of the thread's row
  std::vector<Value> entries; ///< the thread's, as wide numbers
};

Results chooseNorm(PlainBuilder &b, StringRef kind, ValueRange inputs, Value result, ArrayRef<NamedAttribute> config) {
  Value x = inputs.front();
  RankedTensorType type = plain::typeOf(result);
  Type wide = plain::Numerics(b, plain::elementOf(x)).wide;
  return {makeKernel(b, kind, inputs, Out{type, b.sizesLike(type, x), wide}, {}, config).getResult(0)};
}

/// Softmax over a last axis of any length: a block per row. Inputs: x [..., T], and past [B] where a row begins behind
/// others.
class SoftmaxKernel {
public:
  explicit SoftmaxKernel(KernelOp op)
      : op(op), kernel(op, op.getKind(), threads), b(kernel.b),
        n(b, cast<MemRefType>(op.getInputs()[0].getType()).getElementType()) {}

  void build() {
    SmallVector<Value> hostExtents = extentsOf(op, op.getInputs()[0]), extents;
    OpBuilder host(op);
    Value rows = arith::ConstantIndexOp::create(host, op.getLoc(), 1);
    for (Value extent : ArrayRef(hostExtents).drop_back()) {
      rows = arith::MulIOp::create(host, op.getLoc(), rows, extent);
      extents.push_back(kernel.import(extent));
    }
    row = delinearize(b, kernel.block(), extents);
    x = kernel.import(op.getInputs()[0]);
    Value length = kernel.import(hostExtents.back()), counted = countedEntries(length);
    auto [peak, total] = overRow(counted);
    Epilogue epilogue(kernel, op);
    forEach(b, kernel.thread(), length, threads, [&](Value j) {
      Value probability = b.ifElse(
          b.less(j, counted), [&] { return b.div(n.exp(b.sub(entry(j), peak)), total); }, [&] { return n.real(0); });
      epilogue.store(at(j), probability);
    });
    kernel.launch(rows);
  }

private:
  static constexpr int64_t threads = 128;

  SmallVector<Value> at(Value j) {
    SmallVector<Value> indices(row);
    indices.push_back(j);
    return indices;
  }
  Value entry(Value j) { return b.convert(load(b, x, at(j)), n.wide); }

  /// The first entries of the row are those that count; a query's keys do up to its own place.
  Value countedEntries(Value length) {
    if (!op.getConfig().contains("causal"))
      return length;
    Value place = row.back();
    if (op.getInputs().size() > 1)
      place = b.add(loadIndex(b, kernel.import(op.getInputs()[1]), row.front()), place);
    return least(b, b.add(place, b.index(1)), length);
  }

  /// The row's largest entry and the sum of exponentials for it, in one pass: where a thread meets a larger entry, what
  /// it has summed shrinks. The order depends on an entry's position alone.
  std::pair<Value, Value> overRow(Value end) {
    auto larger = [&](Value v, Value w) { return b.select(b.greater(v, w), v, w); };
    SmallVector<Value> own =
        forEach(b, kernel.thread(), end, threads, {b.lowest(n.wide), n.real(0)},
                [&](Value j, ValueRange carried) -> SmallVector<Value> {
                  Value x = entry(j), isLarger = b.greater(x, carried[0]);
                  Value below = n.exp(b.select(isLarger, b.sub(carried[0], x), b.sub(x, carried[0])));
                  Value total = b.select(isLarger, fma(b, carried[1], below, n.real(1)), b.add(carried[1], below));
                  return {larger(x, carried[0]), total};
                });
    Value peak = acrossBlock(kernel, own[0], threads, larger);
    Value total = b.mul(own[1], n.exp(b.sub(own[0], peak)));
    return {peak, acrossBlock(kernel, total, threads, [&](Value v, Value w) { return b.add(v, w); })};
  }

  KernelOp op;
  DeviceKernel kernel;
  PlainBuilder &b;
  plain::Numerics n;
  SmallVector<Value> row;
  Value x;
};

} // namespace

std::optional<Results> chooseNorms(PlainBuilder &b, Operation *op) {
  auto eps = [&](auto norm) { return b.getNamedAttr("eps", norm.getEpsAttr()); };
  return TypeSwitch<Operation *, std::optional<Results>>(op)
      .Case([&](hybrid::RmsNormOp norm) {
        SmallVector<NamedAttribute> config{eps(norm)};
        if (norm.getUnitOffset())
          config.push_back(b.getNamedAttr("unit_offset", b.getUnitAttr()));
        return chooseNorm(b, "rms_norm", {norm.getInput(), norm.getWeight()}, norm.getResult(), config);
      })
      .Case([&](hybrid::GatedRmsNormOp norm) {
        return chooseNorm(b, "gated_rms_norm", {norm.getInput(), norm.getWeight(), norm.getGate()}, norm.getResult(),
                          eps(norm));
      })
      .Case([&](hybrid::L2NormOp norm) {
        SmallVector<NamedAttribute> config{eps(norm), b.getNamedAttr("scale", norm.getScaleAttr())};
        return chooseNorm(b, "l2_norm", norm.getInput(), norm.getResult(), config);
      })
      .Case([&](hybrid::LayerNormOp norm) {
        return chooseNorm(b, "layer_norm", {norm.getInput(), norm.getWeight(), norm.getBias()}, norm.getResult(),
                          eps(norm));
      })
      .Case([&](hybrid::SoftmaxOp softmax) {
        SmallVector<Value> inputs{softmax.getInput()};
        if (softmax.getPast())
          inputs.push_back(softmax.getPast());
        SmallVector<NamedAttribute> config;
        if (softmax.getCausal())
          config.push_back(b.getNamedAttr("causal", b.getUnitAttr()));
        return chooseNorm(b, "softmax", inputs, softmax.getResult(), config);
      })
      .Default([](Operation *) { return std::nullopt; });
}

bool buildNorms(KernelOp op) {
  if (op.getKind() == "softmax")
    SoftmaxKernel(op).build();
  else if (llvm::is_contained({"rms_norm", "gated_rms_norm", "l2_norm", "layer_norm"}, op.getKind()))
    NormKernel(op).build();
  else
    return false;
  return true;
}

} // namespace nnterp::device
