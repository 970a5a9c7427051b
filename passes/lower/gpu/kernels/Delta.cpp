// Gated DeltaNet: which kernels stand for its ops.
#include "passes/lower/gpu/kernels/Delta.h"

#include "dialect/Nnterp/Nnterp.h"
#include "passes/lower/cpu/PlainSelection.h"

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

/// Whether a rule's region makes each entry of the state of that entry alone.
static bool isElementwise(Region &region) {
  auto isOwn = [&](Value v) { return v.getParentRegion() == &region; };
  Block &body = region.front();
  bool all = isOwn(body.getTerminator()->getOperand(0));
  for (Operation &op : body.without_terminator()) {
    auto edit = dyn_cast<EditOp>(op);
    if (!edit || !isOwn(edit.getValue()) || (edit.getOffset() && edit.getOffset() != body.getArgument(1)))
      return false;
    // Besides what it edits, and where, it has all from outside.
    op.walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        all &= !isOwn(operand.get()) || operand.get() == edit.getOffset() || &operand == &edit.getValueMutable();
    });
  }
  return all;
}

/// Gives a kernel the edits of a rule's region, entry by entry.
static void addStateEdit(PlainBuilder &b, hybrid::DeltaRuleOp rule, KernelOp kernel) {
  if (rule.getOnState().empty())
    return;
  OpBuilder::InsertionGuard guard(b);
  Block &region = rule.getOnState().front();
  SmallVector<Type> types(5, b.getIndexType()); // row, token, head, and the place in the head's state
  types.push_back(plain::elementOf(rule.getState()));
  Block *body = b.createBlock(&kernel.getStateEdit(), {}, types, SmallVector<Location>(types.size(), b.getLoc()));
  Value token = body->getArgument(1);
  SmallVector<Value> at(body->getArguments().drop_back());
  at[1] = b.index(0); // the region sees one token, which stands at its offset
  Value some = b.boolean(false);
  llvm::DenseMap<Value, Value> entries{{region.getArgument(0), body->getArgument(5)}};
  for (auto edit : region.getOps<EditOp>()) {
    Value offset = edit.getOffset() ? token : Value();
    some = b.either(
        some, plain::Selection(b, edit.getTableAxes(), edit.getTables(), offset).contains(ArrayRef(at).take_front(3)));
    entries[edit] = plain::editEntry(b, edit, at, offset, entries.lookup(edit.getValue()));
  }
  YieldOp::create(b, ValueRange{entries.lookup(region.getTerminator()->getOperand(0)), some});
}

/// The states of all tokens. They are made by a kernel of their own, so that looking at them changes nothing else.
static Value allStates(PlainBuilder &b, hybrid::DeltaRuleOp rule, Value result, StringRef kind, ValueRange inputs) {
  RankedTensorType type = plain::typeOf(result);
  Value memory = tensor::EmptyOp::create(b, type, b.sizesLike(type, rule.getValues()));
  SmallVector<Value> all(inputs);
  all.push_back(rule.getState());
  auto kernel = makeKernel(b, kind, all, {}, memory);
  addStateEdit(b, rule, kernel);
  return kernel.getResult(0);
}

std::optional<Results> chooseDelta(PlainBuilder &b, Operation *op) {
  if (auto convolution = dyn_cast<hybrid::ShortConvOp>(op))
    return chooseShortConv(b, convolution);
  auto rule = dyn_cast<hybrid::DeltaRuleOp>(op);
  if (!rule || (!rule.getOnState().empty() && !isElementwise(rule.getOnState())))
    return std::nullopt;
  SmallVector<Value> inputs{rule.getQueries(), rule.getKeys(),  rule.getValues(),
                            rule.getDecays(),  rule.getBetas(), rule.getLengths()};
  Results states;
  if (Value after = rule.getStates())
    states.push_back(allStates(b, rule, after, "delta_states", inputs));
  if (Value before = rule.getStatesBefore())
    states.push_back(allStates(b, rule, before, "delta_states_before", inputs));
  RankedTensorType type = plain::typeOf(rule.getResult());
  auto kernel = makeKernel(b, "delta_rule", inputs, Out{type, b.sizesLike(type, rule.getValues()), b.getF32Type()},
                           rule.getState());
  addStateEdit(b, rule, kernel);
  Results results(kernel.getResults());
  llvm::append_range(results, states);
  return results;
}

bool buildDelta(KernelOp op) {
  if (op.getKind() == "short_conv") {
    buildShortConv(op);
    return true;
  }
  if (op.getKind() == "delta_states" || op.getKind() == "delta_states_before") {
    buildDeltaSteps(op, /*shortOnly=*/false);
    return true;
  }
  if (op.getKind() != "delta_rule")
    return false;
  bool chunks = op.getStateEdit().empty() && chunksFit(op);
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
