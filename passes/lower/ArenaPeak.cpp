// Follows allocations through an entry and what it calls, with extents as symbols.
#include "passes/lower/ArenaPeak.h"

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nnterp {
namespace {

using Extents = SmallVector<Polynomial>;

/// Beyond so many candidates one that covers them all stands for them.
constexpr size_t mostCandidates = 32;

class Walker {
public:
  Walker(ModuleOp module, StringRef entry)
      : module(module), slots(module->getAttrOfType<ArrayAttr>("nnterp.slots")), isStep(entry == "nnterp_step") {}

  std::vector<Polynomial> walk(func::FuncOp entry) {
    visit(entry, Frame());
    return std::move(candidates);
  }

private:
  /// One call of a function: its call site, and what is known of its values.
  struct Frame {
    int64_t site = 0;
    llvm::DenseMap<Value, Extents> extents;
    llvm::DenseMap<Value, Polynomial> bytes;
  };

  ModuleOp module;
  ArrayAttr slots;
  bool isStep;
  Polynomial held;
  std::vector<Polynomial> candidates;

  void visit(func::FuncOp function, Frame frame) {
    if (!function.isExternal())
      visit(function.getBody(), frame);
  }

  /// A loop's body frees what it allocates, so one round shows what it holds.
  void visit(Region &region, Frame &frame) {
    for (Block &block : region)
      for (Operation &op : block) {
        if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
          Polynomial bytes(int64_t(alloc.getType().getElementTypeBitWidth() / 8));
          for (const Polynomial &extent : extentsOf(alloc, frame))
            bytes = bytes * extent;
          frame.bytes[alloc] = bytes;
          held += bytes;
          propose(held);
        } else if (auto dealloc = dyn_cast<memref::DeallocOp>(op)) {
          held -= frame.bytes.lookup(dealloc.getMemref());
        } else if (auto call = dyn_cast<func::CallOp>(op)) {
          follow(call, frame);
        } else {
          for (Region &nested : op.getRegions())
            visit(nested, frame);
        }
      }
  }

  void follow(func::CallOp call, Frame &frame) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee)
      return;
    Frame inner;
    for (auto [argument, operand] : llvm::zip(callee.getArguments(), call.getOperands())) {
      IntegerAttr site;
      if (isa<MemRefType>(operand.getType()))
        inner.extents[argument] = extentsOf(operand, frame);
      else if (operand.getType().isInteger(64) && matchPattern(operand, m_Constant(&site)))
        inner.site = site.getInt();
    }
    visit(callee, std::move(inner));
  }

  void propose(const Polynomial &moment) {
    for (const Polynomial &known : candidates)
      if (known.covers(moment))
        return;
    llvm::erase_if(candidates, [&](const Polynomial &known) { return moment.covers(known); });
    candidates.push_back(moment);
    if (candidates.size() <= mostCandidates)
      return;
    Polynomial all;
    for (const Polynomial &candidate : candidates)
      all = Polynomial::cover(all, candidate);
    candidates = {all};
  }

  /// The slot that a function fetches at its call site.
  DictionaryAttr slotEntry(SlotOp slot, const Frame &frame) {
    auto sites = slot->getParentOfType<func::FuncOp>()->getAttrOfType<DenseIntElementsAttr>("nnterp.sites");
    int64_t parameters = cast<RankedTensorType>(sites.getType()).getDimSize(1);
    int64_t number = sites.getValues<int64_t>()[frame.site * parameters + int64_t(slot.getIndex())];
    return cast<DictionaryAttr>(slots[number]);
  }
  std::string slotName(SlotOp slot, const Frame &frame) {
    return slotEntry(slot, frame).getAs<StringAttr>("name").getValue().str();
  }

  /// Rows and columns of a call have one name, those of its ids.
  std::string extentName(SlotOp op, int64_t axis, const Frame &frame) {
    std::string slot = slotName(op, frame);
    size_t end = slot.rfind('/') == std::string::npos ? 0 : slot.rfind('/') + 1;
    StringRef name = StringRef(slot).drop_front(end);
    std::string world = slot.substr(0, end), step = name.ends_with("@gen") ? "@gen" : "";
    name.consume_back("@gen");
    // Generated tokens are an input per world, so a world's memory has its rows.
    if (axis == 0 && isStep && slotEntry(op, frame).getAs<StringAttr>("kind").getValue() == "state")
      return world + "ids@gen.0";
    bool rows =
        (name == "ids" || name == "lengths" || name == "pads" || name == "past" || name == "image_rows") && axis == 0;
    if (rows || (name == "positions" && axis == 1))
      return world + "ids" + step + ".0";
    if ((name == "positions" && axis == 2) || (name == "image_rows" && axis == 1))
      return world + "ids" + step + ".1";
    if (name == "patches")
      return world + "pixels.0";
    return slot + "." + std::to_string(axis);
  }

  Extents extentsOf(Value memref, Frame &frame) {
    if (auto known = frame.extents.find(memref); known != frame.extents.end())
      return known->second;
    auto type = cast<MemRefType>(memref.getType());
    Extents extents;
    Operation *def = memref.getDefiningOp();
    unsigned dynamic = 0;
    auto alloc = dyn_cast_or_null<memref::AllocOp>(def);
    auto slot = dyn_cast_or_null<SlotOp>(def);
    auto view = dyn_cast_or_null<memref::SubViewOp>(def);
    auto cast = dyn_cast_or_null<memref::CastOp>(def);
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (!type.isDynamicDim(axis))
        extents.push_back(type.getDimSize(axis));
      else if (alloc)
        extents.push_back(valueOf(alloc.getDynamicSizes()[dynamic++], frame));
      else if (slot)
        extents.push_back(Polynomial::extent(extentName(slot, axis, frame)));
      else if (view && view.getType().getRank() == view.getSourceType().getRank())
        extents.push_back(valueOf(view.getMixedSizes()[axis], frame));
      else if (cast)
        extents.push_back(extentsOf(cast.getSource(), frame)[axis]);
      else
        extents.push_back(1);
    }
    return frame.extents[memref] = extents;
  }

  Polynomial valueOf(OpFoldResult v, Frame &frame) {
    if (auto attr = dyn_cast<Attribute>(v))
      return cast<IntegerAttr>(attr).getInt();
    return valueOf(cast<Value>(v), frame);
  }

  /// An index; differences and quotients are bounded from above.
  Polynomial valueOf(Value v, Frame &frame) {
    IntegerAttr constant;
    if (matchPattern(v, m_Constant(&constant)))
      return constant.getInt();
    Operation *def = v.getDefiningOp();
    if (auto dim = dyn_cast_or_null<memref::DimOp>(def))
      if (std::optional<int64_t> axis = dim.getConstantIndex())
        return extentsOf(dim.getSource(), frame)[*axis];
    if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(def))
      return valueOf(cast.getIn(), frame);
    if (auto product = dyn_cast_or_null<arith::MulIOp>(def))
      return valueOf(product.getLhs(), frame) * valueOf(product.getRhs(), frame);
    if (auto sum = dyn_cast_or_null<arith::AddIOp>(def))
      return valueOf(sum.getLhs(), frame) + valueOf(sum.getRhs(), frame);
    if (auto quotient = dyn_cast_or_null<arith::DivUIOp>(def))
      return valueOf(quotient.getLhs(), frame);
    if (auto difference = dyn_cast_or_null<arith::SubIOp>(def))
      return valueOf(difference.getLhs(), frame);
    if (auto load = dyn_cast_or_null<memref::LoadOp>(def))
      if (auto slot = load.getMemref().getDefiningOp<SlotOp>())
        return Polynomial::extent(slotName(slot, frame));
    return 1;
  }
};

} // namespace

std::vector<Polynomial> arenaPeaks(ModuleOp module, StringRef entry) {
  auto function = module.lookupSymbol<func::FuncOp>(entry);
  return function ? Walker(module, entry).walk(function) : std::vector<Polynomial>();
}

} // namespace nnterp
