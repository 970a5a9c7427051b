// What moves memory: appending to caches, reading regions, loops over elements. A thread per element.
#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "passes/lower/gpu/kernels/Warp.h"

#include "dialect/Hybrid/Hybrid.h"

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
    when(b, b.less(at[2], loadIndex(b, lengths, at[0])), [&] {
      Value place = at[2];
      if (op.getInputs().size() > 2)
        place = b.add(loadIndex(b, kernel.import(op.getInputs()[2]), at[0]), place);
      store(b, load(b, added, at), cache, {at[0], at[1], place, at[3]});
    });
  });
}

/// Inputs: a value, and tables [n] or [B,n] of the axes `table_axes`. State: the region that they select. Launched
/// where the kernel of the value has not written the region itself.
void buildGather(KernelOp op) {
  PlainBuilder host(op.getLoc(), op);
  ValueRange tables = op.getInputs().drop_front();
  Value entries = host.index(0);
  for (Value table : tables)
    entries = host.add(entries, extentsOf(op, table).back());
  auto many = scf::IfOp::create(host, host.less(host.index(scatteredEntries), entries), /*withElseRegion=*/false);
  host.setInsertionPointToStart(many.thenBlock());
  auto inside = cast<KernelOp>(host.clone(*op));
  DeviceKernel kernel(inside, op.getKind(), 128);
  auto &b = kernel.b;
  Value region = kernel.import(op.getStates()[0]), value = kernel.import(op.getInputs()[0]);
  kernel.perElement(extentsOf(inside, op.getStates()[0]), [&](ValueRange at) {
    SmallVector<Value> from(at);
    Value exists = b.boolean(true);
    for (auto [axis, table] : llvm::zip(op.getConfig().getAs<DenseI64ArrayAttr>("table_axes").asArrayRef(), tables)) {
      Value known = kernel.import(table), k = at[size_t(axis)];
      Value place = cast<MemRefType>(table.getType()).getRank() == 2 ? load(b, known, {at[0], k}) : load(b, known, k);
      exists = b.both(exists, b.atLeast(place, b.i64(0)));
      from[size_t(axis)] = b.toIndex(place);
    }
    Value entry = b.ifElse(
        exists, [&] { return load(b, value, from); },
        [&] { return b.zero(cast<MemRefType>(value.getType()).getElementType()); });
    store(b, entry, region, at);
  });
  inside.erase();
}

/// A loop over the elements of its outs, whose epilogue computes them.
void buildElements(KernelOp op) {
  DeviceKernel kernel(op, kernelKind(op), 128);
  kernel.perElement(extentsOf(op, op.getOuts()[0]), [&](ValueRange at) { Epilogue(kernel, op).store(at, {}); });
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
  if (op.getKind() == "kv_append")
    buildAppend(op);
  else if (op.getKind() == "gather")
    buildGather(op);
  else if (op.getKind() == "elements")
    buildElements(op);
  else
    return false;
  return true;
}

} // namespace nnterp::device
