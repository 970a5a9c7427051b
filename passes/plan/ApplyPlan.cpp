// Inserts the taps and edits of nnterp.plan at the points they name.
#include "passes/Passes.h"

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "passes/BlockIndex.h"
#include "passes/plan/EditBuilder.h"
#include "passes/plan/ValueCycle.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_APPLYPLAN
#include "passes/Passes.h.inc"

namespace {

/// A point that the plan touches: its value before the edits is the point's result; `after` stands for the value behind
/// them until all edits are built (a source may be asked for before its own edits are).
struct Touched {
  PointOp point;
  UnrealizedConversionCastOp after;
  SmallVector<PlanEditOp> edits;
};

class PlanApplier {
public:
  PlanApplier(func::FuncOp main, PlanOp plan) : b(main.getContext()), main(main), plan(plan) {
    main.walk([&](PointOp op) { points[op.getAt()] = op; });
  }

  LogicalResult run() {
    if (failed(collect()))
      return failure();
    EditBuilder builder(b, plan, &main.getBody().front(),
                        [&](StringRef name, bool before) { return valueOf(name, before); });
    for (auto &[name, touched] : touchedPoints)
      if (failed(build(builder, touched)))
        return failure();
    for (PlanTapOp tap : plan.getBody().getOps<PlanTapOp>()) {
      Value value = valueOf(tap.getAt(), tap.getBefore());
      if (!value)
        return tap.emitError() << "the graph has no value named '" << tap.getAt() << "'";
      Operation *owner = value.getDefiningOp();
      b.setInsertionPointAfter(owner); // beside its producer, so that both become one kernel
      Value part = builder.gather(tap.getLoc(), value, tap.getTables(), owner);
      copyMarks(owner, TapOp::create(b, tap.getLoc(), part, tap.getKey(), /*kept=*/false));
    }
    for (PlanKeepOp keep : plan.getBody().getOps<PlanKeepOp>()) {
      Value value = valueOf(keep.getAt(), keep.getBefore());
      if (!value)
        return keep.emitError() << "the graph has no value named '" << keep.getAt() << "'";
      Operation *owner = value.getDefiningOp();
      b.setInsertionPointAfter(owner);
      Value part = builder.gather(keep.getLoc(), value, keep.getTables(), owner);
      if (std::optional<ArrayRef<int64_t>> axes = keep.getMean())
        part = builder.mean(keep.getLoc(), part, *axes, keep.getTables(), owner);
      copyMarks(owner, TapOp::create(b, keep.getLoc(), part, keep.getBuffer(), /*kept=*/true));
    }
    for (auto &[name, touched] : touchedPoints)
      if (touched.after) {
        touched.after.getResult(0).replaceAllUsesWith(touched.after.getOperand(0));
        touched.after.erase();
      }
    if (!sortTopologically(&main.getBody().front()))
      return reportCycle(main, plan);
    return success();
  }

private:
  OpBuilder b;
  func::FuncOp main;
  PlanOp plan;
  llvm::StringMap<PointOp> points;
  llvm::MapVector<StringRef, Touched> touchedPoints;

  /// Sorts the plan's edits to their points and puts a stand-in behind every point that is edited.
  LogicalResult collect() {
    for (PlanEditOp edit : plan.getBody().getOps<PlanEditOp>()) {
      PointOp point = points.lookup(edit.getAt());
      if (!point)
        return edit.emitError() << "the graph has no value named '" << edit.getAt() << "'";
      if (point.getReadOnly())
        return edit.emitError() << "'" << edit.getAt() << "' is read-only";
      Touched &touched = touchedPoints[edit.getAt()];
      touched.edits.push_back(edit);
      if (touched.after)
        continue;
      touched.point = point;
      b.setInsertionPointAfter(point);
      touched.after =
          UnrealizedConversionCastOp::create(b, point.getLoc(), point.getResult().getType(), point.getResult());
      copyMarks(point, touched.after);
      point.getResult().replaceAllUsesExcept(touched.after.getResult(0), touched.after);
    }
    return success();
  }

  Value valueOf(StringRef name, bool before) {
    auto it = touchedPoints.find(name);
    if (it != touchedPoints.end())
      return before ? it->second.point.getResult() : it->second.after.getResult(0);
    PointOp point = points.lookup(name);
    return point ? point.getResult() : Value();
  }

  /// Of a Pattern: tokens of each row before the call.
  static Value pastOf(Value pattern) {
    Operation *op = pattern.getDefiningOp();
    if (auto scores = dyn_cast_or_null<hybrid::AttentionScoresOp>(op))
      return scores.getPast();
    auto softmax = dyn_cast_or_null<hybrid::SoftmaxOp>(op);
    return softmax ? softmax.getPast() : Value();
  }

  LogicalResult build(EditBuilder &builder, Touched &touched) {
    if (auto delta = touched.point.getValue().getDefiningOp<hybrid::DeltaRuleOp>())
      if (touched.point.getValue() == delta.getStates())
        return buildInside(builder, touched, delta);
    EditSite site;
    site.like = touched.point;
    site.causal = touched.point.getLayout() == "Pattern";
    site.past = pastOf(touched.point.getValue());
    Value value = touched.point.getResult();
    Value raised, forced;
    for (PlanEditOp edit : touched.edits) {
      b.setInsertionPoint(touched.after);
      if (edit.getOp() == "force") {
        force(builder, edit, raised ? raised : value, raised, forced);
        continue;
      }
      value = builder.apply(edit, value, site);
      if (!value)
        return failure();
    }
    if (forced)
      for (Operation *user : llvm::make_early_inc_range(touched.after.getResult(0).getUsers()))
        if (auto router = dyn_cast<hybrid::RouterOp>(user)) {
          router.getLogitsMutable().assign(raised ? raised : value);
          router.getForcedMutable().assign(forced);
        }
    touched.after->setOperand(0, value);
    return success();
  }

  /// Forced experts are seen by the choice alone: the tapped logits stay as they are.
  void force(EditBuilder &builder, PlanEditOp edit, Value logits, Value &raised, Value &forced) {
    SmallVector<int64_t> axes;
    SmallVector<Value> tables;
    builder.tables(edit.getTables(), axes, tables);
    Value experts = builder.buffer(*edit.getExperts());
    if (edit.getRaise()) {
      raised = RaiseOp::create(b, edit.getLoc(), logits, experts, axes, tables, edit.getEntry());
      copyMarks(logits.getDefiningOp(), raised.getDefiningOp());
    }
    auto shape = llvm::to_vector(cast<RankedTensorType>(logits.getType()).getShape());
    shape.back() = cast<RankedTensorType>(experts.getType()).getDimSize(0);
    forced = ForceOp::create(b, edit.getLoc(), RankedTensorType::get(shape, b.getI64Type()), experts, logits, forced,
                             axes, tables, edit.getEntry());
    copyMarks(logits.getDefiningOp(), forced.getDefiningOp());
  }

  /// Edits of per-token states happen inside the recurrence: what token t itself and all later tokens read.
  LogicalResult buildInside(EditBuilder &builder, Touched &touched, hybrid::DeltaRuleOp old) {
    b.setInsertionPoint(old);
    auto delta = hybrid::DeltaRuleOp::create(b, old.getLoc(), old.getResult().getType(), old.getStateOut().getType(),
                                             old.getStates().getType(), old.getStates().getType(), old.getQueries(),
                                             old.getKeys(), old.getValues(), old.getDecays(), old.getBetas(),
                                             old.getState(), old.getLengths());
    copyMarks(old, delta);
    auto states = cast<RankedTensorType>(old.getStates().getType());
    SmallVector<int64_t> one(states.getShape());
    one[1] = 1;
    Block *body =
        b.createBlock(&delta.getOnState(), {}, {RankedTensorType::get(one, states.getElementType()), b.getIndexType()},
                      {old.getLoc(), old.getLoc()});
    EditSite site;
    site.like = old;
    site.offset = body->getArgument(1);
    Value value = body->getArgument(0);
    for (PlanEditOp edit : touched.edits) {
      b.setInsertionPointToEnd(body);
      value = builder.apply(edit, value, site);
      if (!value)
        return failure();
    }
    b.setInsertionPointToEnd(body);
    hybrid::YieldOp::create(b, old.getLoc(), value);
    old.getResult().replaceAllUsesWith(delta.getResult());
    old.getStateOut().replaceAllUsesWith(delta.getStateOut());
    touched.point.getValueMutable().assign(delta.getStatesBefore());
    touched.after->setOperand(0, delta.getStates());
    old.erase(); // unused by now: the point was its last reader
    return success();
  }
};

struct ApplyPlanPass : impl::ApplyPlanBase<ApplyPlanPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringSet<> seen;
    for (PlanOp plan : module.getOps<PlanOp>()) {
      auto function = module.lookupSymbol<func::FuncOp>(plan.getOf());
      if (!function || !seen.insert(plan.getOf()).second) {
        plan.emitError() << "expects to be the one plan of a function @" << plan.getOf();
        return signalPassFailure();
      }
      if (failed(PlanApplier(function, plan).run()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace nnterp
