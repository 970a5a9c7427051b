// The entry function of a program while blocks are outlined: it calls them one after the other and owns what passes between
// them.
#pragma once

#include "passes/lower/SlotTable.h"

namespace nnterp {

/// The slots of each call site of a function, as the attribute `nnterp.sites`: sites x parameters.
mlir::DenseIntElementsAttr sitesAttr(mlir::Builder &b, llvm::ArrayRef<llvm::SmallVector<int64_t>> sites);

/// Builds one entry. Extents of values are those of their world's input, read from its slots.
class EntryFrame {
public:
  EntryFrame(mlir::OpBuilder &b, mlir::func::FuncOp main, llvm::StringRef symbol, SlotTable &slots);

  mlir::func::FuncOp function() { return entry; }
  /// The first operands of a call: the frame and the number of the call site.
  llvm::SmallVector<mlir::Value> site(int64_t number);
  /// Memory for a value of the graph that crosses a function boundary.
  mlir::Value memoryFor(mlir::Value v);
  mlir::ResultRange call(mlir::func::FuncOp callee, mlir::ValueRange operands);
  void progress(int64_t done, int64_t total);
  /// Ends the entry.
  void finish();

private:
  mlir::Value slot(llvm::StringRef kind, llvm::StringRef name, mlir::Type type);
  mlir::Value input(mlir::Value argument);
  /// An extent of a value that only a run knows.
  mlir::Value extent(mlir::Value v, int64_t axis);
  /// The same of the image encoder, whose values have one such extent.
  mlir::Value patchExtent(mlir::Value v);
  mlir::Value load(mlir::Value argument, int64_t at);

  mlir::OpBuilder b;
  mlir::func::FuncOp main, entry;
  SlotTable &slots;
  mlir::Value frame, firstSite;
  llvm::SmallVector<int64_t> own;      ///< slots of the entry itself
  llvm::StringMap<mlir::Value> memory; ///< of the entry, by kind and name
};

} // namespace nnterp
