// Counts work, kernels and what worlds share.
#include "passes/WorkReport.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/Inputs.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nnterp {
namespace {

ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

int64_t bytesOf(Value v) {
  auto type = cast<RankedTensorType>(v.getType());
  return type.getNumElements() * int64_t(type.getElementTypeBitWidth() / 8);
}

/// Rows of a call, and tokens in it.
struct Call {
  Polynomial rows, columns;
  explicit Call(Value v) {
    std::string ids = inputName(idsOf(v)).str();
    rows = Polynomial::extent(ids + ".0");
    columns = Polynomial::extent(ids + ".1");
  }
  Polynomial tokens() const { return rows * columns; }
};

/// Keys that queries meet: those of the call, or all that the cache holds.
Polynomial keysOf(Value keys) {
  if (auto view = keys.getDefiningOp<hybrid::KvViewOp>())
    return Polynomial::extent(inputName(cast<BlockArgument>(view.getTotal())).str());
  return Call(keys).columns;
}

bool isEncoder(Value v) {
  auto function = dyn_cast_or_null<func::FuncOp>(v.getParentBlock()->getParentOp());
  return function && function.getName() == "images";
}

/// How many patches of the encoder are joined in a row of a value.
int64_t joinedPatches(Value v) {
  while (Operation *def = v.getDefiningOp()) {
    if (auto merge = dyn_cast<hybrid::MergePatchesOp>(def))
      return int64_t(merge.getN());
    if (def->getNumOperands() == 0)
      break;
    v = def->getOperand(0);
  }
  return 1;
}

/// Patches of the input that a value of the encoder belongs to.
Polynomial patchesOf(Value v) {
  StringRef input = inputName(idsOf(v));
  return Polynomial::extent((input.take_front(input.rfind('/') + 1) + "pixels.0").str());
}

/// Positions of a projection: all tokens, or one per row.
Polynomial positionsOf(Value v) {
  Call call(v);
  return shapeOf(v).size() == 2 ? call.rows : call.tokens();
}

Polynomial flopsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Polynomial>(op)
      .Case([](hybrid::LinearOp linear) {
        ArrayRef<int64_t> weight = shapeOf(linear.getWeight());
        if (isEncoder(linear.getInput()))
          return patchesOf(linear.getInput()) *
                 Polynomial(2 * weight[0] * weight[1] / joinedPatches(linear.getInput()));
        return positionsOf(linear.getInput()) * Polynomial(2 * weight[0] * weight[1]);
      })
      .Case([](hybrid::PatchEmbedOp embed) {
        return patchesOf(embed.getPixels()) *
               Polynomial(2 * cast<RankedTensorType>(embed.getWeight().getType()).getNumElements());
      })
      .Case([](hybrid::SegmentAttentionOp attention) { // if all patches are of one image
        Polynomial patches = patchesOf(attention.getQueries());
        ArrayRef<int64_t> queries = shapeOf(attention.getQueries());
        return patches * patches * Polynomial(4 * queries[1] * queries[3]);
      })
      .Case([](hybrid::ExpertsOp experts) {
        ArrayRef<int64_t> down = shapeOf(experts.getDown());
        return Call(experts.getInput()).tokens() *
               Polynomial(6 * down[1] * down[2] * shapeOf(experts.getIndices()).back());
      })
      .Case([](hybrid::AttentionScoresOp scores) {
        ArrayRef<int64_t> queries = shapeOf(scores.getQueries());
        return Call(scores.getQueries()).tokens() * keysOf(scores.getKeys()) * Polynomial(2 * queries[1] * queries[3]);
      })
      .Case([](hybrid::AttentionMixOp mix) {
        ArrayRef<int64_t> probabilities = shapeOf(mix.getProbabilities());
        return Call(mix.getProbabilities()).tokens() * keysOf(mix.getValues()) *
               Polynomial(2 * probabilities[1] * shapeOf(mix.getValues()).back());
      })
      .Case([](hybrid::DeltaRuleOp delta) {
        // Per entry of the state: decay, recall, write, read out.
        ArrayRef<int64_t> state = shapeOf(delta.getState());
        return Call(delta.getValues()).tokens() * Polynomial(7 * state[1] * state[2] * state[3]);
      })
      .Case([](hybrid::ShortConvOp conv) {
        ArrayRef<int64_t> weight = shapeOf(conv.getWeight());
        return Call(conv.getInput()).tokens() * Polynomial(2 * weight[0] * weight[2]);
      })
      .Default([](Operation *) { return Polynomial(); });
}

void reportEntry(func::FuncOp function, int64_t blocks, EntryReport &report) {
  llvm::DenseSet<Value> read; // weights, each once per call
  for (Operation &op : function.getBody().front()) {
    report.flops += flopsOf(&op);
    if (auto experts = dyn_cast<hybrid::ExpertsOp>(op)) {
      int64_t one = (bytesOf(experts.getGateUp()) + bytesOf(experts.getDown())) / shapeOf(experts.getDown())[0];
      report.expertBytes += Call(experts.getInput()).tokens() * Polynomial(one * shapeOf(experts.getIndices()).back());
    } else if (auto embedding = dyn_cast<hybrid::EmbeddingOp>(op)) {
      continue; // a row per token
    } else {
      for (Value v : op.getOperands())
        if (auto weight = v.getDefiningOp<hybrid::WeightOp>(); weight && read.insert(v).second)
          report.weightBytes += bytesOf(v);
    }
    if (!isa<hybrid::HybridDialect>(op.getDialect()) || isa<hybrid::WeightOp, hybrid::MemoryOp>(op))
      continue;
    size_t world = size_t(worldIndex(&op));
    while (report.worlds.size() <= world)
      report.worlds.push_back({blocks, 0});
    WorldReport &own = report.worlds[world];
    ++own.ops;
    own.firstOwnBlock = std::min(own.firstOwnBlock, blockIndex(&op).value_or(blocks));
  }
}

} // namespace

void reportWork(ModuleOp module, ProgramReport &report) {
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (isa<hybrid::DeltaRuleOp, hybrid::AttentionMixOp, hybrid::ExpertsOp>(op))
        report.blocks = std::max(report.blocks, blockIndex(op).value_or(-1) + 1);
    });
  if (auto images = module.lookupSymbol<func::FuncOp>("images"))
    reportEntry(images, report.blocks, report.images);
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    reportEntry(main, report.blocks, report.prompt);
  if (auto step = module.lookupSymbol<func::FuncOp>("step"))
    reportEntry(step, report.blocks, report.step);
}

void reportKernels(ModuleOp module, ProgramReport &report) {
  auto count = [&](StringRef name, EntryReport &entry) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      return;
    function.walk([&](func::CallOp call) {
      if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
        callee.walk([&](hybrid::KernelOp kernel) {
          ++entry.kernels;
          ++entry.kinds[kernel.getKind().str()];
        });
    });
  };
  count("nnterp_images", report.images);
  count("nnterp_main", report.prompt);
  count("nnterp_step", report.step);
}

} // namespace nnterp
