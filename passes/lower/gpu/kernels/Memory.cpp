// Appending to caches: a thread per element that is added.
#include "passes/lower/gpu/kernels/KernelBuilders.h"

#include "dialect/Hybrid/Hybrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace nnterp::device {

namespace {

/// Inputs: what is added [B,NK,S,D], lengths [B], and past [B] where there is one. State: the cache [B,NK,capacity,D].
void buildAppend(KernelOp op) {
  DeviceKernel kernel(op, op.getKind(), 128);
  auto &b = kernel.b;
  Value added = kernel.import(op.getInputs()[0]), lengths = kernel.import(op.getInputs()[1]);
  Value cache = kernel.import(op.getStates()[0]);
  kernel.perElement(extentsOf(op, op.getInputs()[0]), [&](ValueRange at) {
    auto number = [&](Value table) -> Value {
      return arith::IndexCastOp::create(b, b.getIndexType(), memref::LoadOp::create(b, table, at[0]));
    };
    Value real = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at[2], number(lengths));
    auto guarded = scf::IfOp::create(b, real);
    b.setInsertionPointToStart(guarded.thenBlock());
    Value place = at[2];
    if (op.getInputs().size() > 2)
      place = arith::AddIOp::create(b, number(kernel.import(op.getInputs()[2])), place);
    memref::StoreOp::create(b, memref::LoadOp::create(b, added, at), cache, ValueRange{at[0], at[1], place, at[3]});
    b.setInsertionPointAfter(guarded);
  });
}

} // namespace

std::optional<Results> chooseMemory(PlainBuilder &b, Operation *op) {
  auto append = dyn_cast<hybrid::KvAppendOp>(op);
  if (!append)
    return std::nullopt;
  SmallVector<Value> inputs{append.getAdded(), append.getLengths()};
  if (append.getPast())
    inputs.push_back(append.getPast());
  return Results{makeKernel(b, "kv_append", inputs, {}, append.getCache()).getResult(0)};
}

bool buildMemory(KernelOp op) {
  if (op.getKind() != "kv_append")
    return false;
  buildAppend(op);
  return true;
}

} // namespace nnterp::device
