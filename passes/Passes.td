// The project's passes. Pass FooPass, flag nnterp-foo, file Foo.cpp, test foo.mlir.
#ifndef NNTERP_PASSES
#define NNTERP_PASSES

include "mlir/Pass/PassBase.td"

//===--- plan -----------------------------------------------------------------------------------------------------===//

def DissolveBlocks : Pass<"nnterp-dissolve-blocks", "::mlir::ModuleOp"> {
  let summary = "Inlines hybrid.block, leaving the block's index on its ops";
}

def MakeWorlds : Pass<"nnterp-make-worlds", "::mlir::ModuleOp"> {
  let summary = "Makes one copy of a graph per world of its plan";
  let description = [{
    Points, memory and edits of a world begin with `WORLD/`; worlds on one input share its arguments, named `INPUT/ids`. Ops are marked
    with their world. A plan without worlds leaves its function as it is.
  }];
}

def ApplyPlan : Pass<"nnterp-apply-plan", "::mlir::ModuleOp"> {
  let summary = "Inserts the taps and edits of nnterp.plan at the points they name";
  let description = [{
    Errors: a name without a point, a read-only point, edits whose sources depend on what they edit (a cycle, with the
    values on it). The plan op is kept for the checks that follow.
  }];
  let dependentDialects = ["::nnterp::NnterpDialect", "::mlir::arith::ArithDialect"];
}

//===--- check ----------------------------------------------------------------------------------------------------===//

def CheckDeadEdits : Pass<"nnterp-check-dead-edits", "::mlir::ModuleOp"> {
  let summary = "Refuses an edit that reaches nothing the run writes";
  let description = [{
    Decided on the graphs of all calls together: an entry of the plan is dead if none of its edits is needed by any tap, by the choice
    of a token, or by memory that is saved or read by a call which is itself needed.
  }];
}

def VerifyStage : Pass<"nnterp-verify-stage", "::mlir::ModuleOp"> {
  let summary = "Checks the contract of a stage";
  let options = [Option<"stage", "stage", "std::string", "", "import, plan, checked, simplified, kernels, bufferized or llvm">];
}

//===--- simplify -------------------------------------------------------------------------------------------------===//

def ErasePoints : Pass<"nnterp-erase-points", "::mlir::ModuleOp"> {
  let summary = "Removes points: what a plan does not use costs nothing";
}

def TapsToResults : Pass<"nnterp-taps-to-results", "::mlir::ModuleOp"> {
  let summary = "Makes every tapped, kept or remembered value a result of the program";
  let description = [{
    Results carry their name in the attribute `nnterp.key` and their kind (`output`, `kept`, `state`) in `nnterp.kind`. What is kept or
    remembered for no reader is dropped. The plan ops are removed.
  }];
}

def ShareWorlds : Pass<"nnterp-share-worlds", "::mlir::ModuleOp"> {
  let summary = "Computes once what two worlds have in common";
  let description = [{
    Merges equal ops whichever world they were made for; what is left keeps the mark of the first of its worlds. Worlds on the same input
    so share everything before their first difference.
  }];
}

def KeepPositions : Pass<"nnterp-keep-positions", "::mlir::ModuleOp"> {
  let summary = "Projects only the positions that are read";
  let description = [{
    Where a projection's readers take single positions of it, the positions are taken before the projection: the head of a prompt of
    thousands of tokens is a product of one row. Every position's result is the same either way.
  }];
}

def PruneUnused : Pass<"nnterp-prune-unused", "::mlir::ModuleOp"> {
  let summary = "Drops results and ops that no output needs";
}

//===--- lower ----------------------------------------------------------------------------------------------------===//

def OutlineBlocks : Pass<"nnterp-outline-blocks", "::mlir::ModuleOp"> {
  let summary = "Outlines each block into a function; equal blocks share one";
  let description = [{
    Weights, buffers, inputs and outputs become parameters of the run's descriptor table (`nnterp.slot`); activations alone are
    arguments, with one destination per result.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::bufferization::BufferizationDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::memref::MemRefDialect", "::nnterp::NnterpDialect"];
}

def FormKernels : Pass<"nnterp-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Groups each op of the model with its edits and taps into a hybrid.kernel";
  let dependentDialects = ["::nnterp::hybrid::HybridDialect"];
}

def OpenKernels : Pass<"nnterp-open-kernels", "::mlir::func::FuncOp"> {
  let summary = "Chooses the plain lowering: inlines hybrid.kernel bodies";
}

def LowerPlain : Pass<"nnterp-lower-plain", "::mlir::func::FuncOp"> {
  let summary = "Lowers hybrid and nnterp ops to linalg, scf and arith on tensors";
  let description = [{
    The plain lowering: written to be read, the oracle that faster kernels are compared with.

    Option `device`: for programs whose memory the host cannot read. Caches have more places than tokens, so a table may be shorter
    than its axis: what lies behind it is not selected.
  }];
  let options = [Option<"device", "device", "bool", "false", "For a GPU: the host reads no tensor">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect", "::nnterp::NnterpDialect",
                           "::mlir::bufferization::BufferizationDialect"];
}

def CopyToLoops : Pass<"nnterp-copy-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Turns memref.copy into linalg ops, which become loops";
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def LowerSlots : Pass<"nnterp-lower-slots", "::mlir::ModuleOp"> {
  let summary = "Lowers nnterp.slot, nnterp.progress and nnterp.fail to loads and calls, and allocation to the host's table";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def ChooseDeviceKernels : Pass<"nnterp-choose-device-kernels", "::mlir::func::FuncOp"> {
  let summary = "Chooses kernel builders for the ops that have them";
  let description = [{ Replaces ops of the model by device.kernel on tensors; the plain lowering gets what is left. }];
  let dependentDialects = ["::nnterp::device::DeviceDialect", "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

def FuseEpilogues : Pass<"nnterp-fuse-epilogues", "::mlir::func::FuncOp"> {
  let summary = "Moves elementwise readers of a value into the kernel that computes it";
  let description = [{
    An edit, a tap, an activation or a sum that reads each element at its own index gets it from a register. Values round as if they had
    been stored. A value that others read as well stays an output of the kernel.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::nnterp::device::DeviceDialect"];
}

def InlineLoops : Pass<"nnterp-inline-loops", "::mlir::func::FuncOp"> {
  let summary = "Moves loops that only a later kernel's epilogue reads into it";
  let description = [{
    The other way round than `nnterp-fuse-epilogues`: what an epilogue reads element by element at its own index is computed there, where
    nobody else needs it.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FuseGathers : Pass<"nnterp-fuse-gathers", "::mlir::func::FuncOp"> {
  let summary = "Moves reads of a value's regions into the kernel that computes it";
  let description = [{
    Of a tap with a selection: the epilogue finds an element's place in the region by the tables. With many entries in them a kernel of its own
    gathers the region instead; the launch decides. Reads of what no kernel computes are loops.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::nnterp::device::DeviceDialect"];
}

def SettleViews : Pass<"nnterp-settle-views", "::mlir::func::FuncOp"> {
  let summary = "Gives views memory where somebody does not read them element by element";
  let description = [{
    Products and calls take memory that is dense: what they take of a view is copied. An update of a view writes to fresh memory. All others
    read the view's source.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect", "::nnterp::device::DeviceDialect"];
}

def WholeCaches : Pass<"nnterp-whole-caches", "::mlir::ModuleOp"> {
  let summary = "Lets readers of caches see all their places, not only those in use";
  let description = [{
    How many places are in use is a number in memory that the host of a GPU does not read. Readers mask what lies behind a row's end
    anyway, and with extents that change only when caches grow, one step launches what the next one does.
  }];
}

def DeviceMath : Pass<"nnterp-device-math", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turns math ops that are instructions of the GPU into LLVM's intrinsics";
  let description = [{ Upstream would make them calls of libdevice, which not every machine has. }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def MakeLaunches : Pass<"nnterp-make-launches", "::mlir::ModuleOp"> {
  let summary = "Turns loops over memory into kernels that the host launches";
  let description = [{
    Each kernel is a `gpu.module` of its own, named by what it does and a hash of its body: equal kernels are one, and a kernel's text does
    not depend on the others. Its parameters are bare pointers and 64-bit integers.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::math::MathDialect"];
}

def LowerLaunches : Pass<"nnterp-lower-launches", "::mlir::ModuleOp"> {
  let summary = "Lowers gpu.launch_func to calls of the host's table";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def ExpandMath : Pass<"nnterp-expand-math"> {
  let summary = "Expands elementary functions to arithmetic";
  let description = [{
    exp, log1p, tanh, erf, sin and cos on float32 and float64, scalars and vectors, by arith ops alone: the same bits on every
    target, no call to a math library. float32 results are within 1 ulp; sin and cos in float64 reduce their argument exactly up
    to 2^20.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif
