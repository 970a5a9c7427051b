// The nnterp dialect: names of a model's values, and what a plan does to them.
#ifndef NNTERP_OPS
#define NNTERP_OPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"

def NnterpDialect : Dialect {
  let name = "nnterp";
  let cppNamespace = "::nnterp";
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let summary = "Observation and editing of named values";
  let description = [{
    The frontend marks every named value of a model with `nnterp.point`. A plan arrives as an `nnterp.plan` op; passes turn it
    into `nnterp.edit` and its relatives, and into `nnterp.tap`, which later become results of the program.

    **Tables.** A plan's selection reaches the program as int64 tables, one per selected axis: 1-D `[extent]`, or 2-D
    `[rows, extent]` where each batch row has its own. -1 means: outside, or absent. An op that takes tables names the axis of
    each in `table_axes`. Tables are buffers of a run, so other indices do not mean another program.
  }];
}

class Nnterp_Op<string mnemonic, list<Trait> traits = []> : Op<NnterpDialect, mnemonic, traits>;

def FloatTensor : RankedTensorOf<[F32, BF16, F64]>;
def TableTensor : RankedTensorOf<[I64]>;
def FramePointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "pointer to the run's frame">,
                   BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;
def AnyValue : RankedTensorOf<[AnyType]>;

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

def PointOp : Nnterp_Op<"point", [AllTypesMatch<["value", "result"]>]> {
  let summary = "Names a value";
  let description = [{
    An identity that carries the canonical name of a value (`at`), its layout, and whether an edit may change it (`read_only`).
    The users of the result are exactly the readers that an edit at this name reaches. Not pure: only
    `nnterp-erase-points` removes points, so that no clean-up pass loses a name by accident.

    Example:
    ```mlir
    %y = nnterp.point %x at "layers[0].layer_output" layout "Residual" : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyValue:$value, StrAttr:$at, StrAttr:$layout, UnitAttr:$read_only);
  let results = (outs AnyValue:$result);
  let assemblyFormat = "$value `at` $at `layout` $layout (`read_only` $read_only^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

def PlanOp : Nnterp_Op<"plan", [NoTerminator, SingleBlock, IsolatedFromAbove]> {
  let summary = "Holds a resolved plan";
  let description = [{
    What is asked of one function (`of`: `main` for calls on the prompt, `step` for generated tokens), as ops: `nnterp.plan_world`,
    `nnterp.plan_buffer`, `nnterp.plan_edit`, `nnterp.plan_tap`, `nnterp.plan_keep`, whose locations are in the user's file.
    Names are already expanded, one op per point, in the order in which edits are applied. No number or index of the plan
    is here: they are buffers.

    Example:
    ```mlir
    nnterp.plan {
      nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
      nnterp.plan_buffer "e0.c0" : tensor<f32>
      nnterp.plan_edit "add" at "layers[0].layer_output" entry 0 tables ["", "e0.seq", ""] {numbers = ["e0.c0"]}
      nnterp.plan_tap "logits" at "logits" entry 0 tables ["", "t0.seq", ""]
      nnterp.plan_buffer "t0.seq" : tensor<?x?xi64>
    }
    ```
  }];
  let arguments = (ins DefaultValuedStrAttr<StrAttr, "main">:$of);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`of` $of^)? attr-dict-with-keyword $body";
}

def PlanWorldOp : Nnterp_Op<"plan_world", [HasParent<"PlanOp">]> {
  let summary = "Declares a world";
  let description = [{
    An independent run of the model on the input `input`. Points, memory and outputs of the world begin with `world/`. A plan without
    worlds has one, whose names stand alone.

    Example:
    ```mlir
    nnterp.plan { nnterp.plan_world "patched" input "clean" }
    ```
  }];
  let arguments = (ins StrAttr:$world, StrAttr:$input);
  let assemblyFormat = "$world `input` $input attr-dict";
}

def PlanBufferOp : Nnterp_Op<"plan_buffer", [HasParent<"PlanOp">]> {
  let summary = "Declares a buffer that a run fills in";
  let description = [{
    `buffer` is its name, `type` its type; extents that a run decides are dynamic. `kept`: what a plan_keep of `main` has left, for
    the plan of `step`.

    Example:
    ```mlir
    nnterp.plan { nnterp.plan_buffer "e0.seq" : tensor<?x?xi64> }
    ```
  }];
  let arguments = (ins StrAttr:$buffer, UnitAttr:$kept, TypeAttrOf<AnyValue>:$type);
  let assemblyFormat = "$buffer (`kept` $kept^)? `:` $type attr-dict";
}

def PlanEditOp : Nnterp_Op<"plan_edit", [HasParent<"PlanOp">]> {
  let summary = "Asks for an edit at one point";
  let description = [{
    `op` is the operation's name in spec/plan.md 5, `at` the point, `entry` the edit's place in the plan (equal for all points
    that one entry of the plan matches), `tables` one buffer name per axis of the point ("" = the axis is taken whole).
    Optional: `numbers` (rank-0 buffers in the operation's order), `bounds` (of clamp: "min", "max"), `experts` (a buffer),
    `raise` (force with the row's largest logit), and `source`, a dictionary with `kind` ("number", "value", "place"),
    `buffer`, `scale`, `axes` (per source axis: a buffer name, "=" for identity, "1" for broadcast), `squeeze_seq`, and for a
    place `at`, `when`, `tables`, `mean`.

    Example:
    ```mlir
    nnterp.plan {
      nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
      nnterp.plan_edit "zero" at "layers[0].layer_output" entry 0 tables ["", "e0.seq", ""]
    }
    ```
  }];
  let arguments = (ins StrAttr:$op, StrAttr:$at, I64Attr:$entry, StrArrayAttr:$tables,
                       OptionalAttr<StrArrayAttr>:$numbers, OptionalAttr<StrArrayAttr>:$bounds,
                       OptionalAttr<StrAttr>:$experts, UnitAttr:$raise, OptionalAttr<DictionaryAttr>:$source);
  let assemblyFormat = "$op `at` $at `entry` $entry `tables` $tables attr-dict";
  let hasVerifier = 1;
}

def PlanTapOp : Nnterp_Op<"plan_tap", [HasParent<"PlanOp">]> {
  let summary = "Asks for a value, or a part of it";
  let description = [{
    `key` is the tensor's name in the output, `at` the point, `entry` the tap's place in the plan, `tables` one buffer name per
    axis ("" = whole). With `before`, the value is read before the edits at the point.

    Example:
    ```mlir
    nnterp.plan { nnterp.plan_tap "layers[0].layer_output@before" at "layers[0].layer_output" before entry 0 tables ["", "", ""] }
    ```
  }];
  let arguments = (ins StrAttr:$key, StrAttr:$at, UnitAttr:$before, I64Attr:$entry, StrArrayAttr:$tables);
  let assemblyFormat = "$key `at` $at (`before` $before^)? `entry` $entry `tables` $tables attr-dict";
}

def PlanKeepOp : Nnterp_Op<"plan_keep", [HasParent<"PlanOp">]> {
  let summary = "Asks for a value of the prompt to be kept for generated tokens";
  let description = [{
    The part of `at` that `tables` select, averaged over the axes `mean` if there are any, goes to the kept buffer `buffer`, which edits of
    `step` read. `entry` is the edit that needs it.

    Example:
    ```mlir
    nnterp.plan { nnterp.plan_keep "e0.kept" at "layers[0].layer_output" entry 0 tables ["", "e0.kept.seq", ""] }
    ```
  }];
  let arguments = (ins StrAttr:$buffer, StrAttr:$at, UnitAttr:$before, I64Attr:$entry, StrArrayAttr:$tables, OptionalAttr<DenseI64ArrayAttr>:$mean);
  let assemblyFormat = "$buffer `at` $at (`before` $before^)? `entry` $entry `tables` $tables (`mean` $mean^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// What plan passes create
//===----------------------------------------------------------------------===//

def BufferOp : Nnterp_Op<"buffer", [Pure]> {
  let summary = "Reads a buffer of the run";
  let description = [{
    The tensor that the run puts under the name `buffer`: a table, a number, a vector, a list of experts; `kept`: what the prompt's
    program left there.

    Example:
    ```mlir
    %t = nnterp.buffer "e0.seq" : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins StrAttr:$buffer, UnitAttr:$kept);
  let results = (outs AnyValue:$result);
  let assemblyFormat = "$buffer (`kept` $kept^)? attr-dict `:` type($result)";
}

def GatherOp : Nnterp_Op<"gather", [Pure, InferTypeOpAdaptor]> {
  let summary = "Reads the region of a value that tables select";
  let description = [{
    `y[k] = all(t_a[k_a] >= 0) ? x[t_a[k_a]] : 0` over the axes a; an axis without a table is taken whole. `table_axes` names
    the axis of each table. A 2-D table has one row per row of the result. The extent of an axis with a table is dynamic.

    Example:
    ```mlir
    %y = nnterp.gather %x tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyValue:$value, DenseI64ArrayAttr:$table_axes, Variadic<TableTensor>:$tables);
  let results = (outs AnyValue:$result);
  let assemblyFormat = "$value `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def MeanOp : Nnterp_Op<"mean", [Pure, InferTypeOpAdaptor]> {
  let summary = "Averages a gathered region over axes";
  let description = [{
    The mean over `axes` of the entries that exist (all tables >= 0), in float32 for floats; these axes keep the extent 1. `value` is the result of a
    gather with the same tables.

    Example:
    ```mlir
    %m = nnterp.mean %g over [1] tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyValue:$value, DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$table_axes, Variadic<TableTensor>:$tables);
  let results = (outs AnyValue:$result);
  let assemblyFormat = "$value `over` $axes `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def EditOp : Nnterp_Op<"edit", [Pure, AttrSizedOperandSegments, AllTypesMatch<["value", "result"]>,
                                SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Replaces the entries of a value that tables select";
  let description = [{
    `y[i] = all(t_a[i_a] >= 0) ? f(x[i], s...) : x[i]`, f being the region over scalars: float32 whatever the element type of a
    float value (the result is rounded to it), int64 for integers. Each of `sources` gives f one argument; `source_axes` says,
    per source and per source axis (aligned with the value's axes from the last), where its entry is: -1 index 0, -2 the value's
    own index, k >= 0 through table k of `source_tables`. `causal`: on a Pattern, keys later than their query (`past[b]` + its index)
    are left alone.
    `offset`: position of the value's axis 1 in the tables of that axis (inside `hybrid.delta_rule`, one token at a time).
    `entry` is the plan's entry, for messages.

    Example:
    ```mlir
    %y = nnterp.edit %x tables [1] (%t : tensor<?x?xi64>) sources [array<i64>] (%c : tensor<f32>) entry 0 : tensor<?x?x8xf32> {
    ^bb0(%v: f32, %s: f32):
      %r = arith.mulf %v, %s : f32
      nnterp.yield %r : f32
    }
    ```
  }];
  let arguments = (ins AnyValue:$value, DenseI64ArrayAttr:$table_axes, Variadic<TableTensor>:$tables,
                       ArrayAttr:$source_axes, Variadic<AnyValue>:$sources, Variadic<TableTensor>:$source_tables,
                       Optional<Index>:$offset, Optional<TableTensor>:$past, I64Attr:$entry, UnitAttr:$causal);
  let results = (outs AnyValue:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $value (`causal` $causal^)? (`past` $past^ `:` type($past))? `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)?
    `sources` $source_axes (`(` $sources^ `:` type($sources) `)`)? (`through` `(` $source_tables^ `:` type($source_tables) `)`)?
    (`offset` $offset^)? `entry` $entry attr-dict `:` type($value) $body
  }];
  let hasVerifier = 1;
}

def YieldOp : Nnterp_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends the function of an edit";
  let description = [{
    `values`: the edited scalar.

    Example: see `nnterp.edit`.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}

def ProjectOutOp : Nnterp_Op<"project_out", [Pure, AttrSizedOperandSegments, AllTypesMatch<["value", "result"]>]> {
  let summary = "Removes a direction from the selected entries";
  let description = [{
    `v - (v.d)d` over the selected entries v of the last axis, d being `source` divided by its Euclidean norm. Tables, source
    axes, `offset` and `entry` as in `nnterp.edit`.

    Example:
    ```mlir
    %y = nnterp.project_out %x tables [1] (%t : tensor<?x?xi64>) source [-2] %d : tensor<8xf32> entry 0 : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins FloatTensor:$value, DenseI64ArrayAttr:$table_axes, Variadic<TableTensor>:$tables,
                       DenseI64ArrayAttr:$source_axes, FloatTensor:$source, Variadic<TableTensor>:$source_tables,
                       Optional<Index>:$offset, Optional<TableTensor>:$past, I64Attr:$entry, UnitAttr:$causal);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{
    $value (`causal` $causal^)? (`past` $past^ `:` type($past))? `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)? `source` $source_axes $source `:` type($source)
    (`through` `(` $source_tables^ `:` type($source_tables) `)`)? (`offset` $offset^)? `entry` $entry attr-dict `:` type($value)
  }];
}

def DropOp : Nnterp_Op<"drop", [Pure, AllTypesMatch<["weights", "result"]>]> {
  let summary = "Zeroes the weights of slots whose expert is listed";
  let description = [{
    At the tokens that the tables select, `weights[b,s,j]` becomes 0 where `experts[indices[b,s,j]]` is 1 (`experts`: [E], 0 or 1).
    With `renormalise` what is left is divided by its sum in slot order; if nothing is left, zeros.

    Example:
    ```mlir
    %y = nnterp.drop %w, %i, %e tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<?x?x2xf32>, tensor<?x?x2xi64>, tensor<4xi64>
    ```
  }];
  let arguments = (ins FloatTensor:$weights, TableTensor:$indices, TableTensor:$experts, DenseI64ArrayAttr:$table_axes,
                       Variadic<TableTensor>:$tables, I64Attr:$entry, UnitAttr:$renormalise);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{
    $weights `,` $indices `,` $experts (`renormalise` $renormalise^)? `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)?
    `entry` $entry attr-dict `:` type($weights) `,` type($indices) `,` type($experts)
  }];
}

def RerouteOp : Nnterp_Op<"reroute", [Pure, AllTypesMatch<["logits", "result"]>]> {
  let summary = "Makes experts impossible to choose";
  let description = [{
    At the tokens that the tables select, the logits of experts marked 1 in `experts` ([E]) become the element type's lowest
    finite value.

    Example:
    ```mlir
    %y = nnterp.reroute %l, %e tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<?x?x4xf32>, tensor<4xi64>
    ```
  }];
  let arguments = (ins FloatTensor:$logits, TableTensor:$experts, DenseI64ArrayAttr:$table_axes,
                       Variadic<TableTensor>:$tables, I64Attr:$entry);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $experts `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)? `entry` $entry attr-dict
    `:` type($logits) `,` type($experts)
  }];
}

def RaiseOp : Nnterp_Op<"raise", [Pure, AllTypesMatch<["logits", "result"]>]> {
  let summary = "Raises listed experts' logits to the row's largest";
  let description = [{
    At the tokens that the tables select, the logits of the experts listed in `experts` ([K], -1 behind) become the token's
    largest logit. The value tapped as `router_logits` stays as it was: only the choice and its weights see this.

    Example:
    ```mlir
    %y = nnterp.raise %l, %e tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<?x?x4xf32>, tensor<2xi64>
    ```
  }];
  let arguments = (ins FloatTensor:$logits, TableTensor:$experts, DenseI64ArrayAttr:$table_axes,
                       Variadic<TableTensor>:$tables, I64Attr:$entry);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $experts `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)? `entry` $entry attr-dict
    `:` type($logits) `,` type($experts)
  }];
}

def ForceOp : Nnterp_Op<"force", [Pure, AttrSizedOperandSegments]> {
  let summary = "Appends experts to the list that a token must take";
  let description = [{
    `result[b,s]` is the list of experts that take the token's first slots, -1 behind its end: `forced[b,s]` (empty when absent)
    followed, at the tokens that the tables select, by the entries >= 0 of `experts` ([K]).

    Example:
    ```mlir
    %f = nnterp.force %e like %l tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<2xi64>, tensor<?x?x4xf32> -> tensor<?x?x2xi64>
    ```
  }];
  let arguments = (ins TableTensor:$experts, FloatTensor:$logits, Optional<TableTensor>:$forced, DenseI64ArrayAttr:$table_axes,
                       Variadic<TableTensor>:$tables, I64Attr:$entry);
  let results = (outs TableTensor:$result);
  let assemblyFormat = [{
    $experts `like` $logits (`after` $forced^ `:` type($forced))? `tables` $table_axes (`(` $tables^ `:` type($tables) `)`)? `entry` $entry attr-dict
    `:` type($experts) `,` type($logits) `->` type($result)
  }];
}

def TapOp : Nnterp_Op<"tap"> {
  let summary = "Requests a value as an output";
  let description = [{
    The value is written to the output under `key`; `kept`: to the kept buffer of that name. `nnterp-taps-to-results` turns taps into
    results of the program.

    Example:
    ```mlir
    nnterp.tap %x as "logits" : tensor<?x?x8xf32>
    ```
  }];
  let arguments = (ins AnyValue:$value, StrAttr:$key, UnitAttr:$kept);
  let assemblyFormat = "$value `as` $key (`kept` $kept^)? attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// The run's memory
//===----------------------------------------------------------------------===//

def SlotOp : Nnterp_Op<"slot", [Pure]> {
  let summary = "Fetches an entry of the run's descriptor table";
  let description = [{
    The memory that the run bound to parameter `index` of an outlined function at call site `site`. `frame` points to the run's
    frame (runtime/abi/Frame.h). Which entry of the table that is stands in the function's `nnterp.sites` attribute, one row per
    call site. Lowers to loads.

    Example:
    ```mlir
    func.func private @f(%frame: !llvm.ptr, %site: i64) attributes {nnterp.sites = dense<[[7], [9]]> : tensor<2x1xi64>} {
      %m = nnterp.slot %frame, %site [0] : memref<?x8xf32>
      return
    }
    ```
  }];
  let arguments = (ins FramePointer:$frame, I64:$site, I64Attr:$index);
  let results = (outs AnyStridedMemRef:$result);
  let assemblyFormat = "$frame `,` $site `[` $index `]` attr-dict `:` type($result)";
}

def ProgressOp : Nnterp_Op<"progress", [MemoryEffects<[MemWrite]>]> {
  let summary = "Tells the run that a step of the program is done";
  let description = [{
    `done` of `total` steps.

    Example:
    ```mlir
    func.func private @f(%frame: !llvm.ptr) {
      nnterp.progress %frame, 1 of 8
      return
    }
    ```
  }];
  let arguments = (ins FramePointer:$frame, I64Attr:$done, I64Attr:$total);
  let assemblyFormat = "$frame `,` $done `of` $total attr-dict";
}

def FailOp : Nnterp_Op<"fail", [MemoryEffects<[MemWrite]>]> {
  let summary = "Reports a run-time error of a plan's entry";
  let description = [{
    `entry` is the plan's edit, `reason` one of abi::FailReason. The program goes on; the run ends in an error.

    Example:
    ```mlir
    func.func private @f(%frame: !llvm.ptr) {
      nnterp.fail %frame, entry 0 reason 1
      return
    }
    ```
  }];
  let arguments = (ins FramePointer:$frame, I64Attr:$entry, I64Attr:$reason);
  let assemblyFormat = "$frame `,` `entry` $entry `reason` $reason attr-dict";
}

#endif
