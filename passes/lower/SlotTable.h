// The descriptor table of a program while it is being made: which memory stands in which slot.
#pragma once

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

namespace nnterp {

/// Numbers slots in order of first use and writes them as the module attribute `nnterp.slots`: an array of
/// `{kind, name, type}`, from which the manifest is made.
class SlotTable {
public:
  int64_t add(llvm::StringRef kind, llvm::StringRef name, mlir::Type type) {
    auto [it, fresh] = numbers.try_emplace((kind + ":" + name).str(), int64_t(list.size()));
    if (fresh)
      list.push_back({kind.str(), name.str(), type});
    return it->second;
  }

  /// The slot of an argument of `main`, of a weight, of a buffer or of a part of memory.
  int64_t add(mlir::Value v, mlir::func::FuncOp main) {
    if (auto arg = llvm::dyn_cast<mlir::BlockArgument>(v))
      return add("input", main.getArgAttrOfType<mlir::StringAttr>(arg.getArgNumber(), "nnterp.input").getValue(), v.getType());
    if (auto weight = v.getDefiningOp<hybrid::WeightOp>())
      return add("weight", weight.getKey(), v.getType());
    if (auto memory = v.getDefiningOp<hybrid::MemoryOp>())
      return add(memory.getOfRun() ? "kept" : "state", memory.getPart(), v.getType());
    auto buffer = llvm::cast<BufferOp>(v.getDefiningOp());
    return add(buffer.getKept() ? "kept" : "buffer", buffer.getBuffer(), v.getType());
  }

  bool empty() const { return list.empty(); }

  void write(mlir::ModuleOp module) const {
    mlir::Builder b(module.getContext());
    llvm::SmallVector<mlir::Attribute> entries;
    for (const Entry &entry : list)
      entries.push_back(b.getDictionaryAttr({b.getNamedAttr("kind", b.getStringAttr(entry.kind)), b.getNamedAttr("name", b.getStringAttr(entry.name)),
                                             b.getNamedAttr("type", mlir::TypeAttr::get(entry.type))}));
    module->setAttr("nnterp.slots", b.getArrayAttr(entries));
  }

private:
  struct Entry {
    std::string kind, name;
    mlir::Type type;
  };
  llvm::StringMap<int64_t> numbers;
  std::vector<Entry> list;
};

} // namespace nnterp
