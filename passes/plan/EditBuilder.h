// Builds the ops of one edit of a plan.
#pragma once

#include "dialect/Nnterp/Nnterp.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

namespace nnterp {

/// Where an edit is being built.
struct EditSite {
  mlir::Operation *like = nullptr; ///< op whose block index new ops take
  mlir::Value offset;              ///< position of axis 1 in the tables, inside hybrid.delta_rule; else null
  bool causal = false;             ///< the value is a Pattern
  mlir::Value past;                ///< of a Pattern: tokens before the call, or null
};

/// Builds edits, gathers and the buffers they read. Buffers and gathers are made at `outer` (the start of the function and the
/// place of the source), edits at the builder's insertion point.
class EditBuilder {
public:
  /// `valueOf(name, before)`: the SSA value of a point.
  EditBuilder(mlir::OpBuilder &builder, PlanOp plan, mlir::Block *function,
              std::function<mlir::Value(llvm::StringRef, bool)> valueOf);

  /// The value after `edit` is applied to `value`, for every operation but `force`. Null after an error.
  mlir::Value apply(PlanEditOp edit, mlir::Value value, const EditSite &site);
  /// The part of a value that tables select; the value itself when there are none.
  mlir::Value gather(mlir::Location loc, mlir::Value value, mlir::ArrayAttr tables, mlir::Operation *like);
  /// The mean of a gathered part over axes, of the entries that the tables have.
  mlir::Value mean(mlir::Location loc, mlir::Value gathered, llvm::ArrayRef<int64_t> over, mlir::ArrayAttr tables,
                   mlir::Operation *like);
  /// A buffer of the run, declared by the plan.
  mlir::Value buffer(llvm::StringRef name);
  /// Axes and values of the tables an attribute names.
  void tables(mlir::ArrayAttr names, llvm::SmallVectorImpl<int64_t> &axes, llvm::SmallVectorImpl<mlir::Value> &values);

private:
  struct Source {
    mlir::Value value;
    llvm::SmallVector<int64_t> axes;
  };
  Source source(PlanEditOp edit, llvm::SmallVectorImpl<mlir::Value> &sourceTables, mlir::Operation *like);
  mlir::Value elementwise(PlanEditOp edit, mlir::Value value, const EditSite &site);

  mlir::OpBuilder &b;
  PlanOp plan;
  mlir::Block *function;
  std::function<mlir::Value(llvm::StringRef, bool)> valueOf;
  llvm::StringMap<mlir::Value> buffers;
  llvm::StringMap<PlanBufferOp> declared;
};

} // namespace nnterp
