// The device dialect: kernels of a GPU that are written by builders.
#ifndef DEVICE_OPS
#define DEVICE_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/ViewLikeInterface.td"

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
                                            DeclareOpInterfaceMethods<RegionBranchOpInterface>,
                                            DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Computes what a kernel builder writes";
  let description = [{
    `kind` names the builder, `config` is for it alone. `outs` have one domain, an index per axis; the builder computes for each index
    one or more numbers, the accumulators, and hands both to the epilogue, whose results are the elements of `outs` at that index. Edits
    and taps of the value are ops of the epilogue: they run where the accumulators are in registers. `states` are written by the builder
    itself, in place, as it reads them or not. The last `scattered` of the outs have domains of their own: the epilogue writes them, each
    entry at one index of the domain, by `device.scatter`.

    The epilogue's arguments are the indices and then the accumulators. It may read other tensors, at any index. So may `state_edit`, which the
    builder of a recurrence runs on each entry of a state after each token. Its arguments are the indices of row, token and head, those of the
    entry in the head's state, and the entry's value; it gives the value that the token itself and all later ones read, and whether the head is
    edited at this token at all, which the first three arguments alone decide.

    Example:
    ```mlir
    %y = device.kernel "double" {} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) states() {
    ^bb0(%i: index, %acc: f32):
      device.yield %acc : f32
    } -> tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, DictionaryAttr:$config, Variadic<AnyType>:$inputs, Variadic<AnyShaped>:$outs,
                       Variadic<AnyShaped>:$states, DefaultValuedAttr<I64Attr, "0">:$scattered);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region MaxSizedRegion<1>:$epilogue, MaxSizedRegion<1>:$state_edit);
  let assemblyFormat = [{
    $kind $config `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` ($outs^ `:` type($outs))? `)` (`scattered` $scattered^)?
    `states` `(` ($states^ `:` type($states))? `)` attr-dict-with-keyword $epilogue
    (`state_edit` $state_edit^)? (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    // Destinations stand behind each other: outs, then states.
    ::mlir::MutableOperandRange getDpsInitsMutable();
    /// The outs that have the kernel's domain, and those that have not.
    ::mlir::OperandRange getOwnOuts() { return getOuts().drop_back(getScattered()); }
    ::mlir::OperandRange getScatteredOuts() { return getOuts().take_back(getScattered()); }
    /// The result of an out or a state; null on memory.
    ::mlir::Value resultOf(::mlir::OpOperand &destination);
  }];
}

def ViewOp : Op<DeviceDialect, "view", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "Reads a value at other indices";
  let description = [{
    `result[i] = source[map(i)]`, without a copy: nothing is computed, and who reads the result element by element reads the source. Its
    memory cannot be written. `map` consists of sums, products, quotients and remainders of indices that are not negative; a dynamic
    axis of the result is one of the source, taken whole.

    Example:
    ```mlir
    %q = device.view %x at affine_map<(b, s, h, d) -> (b, s, (h floordiv 2) * 4 + d)> : tensor<?x?x16xf32> to tensor<?x?x4x4xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$source, AffineMapAttr:$map);
  let results = (outs AnyShaped:$result);
  let assemblyFormat = "$source `at` $map attr-dict `:` type($source) `to` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The indices of the source that are read for `at`.
    ::llvm::SmallVector<::mlir::Value> indicesAt(::mlir::OpBuilder &b, ::mlir::ValueRange at);
    /// The axis of the source that a dynamic axis is.
    int64_t axisOfSource(int64_t axis);
    /// Of a view of a view, makes one of the first one's source; whether it was one.
    bool compose();
    /// Makes those that read single elements and extents read them of the source; whether there were any.
    bool readThrough(::mlir::RewriterBase &rewriter);
  }];
}

def YieldOp : Op<DeviceDialect, "yield", [Pure, Terminator, DeclareOpInterfaceMethods<RegionBranchTerminatorOpInterface>]> {
  let summary = "Ends an epilogue with the elements to write, one per out of the kernel's domain, or a state_edit";
  let description = [{ Example: see `device.kernel`. }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def ScatterOp : Op<DeviceDialect, "scatter", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes an element of a scattered out";
  let description = [{
    In an epilogue: `value` becomes the entry at `indices` of the scattered out number `out`.

    Example:
    ```mlir
    device.scatter %v to 0 [%i, %j] : f32
    ```
  }];
  let arguments = (ins AnyType:$value, I64Attr:$out, Variadic<Index>:$indices);
  let assemblyFormat = "$value `to` $out `[` $indices `]` attr-dict `:` type($value)";
}

#endif
