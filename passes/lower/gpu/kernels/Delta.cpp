// Gated DeltaNet: which kernels stand for its ops.
#include "passes/lower/gpu/kernels/Delta.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace nnterp::device {

DeltaKernel::DeltaKernel(KernelOp op, StringRef name, int64_t columnsPerBlock)
    : op(op), depth(cast<MemRefType>(op.getInputs()[keys].getType()).getDimSize(3)),
      width(cast<MemRefType>(op.getInputs()[values].getType()).getDimSize(3)), columns(columnsPerBlock),
      kernel(op, name, threads), b(kernel.b) {
  firstColumn = b.mul(kernel.block(0), b.index(columns));
  head = kernel.block(1);
  row = kernel.block(2);
  sequence = kernel.import(extentsOf(op, op.getInputs()[values])[1]);
  length = least(b, loadIndex(b, memory(lengths), row), sequence);
}

Value DeltaKernel::read(Input input, ValueRange at) { return b.convert(load(b, memory(input), at), b.getF32Type()); }

Value DeltaKernel::read(Input input, ValueRange at, Value exists) {
  return b.ifElse(
      exists, [&] { return read(input, at); }, [&] { return real(0); });
}

Value DeltaKernel::exp(Value x) { return math::ExpOp::create(b, x); }

void DeltaKernel::launch() {
  SmallVector<Value> extents = extentsOf(op, op.getInputs()[values]);
  OpBuilder host(op);
  Value tiles = arith::ConstantIndexOp::create(host, op.getLoc(), int64_t(llvm::divideCeil(width, columns)));
  kernel.launch({tiles, extents[2], extents[0]});
}

std::optional<Results> chooseDelta(PlainBuilder &b, Operation *op) {
  if (auto convolution = dyn_cast<hybrid::ShortConvOp>(op))
    return chooseShortConv(b, convolution);
  auto rule = dyn_cast<hybrid::DeltaRuleOp>(op);
  // Edits between two tokens are ops of their own.
  if (!rule || !rule.getOnState().empty())
    return std::nullopt;
  SmallVector<Value> inputs{rule.getQueries(), rule.getKeys(),  rule.getValues(),
                            rule.getDecays(),  rule.getBetas(), rule.getLengths()};
  // The states are seen by a kernel of their own, so that looking at them changes nothing else.
  Value states;
  if (llvm::any_of(op->getResults().drop_front(2), [](Value v) { return !v.use_empty(); })) {
    RankedTensorType type = plain::typeOf(rule.getStates() ? rule.getStates() : rule.getStatesBefore());
    Value memory = tensor::EmptyOp::create(b, type, b.sizesLike(type, rule.getValues()));
    SmallVector<Value> all(inputs);
    all.push_back(rule.getState());
    states = makeKernel(b, "delta_states", all, {}, memory).getResult(0);
  }
  RankedTensorType type = plain::typeOf(rule.getResult());
  auto kernel = makeKernel(b, "delta_rule", inputs, Out{type, b.sizesLike(type, rule.getValues()), b.getF32Type()},
                           rule.getState());
  Results results(kernel.getResults());
  while (results.size() < op->getNumResults())
    results.push_back(states ? states : kernel.getResult(1));
  return results;
}

bool buildDelta(KernelOp op) {
  if (op.getKind() == "short_conv" || op.getKind() == "delta_states") {
    op.getKind() == "short_conv" ? buildShortConv(op) : buildDeltaSteps(op, /*shortOnly=*/false);
    return true;
  }
  if (op.getKind() != "delta_rule")
    return false;
  bool chunks = chunksFit(op);
  if (chunks) {
    OpBuilder host(op);
    Location loc = op.getLoc();
    Value sequence = extentsOf(op, op.getInputs()[2])[1], one = arith::ConstantIndexOp::create(host, loc, 1);
    auto several =
        scf::IfOp::create(host, loc, arith::CmpIOp::create(host, loc, arith::CmpIPredicate::ugt, sequence, one));
    host.setInsertionPointToStart(several.thenBlock());
    auto copy = cast<KernelOp>(host.clone(*op));
    buildDeltaChunks(copy);
    copy.erase();
  }
  // A row's own length decides how it is computed, whatever stands beside it.
  buildDeltaSteps(op, /*shortOnly=*/chunks);
  return true;
}

} // namespace nnterp::device
