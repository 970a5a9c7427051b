// Appending to caches: a thread per element that is added.
#include "passes/lower/gpu/kernels/KernelBuilders.h"
#include "passes/lower/gpu/kernels/Warp.h"

#include "dialect/Hybrid/Hybrid.h"

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
