// Lowers the run's memory and services to loads from the frame and calls through the host's table
// (runtime/abi/Frame.h).
//
// Runs on functions whose control flow is blocks, right before the conversion to LLVM. Every access of the outside
// world is then one of: a load from the frame, a call of a pointer in the table behind `nnterp_host`. Nothing is a
// symbol found by luck.
#include "passes/Passes.h"

#include "dialect/Nnterp/Nnterp.h"
#include "passes/lower/DenseMemory.h"
#include "passes/lower/HostCalls.h"
#include "runtime/abi/Frame.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_LOWERSLOTS
#include "passes/Passes.h.inc"

namespace {

constexpr llvm::StringLiteral sitesAttr = "nnterp.sites";

class LowerSlotsPass : public impl::LowerSlotsBase<LowerSlotsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkSites(module)))
      return signalPassFailure();
    LLVMTypeConverter converter(&getContext());
    defineHost(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      LLVM::GlobalOp table;
      function.walk([&](SlotOp slot) {
        if (!table)
          table = sitesTable(function);
        lower(slot, table, converter);
      });
      function.walk([&](ProgressOp op) {
        RunBuilder run(op);
        run.callHost(offsetof(abi::Host, progress), LLVM::LLVMVoidType::get(&getContext()),
                     {run.constant(op.getDone()), run.constant(op.getTotal())});
        op.erase();
      });
      function.walk([&](FailOp op) {
        RunBuilder run(op);
        run.callHost(offsetof(abi::Host, fail), LLVM::LLVMVoidType::get(&getContext()),
                     {run.constant(op.getEntry()), run.constant(op.getReason())});
        op.erase();
      });
      if (function.isPrivate())
        keepApart(function);
    }
  }

private:
  /// Checks, before anything is changed, that every slot has a table that it can be looked up in and a plain row-major
  /// type.
  static LogicalResult checkSites(ModuleOp module) {
    WalkResult result = module.walk([](SlotOp slot) -> WalkResult {
      auto function = slot->getParentOfType<func::FuncOp>();
      auto sites = function ? function->getAttrOfType<DenseIntElementsAttr>(sitesAttr) : nullptr;
      if (!sites)
        return slot.emitOpError("stands in a function without the table ") << sitesAttr;
      auto table = dyn_cast<RankedTensorType>(sites.getType());
      if (!table || table.getRank() != 2 || !table.getElementType().isInteger(64))
        return (slot.emitOpError("needs ")
                << sitesAttr << " to be a tensor of call sites x parameters, i64, but it is " << sites.getType());
      int64_t parameters = table.getDimSize(1), index = slot.getIndex();
      if (index < 0 || index >= parameters)
        return slot.emitOpError("has parameter ") << index << ", but the table has " << parameters;
      auto type = dyn_cast<MemRefType>(slot.getType());
      if (!type || !type.getLayout().isIdentity() || type.getRank() > abi::maxRank)
        return slot.emitOpError("is dense row-major memory of rank ")
               << abi::maxRank << " or less, but has type " << slot.getType();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// The pointer the executor sets, and allocation through it, under the names that finalize-memref-to-llvm calls.
  static void defineHost(ModuleOp module) {
    auto b = ImplicitLocOpBuilder::atBlockBegin(module.getLoc(), module.getBody());
    auto pointer = LLVM::LLVMPointerType::get(b.getContext());
    auto i64 = b.getI64Type();
    auto host =
        LLVM::GlobalOp::create(b, pointer, /*isConstant=*/false, LLVM::Linkage::External, hostSymbol, Attribute());
    {
      OpBuilder::InsertionGuard guard(b);
      b.createBlock(&host.getInitializerRegion());
      LLVM::ReturnOp::create(b, Value(LLVM::ZeroOp::create(b, pointer)));
    }
    auto define = [&](StringRef name, Type result, ArrayRef<Type> arguments) {
      return LLVM::LLVMFuncOp::create(b, name, LLVM::LLVMFunctionType::get(result, arguments), LLVM::Linkage::Internal);
    };
    // Host memory is aligned to 64 bytes, which is what bufferization asks for.
    auto allocate = [&](LLVM::LLVMFuncOp function, unsigned bytes) {
      function.setResultAttr(0, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
      RunBuilder run(b.getLoc(), function.addEntryBlock(b));
      LLVM::ReturnOp::create(run.b,
                             run.callHost(offsetof(abi::Host, allocate), pointer, {function.getArgument(bytes)}));
    };
    allocate(define("_mlir_memref_to_llvm_alloc", pointer, {i64}), 0);
    allocate(define("_mlir_memref_to_llvm_aligned_alloc", pointer, {i64, i64}), 1);
    auto release = define("_mlir_memref_to_llvm_free", LLVM::LLVMVoidType::get(b.getContext()), {pointer});
    RunBuilder run(b.getLoc(), release.addEntryBlock(b));
    run.callHost(offsetof(abi::Host, release), LLVM::LLVMVoidType::get(b.getContext()), {release.getArgument(0)});
    LLVM::ReturnOp::create(run.b, ValueRange());
  }

  /// The function's table as a constant of the program.
  static LLVM::GlobalOp sitesTable(func::FuncOp function) {
    ImplicitLocOpBuilder b(function.getLoc(), function);
    auto sites = function->getAttrOfType<DenseIntElementsAttr>(sitesAttr);
    Type type = b.getI64Type();
    for (int64_t extent : llvm::reverse(cast<RankedTensorType>(sites.getType()).getShape()))
      type = LLVM::LLVMArrayType::get(type, unsigned(extent));
    return LLVM::GlobalOp::create(b, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                  (function.getName() + ".sites").str(), sites);
  }

  static void lower(SlotOp slot, LLVM::GlobalOp table, const LLVMTypeConverter &converter) {
    RunBuilder run(slot);
    auto &b = run.b;
    auto type = cast<MemRefType>(slot.getType());
    Value base = LLVM::AddressOfOp::create(b, run.pointer, table.getSymName());
    Value entry = LLVM::GEPOp::create(b, run.pointer, table.getType(), base,
                                      ArrayRef<LLVM::GEPArg>{0, slot.getSite(), int32_t(slot.getIndex())});
    Value number = run.load(run.i64, entry, 0, true);
    Value slots = run.load(run.pointer, slot.getFrame(), offsetof(abi::Frame, slots), true);
    Value place = LLVM::GEPOp::create(b, run.pointer, LLVM::LLVMArrayType::get(b.getI8Type(), abi::slotBytes), slots,
                                      ArrayRef<LLVM::GEPArg>{number});
    Value data = run.load(run.pointer, place, offsetof(abi::Slot, data), true);

    slot.replaceAllUsesWith(denseMemory(b, b.getLoc(), type, data, converter, [&](int64_t axis) {
      return run.load(run.i64, place, int64_t(offsetof(abi::Slot, sizes)) + 8 * axis, true);
    }));
    slot.erase();
  }

  /// Outlined functions are compiled once: neither exported nor copied into their callers.
  static void keepApart(func::FuncOp function) {
    MLIRContext *context = function.getContext();
    if (!function->hasAttr("llvm.linkage"))
      function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
    function.setNoInline(true);
  }
};

} // namespace
} // namespace nnterp
