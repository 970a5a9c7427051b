// The device dialect: kernels of a GPU that are written by builders.
#ifndef DEVICE_OPS
#define DEVICE_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def DeviceDialect : Dialect {
  let name = "device";
  let cppNamespace = "::nnterp::device";
  let summary = "Kernels of a GPU before they are written";
  let description = [{
    Between the choice of a kernel, made on tensors, and its builder, which runs on memory, a kernel is one op that says what it reads, what
    it writes and what is done with each element before it is written.
  }];
}

def KernelOp : Op<DeviceDialect, "kernel", [AttrSizedOperandSegments, DestinationStyleOpInterface,
                                            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Computes what a kernel builder writes";
  let description = [{
    `kind` names the builder, `config` is for it alone. `outs` have one domain, an index per axis; the builder computes for each index
    one or more numbers, the accumulators, and hands both to the epilogue, whose results are the elements of `outs` at that index. Edits
    and taps of the value are ops of the epilogue: they run where the accumulators are in registers. `states` are written by the builder
    itself, in place, as it reads them or not.

    The epilogue's arguments are the indices and then the accumulators. It may read other tensors, at any index.

    Example:
    ```mlir
    %y = device.kernel "double" {} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) states() {
    ^bb0(%i: index, %acc: f32):
      device.yield %acc : f32
    } -> tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, DictionaryAttr:$config, Variadic<AnyType>:$inputs, Variadic<AnyShaped>:$outs,
                       Variadic<AnyShaped>:$states);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    $kind $config `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` ($outs^ `:` type($outs))? `)`
    `states` `(` ($states^ `:` type($states))? `)` attr-dict-with-keyword $epilogue (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Destinations stand behind each other: outs, then states.
    ::mlir::MutableOperandRange getDpsInitsMutable();
    /// The result of an out or a state; null on memory.
    ::mlir::Value resultOf(::mlir::OpOperand &destination);
  }];
}

def YieldOp : Op<DeviceDialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends an epilogue with the elements to write, one per out";
  let description = [{ Example: see `device.kernel`. }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
