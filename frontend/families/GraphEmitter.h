// What the parts of a family's graph are written with: named points, weights, and the ops all of them use.
#pragma once

#include "dialect/Hybrid/Hybrid.h"
#include "dialect/Nnterp/Nnterp.h"
#include "frontend/Config.h"
#include "frontend/names/PointTable.h"
#include "runtime/abi/Tensor.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <string>

namespace nnterp {

class GraphEmitter {
public:
  GraphEmitter(mlir::MLIRContext &context, const ModelConfig &config, const PointTable &points,
               const std::map<std::string, DType> &weightTypes, DType dtype)
      : c(config), b(&context), loc(mlir::UnknownLoc::get(&context)), f32(b.getF32Type()),
        md(dtype == DType::bf16 ? mlir::Type(b.getBF16Type()) : mlir::Type(f32)), weightTypes(weightTypes) {
    for (const PointInfo &row : points.rows())
      rows[row.name] = &row;
  }

  using Value = mlir::Value;

  /// Names a value of the model, or of the current block.
  Value point(const std::string &name, Value v) { return pointOf(name, at + name, v); }
  /// Names a value after a row of the table that stands for several.
  Value pointOf(const std::string &row, const std::string &name, Value v) {
    const PointInfo *info = rows.at(row);
    // Where an op stands in the model is told by the first name of its result: kernels and their errors are reported by it.
    if (mlir::Operation *op = v.getDefiningOp(); op && llvm::isa<mlir::UnknownLoc>(op->getLoc()))
      op->setLoc(mlir::NameLoc::get(b.getStringAttr(name)));
    return PointOp::create(b, loc, v, name, std::string(nnterp::name(info->layout)), info->access == Access::readOnly);
  }

  Value weight(const std::string &key, llvm::ArrayRef<int64_t> shape) {
    auto found = weightTypes.find(key);
    DType type = found != weightTypes.end() ? found->second : c.dtype.value_or(DType::bf16);
    mlir::Type element = type == DType::f32   ? f32
                         : type == DType::f16 ? mlir::Type(b.getF16Type())
                                              : mlir::Type(b.getBF16Type());
    return hybrid::WeightOp::create(b, loc, mlir::RankedTensorType::get(shape, element), key);
  }
  /// A tensor of the current block.
  Value own(const std::string &key, llvm::ArrayRef<int64_t> shape) { return weight(stored + key, shape); }

  int64_t width(Value v) { return llvm::cast<mlir::RankedTensorType>(v.getType()).getShape().back(); }

  Value linear(Value x, Value weight, Value bias = {}) { return hybrid::LinearOp::create(b, loc, x, weight, bias); }
  /// `name.input` and the projection behind it.
  Value project(const std::string &name, Value x, int64_t out, const std::string &key) {
    x = point(name + ".input", x);
    return linear(x, own(key, {out, width(x)}));
  }
  Value heads(Value x, int64_t offset, int64_t stride, int64_t size, int64_t count, int64_t repeat = 1) {
    return hybrid::HeadsOp::create(b, loc, x, offset, stride, size, count, repeat);
  }
  Value swapped(Value x) { return hybrid::SwapHeadsOp::create(b, loc, x); }
  Value merged(Value x) { return hybrid::MergeHeadsOp::create(b, loc, x); }
  Value add(Value x, Value y) { return hybrid::AddOp::create(b, loc, x, y); }

  const ModelConfig &c;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::Type f32, md;
  std::string at;     ///< name prefix of the block being emitted: `layers[3].`
  std::string stored; ///< key prefix of its tensors: `model.layers.3.`

private:
  const std::map<std::string, DType> &weightTypes;
  std::map<std::string, const PointInfo *> rows;
};

} // namespace nnterp
