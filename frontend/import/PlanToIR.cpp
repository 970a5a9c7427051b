// Writes a resolved plan as nnterp.plan ops, one per function of the graph.
#include "frontend/import/PlanToIR.h"

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace nnterp {
namespace {

class PlanWriter {
public:
  PlanWriter(ModuleOp module, const ResolvedPlan &plan) : b(module.getContext()), module(module), plan(plan) {}

  void write(Phase phase) {
    b.setInsertionPointToEnd(module.getBody());
    auto op = PlanOp::create(b, module.getLoc(), functionOf(phase));
    b.createBlock(&op.getBody());
    if (plan.declaresWorlds)
      for (const WorldSpec &world : plan.worlds)
        // Generated tokens are each world's own input.
        PlanWorldOp::create(b, module.getLoc(), world.name, phase == Phase::gen ? world.name : world.input);
    for (const BufferSpec &buffer : plan.buffers)
      if (buffer.phase == phase)
        PlanBufferOp::create(b, module.getLoc(), b.getStringAttr(buffer.name),
                             buffer.kept ? b.getUnitAttr() : UnitAttr(), TypeAttr::get(tensorType(buffer)));
    for (const EditSpec &edit : plan.edits)
      if (edit.phase == phase)
        write(edit, plan.plan->edits[edit.entry]);
    for (const TapSpec &tap : plan.taps)
      if (tap.phase == phase)
        PlanTapOp::create(b, place(plan.plan->taps[tap.entry].atLoc), tap.key, at(tap.gather), isBefore(tap.gather),
                          tap.entry, tables(tap.gather.tables));
    for (const KeepSpec &keep : plan.keeps)
      if (keep.phase == phase)
        writeKeep(keep);
    if (plan.shape.next && phase != Phase::images)
      for (const WorldSpec &world : plan.worlds)
        writeNext(world, phase == Phase::prompt ? "" : "@gen");
  }

private:
  OpBuilder b;
  ModuleOp module;
  const ResolvedPlan &plan;
  llvm::StringMap<Type> pointElements;

  static const char *functionOf(Phase phase) {
    return phase == Phase::images ? "images" : phase == Phase::prompt ? "main" : "step";
  }
  std::string at(const GatherSpec &gather) { return plan.prefix(gather.world) + gather.point; }
  static bool isBefore(const GatherSpec &gather) { return gather.when == When::before; }

  void writeKeep(const KeepSpec &keep) {
    const std::vector<int64_t> &mean = keep.gather.meanAxes;
    PlanKeepOp::create(b, place(plan.plan->edits[keep.entry].loc), keep.name, at(keep.gather), isBefore(keep.gather),
                       keep.entry, tables(keep.gather.tables),
                       mean.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(mean));
  }

  /// The logits that the next token is chosen from.
  void writeNext(const WorldSpec &world, const char *suffix) {
    PlanTapOp::create(b, module.getLoc(), plan.prefix(world.name) + "next" + suffix,
                      plan.prefix(world.name) + "next_logits", /*before=*/false, /*entry=*/0,
                      strings({StringRef(), StringRef()}));
  }

  Location place(const SourceLoc &loc) {
    return FileLineColLoc::get(b.getContext(), loc.file, unsigned(loc.line), unsigned(loc.col));
  }

  Type tensorType(const BufferSpec &buffer) {
    SmallVector<int64_t> shape;
    for (int64_t dim : buffer.dims)
      shape.push_back(dim == BufferSpec::dynamic ? ShapedType::kDynamic : dim);
    Type element = buffer.dtype == DType::i64 ? Type(b.getI64Type()) : Type(b.getF32Type());
    return RankedTensorType::get(shape, buffer.kept ? keptElement(buffer.name) : element);
  }

  /// A kept value has the element type of its point, a mean is float32.
  Type keptElement(const std::string &name) {
    if (pointElements.empty())
      module.walk([&](PointOp op) { pointElements[op.getAt()] = op.getValue().getType().getElementType(); });
    for (const KeepSpec &keep : plan.keeps)
      if (keep.name == name)
        return keep.gather.meanAxes.empty() ? pointElements.lookup(keep.gather.point) : Type(b.getF32Type());
    llvm_unreachable("every kept buffer has its KeepSpec");
  }

  ArrayAttr strings(ArrayRef<StringRef> list) { return b.getStrArrayAttr(list); }

  ArrayAttr tables(const std::vector<AxisTable> &list) {
    SmallVector<StringRef> names;
    for (const AxisTable &table : list)
      names.push_back(table.buffer);
    return strings(names);
  }

  DictionaryAttr source(const SourceSpec &s) {
    SmallVector<NamedAttribute> attrs;
    auto set = [&](StringRef key, Attribute value) { attrs.push_back(b.getNamedAttr(key, value)); };
    const char *kinds[] = {"number", "value", "place", "kept"};
    set("kind", b.getStringAttr(kinds[int(s.kind)]));
    if (!s.buffer.empty())
      set("buffer", b.getStringAttr(s.buffer));
    if (!s.scale.empty())
      set("scale", b.getStringAttr(s.scale));
    SmallVector<StringRef> axes;
    for (const SourceSpec::Axis &axis : s.axes)
      axes.push_back(axis.broadcast              ? StringRef("1")
                     : axis.table.buffer.empty() ? StringRef("=")
                                                 : StringRef(axis.table.buffer));
    set("axes", strings(axes));
    if (s.squeezeSeq)
      set("squeeze_seq", b.getUnitAttr());
    if (s.kind == SourceSpec::Kind::place) {
      set("at", b.getStringAttr(at(s.place)));
      set("when", b.getStringAttr(isBefore(s.place) ? "before" : "after"));
      set("tables", tables(s.place.tables));
      if (!s.place.meanAxes.empty())
        set("mean", b.getDenseI64ArrayAttr(s.place.meanAxes));
    }
    return b.getDictionaryAttr(attrs);
  }

  void write(const EditSpec &edit, const PlanEdit &written) {
    SmallVector<StringRef> numbers(edit.numbers.begin(), edit.numbers.end()), bounds;
    if (edit.hasMin)
      bounds.push_back("min");
    if (edit.hasMax)
      bounds.push_back("max");
    PlanEditOp::create(b, place(written.loc), b.getStringAttr(std::string(name(edit.op))),
                       b.getStringAttr(plan.prefix(edit.world) + edit.point), b.getI64IntegerAttr(edit.entry),
                       tables(edit.ordinals), numbers.empty() ? ArrayAttr() : strings(numbers),
                       bounds.empty() ? ArrayAttr() : strings(bounds),
                       edit.experts.empty() ? StringAttr() : b.getStringAttr(edit.experts),
                       edit.forceMax ? b.getUnitAttr() : UnitAttr(),
                       edit.sources.empty() ? DictionaryAttr() : source(edit.sources.front()));
  }
};

} // namespace

void addPlan(ModuleOp module, const ResolvedPlan &plan) {
  PlanWriter writer(module, plan);
  if (plan.shape.images)
    writer.write(Phase::images);
  writer.write(Phase::prompt);
  if (plan.shape.steps)
    writer.write(Phase::gen);
}

} // namespace nnterp
