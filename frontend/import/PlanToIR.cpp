// Writes a resolved plan as an nnterp.plan op.
#include "frontend/import/PlanToIR.h"

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
namespace {

class PlanWriter {
public:
  explicit PlanWriter(ModuleOp module) : b(module.getContext()), module(module) {}

  void write(const ResolvedPlan &plan) {
    b.setInsertionPointToEnd(module.getBody());
    auto op = PlanOp::create(b, module.getLoc());
    b.createBlock(&op.getBody());
    for (const BufferSpec &buffer : plan.buffers)
      PlanBufferOp::create(b, module.getLoc(), b.getStringAttr(buffer.name), TypeAttr::get(tensorType(buffer)));
    for (const EditSpec &edit : plan.edits)
      write(edit, plan.plan->edits[edit.entry]);
    for (const TapSpec &tap : plan.taps)
      PlanTapOp::create(b, place(plan.plan->taps[tap.entry].atLoc), tap.key, tap.gather.point,
                        tap.gather.when == When::before, tap.entry, tables(tap.gather.tables));
  }

private:
  OpBuilder b;
  ModuleOp module;

  Location place(const SourceLoc &loc) {
    return FileLineColLoc::get(b.getContext(), loc.file, unsigned(loc.line), unsigned(loc.col));
  }

  Type tensorType(const BufferSpec &buffer) {
    SmallVector<int64_t> shape;
    for (int64_t dim : buffer.dims)
      shape.push_back(dim == BufferSpec::dynamic ? ShapedType::kDynamic : dim);
    return RankedTensorType::get(shape, buffer.dtype == DType::i64 ? Type(b.getI64Type()) : Type(b.getF32Type()));
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
    const char *kinds[] = {"number", "value", "place"};
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
      set("at", b.getStringAttr(s.place.point));
      set("when", b.getStringAttr(s.place.when == When::before ? "before" : "after"));
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
    PlanEditOp::create(b, place(written.loc), b.getStringAttr(std::string(name(edit.op))), b.getStringAttr(edit.point),
                       b.getI64IntegerAttr(edit.entry), tables(edit.ordinals),
                       numbers.empty() ? ArrayAttr() : strings(numbers), bounds.empty() ? ArrayAttr() : strings(bounds),
                       edit.experts.empty() ? StringAttr() : b.getStringAttr(edit.experts),
                       edit.forceMax ? b.getUnitAttr() : UnitAttr(),
                       edit.sources.empty() ? DictionaryAttr() : source(edit.sources.front()));
  }
};

} // namespace

void addPlan(ModuleOp module, const ResolvedPlan &plan) { PlanWriter(module).write(plan); }

} // namespace nnterp
