// Writes kernels: parameters, names, launches.
#include "passes/lower/gpu/DeviceKernel.h"

#include "dialect/Device/Device.h"
#include "passes/lower/DenseMemory.h"
#include "passes/lower/gpu/KernelHash.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace nnterp {

std::string kernelKind(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (auto named = op->getLoc()->findInstanceOf<NameLoc>())
    name = named.getName().getValue();
  std::string kind;
  for (char c : name)
    kind += llvm::isAlnum(c) ? c : '_';
  return kind;
}

void device::when(plain::PlainBuilder &b, Value condition, function_ref<void()> body) {
  auto guarded = scf::IfOp::create(b, condition);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(guarded.thenBlock());
  body();
}

SmallVector<Value> device::delinearize(plain::PlainBuilder &b, Value flat, ValueRange extents) {
  SmallVector<Value> at(extents.size());
  for (size_t axis = extents.size(); axis-- > 0;) {
    at[axis] = axis == 0 ? flat : b.remainder(flat, extents[axis]);
    if (axis > 0)
      flat = b.div(flat, extents[axis]);
  }
  return at;
}

DeviceKernel::DeviceKernel(Operation *anchor, StringRef kind, int64_t threadsPerBlock, Extents known)
    : b(anchor->getLoc(), anchor->getContext()), anchor(anchor), host(anchor), kind(kind), threads(threadsPerBlock),
      known(known) {
  auto top = anchor->getParentOfType<ModuleOp>();
  b.setInsertionPointToEnd(top.getBody());
  module = gpu::GPUModuleOp::create(b, kind);
  b.setInsertionPointToStart(module.getBody());
  function = gpu::GPUFuncOp::create(b, kind, b.getFunctionType({}, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  // Registers before occupancy: left to itself, ptxas saves registers of kernels that would have enough of them by
  // spilling.
  function->setAttr("nvvm.minctasm", b.getI32IntegerAttr(1));
  function.setKnownBlockSizeAttr(b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  b.setInsertionPointToStart(&function.getBody().front());
  bodyStart = arith::ConstantIndexOp::create(b, 0);
}

Value DeviceKernel::parameter(Value scalar) {
  operands.push_back(scalar);
  SmallVector<Type> types(function.getFunctionType().getInputs());
  unsigned place = unsigned(types.size()); // in front of shared memory, which is arguments of the body too
  types.push_back(scalar.getType());
  function.setFunctionType(b.getFunctionType(types, {}));
  return function.getBody().front().insertArgument(place, scalar.getType(), b.getLoc());
}

/// Memory that stands inside without its extents; views of memory too, since their elements stand as close. What is
/// only read at other indices is no memory.
bool DeviceKernel::isOfAnyExtents(Value memory) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  return known == Extents::none && type && type.getLayout().isIdentity() && !memory.getDefiningOp<device::ViewOp>();
}

Value DeviceKernel::importMemory(Value memory) {
  auto hostType = cast<MemRefType>(memory.getType()), type = hostType;
  if (isOfAnyExtents(memory))
    type =
        MemRefType::Builder(hostType).setShape(SmallVector<int64_t>(size_t(hostType.getRank()), ShapedType::kDynamic));
  Location loc = b.getLoc();
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(host, loc, memory);
  address = arith::IndexCastOp::create(host, loc, host.getI64Type(), address);
  Value pointer =
      parameter(LLVM::IntToPtrOp::create(host, loc, LLVM::LLVMPointerType::get(host.getContext()), address));
  SmallVector<Value> extents;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(unsigned(axis)))
      extents.push_back(parameter(
          arith::IndexCastOp::create(host, loc, host.getI64Type(), memref::DimOp::create(host, loc, memory, axis))));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(bodyStart);
  Value inner = denseMemory(b, loc, type, pointer, LLVMTypeConverter(b.getContext()),
                            [&](int64_t) { return extents.pop_back_val(); });
  memories.push_back({inner, hostType});
  return inner;
}

Value DeviceKernel::extent(Value memory, int64_t axis) { return memref::DimOp::create(b, import(memory), axis); }

/// Views of memory have types that follow from the memory's own: where some were copied from the host, they are given
/// memory of the host's type.
void DeviceKernel::castForViews() {
  for (auto [memory, type] : memories) {
    if (memory.getType() == type)
      continue;
    b.setInsertionPointAfterValue(memory);
    for (OpOperand &use : llvm::make_early_inc_range(memory.getUses()))
      if (isa<ViewLikeOpInterface>(use.getOwner()))
        use.set(memref::CastOp::create(b, type, memory));
  }
}

/// Scalar loops and branches that change no memory.
static bool isScalar(Operation *op) {
  return isa<scf::ForOp, scf::IfOp>(op) && op->getNumResults() > 0 &&
         !op->walk([](Operation *inner) {
              return isa<memref::StoreOp, memref::AllocOp, func::CallOp, scf::ParallelOp>(inner)
                         ? WalkResult::interrupt()
                         : WalkResult::advance();
            }).wasInterrupted();
}

/// Ops that read nothing but their operands, or memory that earlier launches have written: made where they are used.
static bool isMadeInside(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() || isScalar(op) ||
         isa<device::ViewOp, memref::DimOp, memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
             memref::ExpandShapeOp, memref::ReinterpretCastOp, memref::LoadOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

Value DeviceKernel::import(Value v) {
  if (Value known = inside.lookupOrNull(v))
    return known;
  Operation *def = v.getDefiningOp();
  Value result;
  if (auto global = dyn_cast_or_null<memref::GetGlobalOp>(def)) {
    // A table of the program: each kernel carries its own copy.
    auto table = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(anchor, global.getNameAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(function);
    auto copy = memref::GlobalOp::create(b, "table" + std::to_string(globals++), b.getStringAttr("private"),
                                         table.getType(), table.getInitialValueAttr(), true, IntegerAttr());
    b.setInsertionPoint(bodyStart);
    result = memref::GetGlobalOp::create(b, table.getType(), copy.getSymName());
  } else if (def && isMadeInside(def) && !isOfAnyExtents(v)) {
    importOperands(def);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(bodyStart);
    return b.clone(*def, inside)->getResult(cast<OpResult>(v).getResultNumber());
  } else if (auto type = dyn_cast<MemRefType>(v.getType())) {
    result = importMemory(v);
  } else if (v.getType().isIndex()) {
    Value number = parameter(arith::IndexCastOp::create(host, b.getLoc(), host.getI64Type(), v));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(bodyStart);
    result = arith::IndexCastOp::create(b, b.getIndexType(), number);
  } else {
    result = parameter(v);
  }
  inside.map(v, result);
  return result;
}

void DeviceKernel::importOperands(Operation *op) {
  op->walk([&](Operation *nested) {
    for (Value v : nested->getOperands())
      if (!op->isAncestor(v.getParentBlock()->getParentOp()))
        import(v);
  });
}

Operation *DeviceKernel::clone(Operation *op) {
  importOperands(op);
  // A second copy of a loop gets arguments of its own.
  op->walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      inside.erase(argument);
  });
  return b.clone(*op, inside);
}

Value DeviceKernel::thread() { return gpu::ThreadIdOp::create(b, gpu::Dimension::x); }
Value DeviceKernel::block(unsigned axis) { return gpu::BlockIdOp::create(b, gpu::Dimension(axis)); }

Value DeviceKernel::shared(ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::GPUDialect::getWorkgroupAddressSpace());
  return function.addWorkgroupAttribution(MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space),
                                          b.getLoc());
}

void DeviceKernel::perElement(ValueRange hostExtents, function_ref<void(ValueRange at)> body) {
  Location loc = b.getLoc();
  Value count = arith::ConstantIndexOp::create(host, loc, 1),
        width = arith::ConstantIndexOp::create(host, loc, threads);
  SmallVector<Value> extents;
  for (Value extent : hostExtents) {
    count = arith::MulIOp::create(host, loc, count, extent);
    extents.push_back(import(extent));
  }
  Value all = b.index(1);
  for (Value extent : extents)
    all = b.mul(all, extent);
  Value first = b.mul(block(), b.index(threads));
  Value flat = b.add(first, thread());
  Value within = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, flat, all);
  device::when(b, within, [&] { body(device::delinearize(b, flat, extents)); });
  launch(arith::CeilDivUIOp::create(host, loc, count, width));
}

void DeviceKernel::barrier() { gpu::BarrierOp::create(b); }

/// Gives the kernel its name; one with the same body takes its place.
gpu::GPUFuncOp DeviceKernel::named() {
  std::string name = kind + "_" + llvm::utohexstr(hashOf(module), /*LowerCase=*/true);
  auto top = module->getParentOfType<ModuleOp>();
  if (auto known = top.lookupSymbol<gpu::GPUModuleOp>(name)) {
    module.erase();
    return known.lookupSymbol<gpu::GPUFuncOp>(name);
  }
  module.setName(name);
  function.setName(name);
  for (auto table : module.getOps<memref::GlobalOp>()) { // texts of all kernels end up in one module
    std::string unique = (name + "_" + table.getSymName()).str();
    function.walk([&](memref::GetGlobalOp use) {
      if (use.getName() == table.getSymName())
        use.setName(unique);
    });
    table.setSymName(unique);
  }
  return function;
}

static void readThroughViews(gpu::GPUFuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](device::ViewOp view) {
    view.readThrough(rewriter);
    if (view->use_empty())
      view.erase();
    else
      view.emitOpError("is read as a whole by a kernel");
  });
}

void DeviceKernel::launch(Value blocks) {
  Value one = arith::ConstantIndexOp::create(host, b.getLoc(), 1);
  launch({blocks, one, one});
}

void DeviceKernel::launch(std::array<Value, 3> grid) {
  gpu::ReturnOp::create(b);
  readThroughViews(function);
  castForViews();
  Value one = arith::ConstantIndexOp::create(host, b.getLoc(), 1);
  Value size = arith::ConstantIndexOp::create(host, b.getLoc(), threads);
  gpu::LaunchFuncOp::create(host, b.getLoc(), named(), {grid[0], grid[1], grid[2]}, {size, one, one}, Value(),
                            operands);
}

} // namespace nnterp
