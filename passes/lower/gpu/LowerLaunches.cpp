// Lowers launches to calls of the host's table: the kernel's number, its geometry, the addresses of its parameters.
#include "passes/Passes.h"

#include "passes/lower/HostCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace nnterp {
#define GEN_PASS_DEF_LOWERLAUNCHES
#include "passes/Passes.h.inc"

namespace {

struct LowerLaunchesPass : impl::LowerLaunchesBase<LowerLaunchesPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::StringMap<int64_t> numbers; // as the manifest lists kernels
    for (auto kernel : module.getOps<gpu::GPUModuleOp>())
      numbers.try_emplace(kernel.getName(), int64_t(numbers.size()));
    for (auto function : module.getOps<func::FuncOp>())
      function.walk(
          [&](gpu::LaunchFuncOp launch) { lower(function, launch, numbers.lookup(launch.getKernelModuleName())); });
  }

  static void lower(func::FuncOp function, gpu::LaunchFuncOp launch, int64_t number) {
    RunBuilder run(launch);
    auto &b = run.b;
    SmallVector<Value> geometry;
    gpu::KernelDim3 grid = launch.getGridSizeOperandValues(), block = launch.getBlockSizeOperandValues();
    for (Value extent : {grid.x, grid.y, grid.z, block.x, block.y, block.z})
      geometry.push_back(arith::IndexCastOp::create(b, run.i64, extent));
    geometry.push_back(run.constant(0)); // kernels declare all the shared memory they use
    SmallVector<Value> places;
    Value values = array(function, run, launch.getNumKernelOperands());
    for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
      places.push_back(run.address(values, 8 * int64_t(i)));
      LLVM::StoreOp::create(b, operand, places.back(), 8);
    }
    run.callHost(offsetof(abi::Host, launch), LLVM::LLVMVoidType::get(b.getContext()),
                 {run.constant(number), filled(function, run, geometry), filled(function, run, places)});
    launch.erase();
  }

  /// Memory of the function's frame for `count` words, taken once per call of the function.
  static Value array(func::FuncOp function, RunBuilder &run, unsigned count) {
    OpBuilder::InsertionGuard guard(run.b);
    run.b.setInsertionPointToStart(&function.getBody().front());
    return LLVM::AllocaOp::create(run.b, run.pointer, run.i64, run.constant(std::max(count, 1u)), 8);
  }
  static Value filled(func::FuncOp function, RunBuilder &run, ArrayRef<Value> words) {
    Value base = array(function, run, unsigned(words.size()));
    for (auto [i, word] : llvm::enumerate(words))
      LLVM::StoreOp::create(run.b, word, run.address(base, 8 * int64_t(i)), 8);
    return base;
  }
};

} // namespace
} // namespace nnterp
