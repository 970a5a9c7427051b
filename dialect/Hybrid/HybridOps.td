// The hybrid dialect: what the forward pass of a hybrid language model is made of, one op per step of the specification.
#ifndef HYBRID_OPS
#define HYBRID_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

def HybridDialect : Dialect {
  let name = "hybrid";
  let cppNamespace = "::nnterp::hybrid";
  let summary = "Hybrid language models: gated DeltaNet, gated attention, mixtures of experts";
  let description = [{
    Pure ops on tensors with static model dims and dynamic batch and sequence. Letters of shapes are those of
    spec/qwen3_5_moe.md 0.2. Rows are left-aligned: real token p of row b stands at index p, `lengths[b]` tokens are real;
    what stands behind a row's end reaches no real token.

    **Rounding.** The model dtype is the element type of activations. In a float32 program reductions accumulate in float64 and
    round once; in a bfloat16 program they accumulate in float32, and results round where the specification writes `md()`.
    Weights keep their storage dtype and are converted to the model dtype, exactly where it is wider.
  }];
}

class Hybrid_Op<string mnemonic, list<Trait> traits = []> : Op<HybridDialect, mnemonic, traits>;
class Hybrid_PureOp<string mnemonic, list<Trait> traits = []> : Hybrid_Op<mnemonic, !listconcat([Pure, InferTypeOpAdaptor], traits)>;

// The result has an operand's type, which is inferred from the trait.
class Hybrid_SameTypeOp<string mnemonic, list<Trait> traits = []> : Hybrid_Op<mnemonic, !listconcat([Pure], traits)>;

def Activation : RankedTensorOf<[F32, BF16]>;
def Weight : RankedTensorOf<[F32, BF16, F16]>;
def Float32Tensor : RankedTensorOf<[F32]>;
def Int64Tensor : RankedTensorOf<[I64]>;
def AnyValue : RankedTensorOf<[AnyType]>;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def WeightOp : Hybrid_Op<"weight", [Pure]> {
  let summary = "Reads a checkpoint tensor";
  let description = [{
    The tensor under the standard key `key`, in its storage dtype. Runs bind it by name; nothing is copied.

    Example:
    ```mlir
    %w = hybrid.weight "model.norm.weight" : tensor<8xbf16>
    ```
  }];
  let arguments = (ins StrAttr:$key);
  let results = (outs Weight:$result);
  let assemblyFormat = "$key attr-dict `:` type($result)";
}

def BlockOp : Hybrid_Op<"block", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Groups the ops of one block of the model";
  let description = [{
    Keeps an imported graph readable: the ops of block `index`, which may use values from outside. Dissolved before a plan is
    applied.

    Example:
    ```mlir
    %y = hybrid.block 3 -> tensor<?x?x8xf32> {
      hybrid.yield %x : tensor<?x?x8xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$index);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$index (`->` type($results)^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def YieldOp : Hybrid_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "Ends a region of a hybrid op";
  let description = [{
    `values` are what the region gives.

    Example: see `hybrid.block`.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), "build($_builder, $_state, ::mlir::ValueRange());">];
}

def KernelOp : Hybrid_Op<"kernel", [IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Holds ops that run as one kernel";
  let description = [{
    The unit for which a lowering is chosen: `kind` names its main op, `inputs` are what it reads, the body's arguments are
    those inputs, its results are the main value and what taps and edits add. The plain lowering opens kernels and lowers each
    op of the body to loops; faster lowerings replace a whole kernel.

    Example:
    ```mlir
    %y = hybrid.kernel "hybrid.silu" (%x : tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    ^bb0(%a: tensor<?x?x8xf32>):
      %s = hybrid.silu %a : tensor<?x?x8xf32>
      hybrid.yield %s : tensor<?x?x8xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$kind, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind (`(` $inputs^ `:` type($inputs) `)`)? (`->` type($results)^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

def TokenMaskOp : Hybrid_PureOp<"token_mask"> {
  let summary = "Marks real tokens";
  let description = [{
    [B,S] int64: 1 where the position is below the row's length, else 0. `ids` gives the shape.

    Example:
    ```mlir
    %m = hybrid.token_mask %ids, %lengths : tensor<?x?xi64>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Int64Tensor:$ids, Int64Tensor:$lengths);
  let results = (outs Int64Tensor:$result);
  let assemblyFormat = "$ids `,` $lengths attr-dict `:` type($ids) `,` type($lengths)";
}

def InputSizeOp : Hybrid_PureOp<"input_size"> {
  let summary = "Gives the sizes of the call";
  let description = [{
    int64 [2]: the batch and the padded sequence length of `ids`.

    Example:
    ```mlir
    %n = hybrid.input_size %ids : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins Int64Tensor:$ids);
  let results = (outs Int64Tensor:$result);
  let assemblyFormat = "$ids attr-dict `:` type($ids)";
}

def EmbeddingOp : Hybrid_PureOp<"embedding"> {
  let summary = "Looks up token embeddings";
  let description = [{
    `result[b,s] = table[ids[b,s]]`, converted to `element`.

    Example:
    ```mlir
    %x = hybrid.embedding %ids, %w as f32 : tensor<?x?xi64>, tensor<16x8xbf16>
    ```
  }];
  let arguments = (ins Int64Tensor:$ids, Weight:$table, TypeAttr:$element);
  let results = (outs Activation:$result);
  let assemblyFormat = "$ids `,` $table `as` $element attr-dict `:` type($ids) `,` type($table)";
  let hasVerifier = 1;
}

def RopeTableOp : Hybrid_PureOp<"rope_table"> {
  let summary = "Computes rotary cosines and sines";
  let description = [{
    Spec 3.4. `positions` is [3,B,S] (time, height, width); frequency i turns by `inv_freq[i] * position`, the product, cosine and
    sine in float64. Which of the three positions serves frequency i follows from `sections` (interleaved). Results are [B,S,R/2],
    rounded to float32, then to `element`.

    Example:
    ```mlir
    %c, %s = hybrid.rope_table %p sections [2, 1, 1] inv_freq [1.0, 0.5, 0.25, 0.125] as f32 : tensor<3x?x?xi64>
    ```
  }];
  let arguments = (ins Int64Tensor:$positions, DenseI64ArrayAttr:$sections, DenseF32ArrayAttr:$inv_freq, TypeAttr:$element);
  let results = (outs Activation:$cosines, Activation:$sines);
  let assemblyFormat = "$positions `sections` $sections `inv_freq` $inv_freq `as` $element attr-dict `:` type($positions)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Norms and projections
//===----------------------------------------------------------------------===//

def RmsNormOp : Hybrid_SameTypeOp<"rms_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Normalises by the root mean square";
  let description = [{
    Spec 3.2: `md(x * rsqrt(mean(x*x) + eps) * gain)` over the last axis; the gain is `1 + weight` with `unit_offset`, else `weight`.

    Example:
    ```mlir
    %y = hybrid.rms_norm %x, %w unit_offset eps 1.0e-6 : tensor<?x?x8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Weight:$weight, UnitAttr:$unit_offset, F64Attr:$eps);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $weight (`unit_offset` $unit_offset^)? `eps` $eps attr-dict `:` type($input) `,` type($weight)";
  let hasVerifier = 1;
}

def GatedRmsNormOp : Hybrid_SameTypeOp<"gated_rms_norm", [AllTypesMatch<["input", "gate", "result"]>]> {
  let summary = "Normalises, then multiplies by a SiLU gate";
  let description = [{
    Spec 3.2: over the last axis, `md(weight * md(x * rsqrt(mean(x*x) + eps)) * silu(gate))`; the gain is the weight itself.

    Example:
    ```mlir
    %y = hybrid.gated_rms_norm %x, %z, %w eps 1.0e-6 : tensor<?x?x2x4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Activation:$gate, Weight:$weight, F64Attr:$eps);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $gate `,` $weight `eps` $eps attr-dict `:` type($input) `,` type($weight)";
  let hasVerifier = 1;
}

def L2NormOp : Hybrid_PureOp<"l2_norm"> {
  let summary = "Normalises by the Euclidean norm";
  let description = [{
    Spec 3.5: `x * rsqrt(sum(x*x) + eps) * scale` over the last axis, in float32.

    Example:
    ```mlir
    %y = hybrid.l2_norm %x eps 1.0e-6 scale 0.5 : tensor<?x?x2x4xf32>
    ```
  }];
  let arguments = (ins Activation:$input, F64Attr:$eps, F64Attr:$scale);
  let results = (outs Float32Tensor:$result);
  let assemblyFormat = "$input `eps` $eps `scale` $scale attr-dict `:` type($input)";
}

def LinearOp : Hybrid_PureOp<"linear"> {
  let summary = "Multiplies by a weight matrix";
  let description = [{
    `result[..., n] = sum_k input[..., k] * weight[n, k] (+ bias[n])`, rounded once.

    Example:
    ```mlir
    %y = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<4x8xbf16>
    ```
  }];
  let arguments = (ins Activation:$input, Weight:$weight, Optional<Weight>:$bias);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $weight (`bias` $bias^)? attr-dict `:` type($input) `,` type($weight) (`,` type($bias)^)?";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise and layout
//===----------------------------------------------------------------------===//

class Hybrid_Unary<string mnemonic, string formula> : Hybrid_SameTypeOp<mnemonic, [AllTypesMatch<["input", "result"]>]> {
  let description = "`md(" # formula # ")`, computed in float32.\n\nExample:\n```mlir\n%y = hybrid." # mnemonic # " %x : tensor<?x?x8xf32>\n```\n";
  let arguments = (ins Activation:$input);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
}
def SiluOp : Hybrid_Unary<"silu", "x / (1 + exp(-x))"> { let summary = "Applies SiLU"; }
def SigmoidOp : Hybrid_Unary<"sigmoid", "1 / (1 + exp(-x))"> { let summary = "Applies the logistic function"; }

class Hybrid_Binary<string mnemonic, string formula> : Hybrid_SameTypeOp<mnemonic, [AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let description = "`md(" # formula # ")`.\n\nExample:\n```mlir\n%y = hybrid." # mnemonic # " %a, %b : tensor<?x?x8xf32>\n```\n";
  let arguments = (ins Activation:$lhs, Activation:$rhs);
  let results = (outs Activation:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}
def AddOp : Hybrid_Binary<"add", "lhs + rhs"> { let summary = "Adds"; }
def MulOp : Hybrid_Binary<"mul", "lhs * rhs"> { let summary = "Multiplies"; }

def GateOp : Hybrid_SameTypeOp<"gate", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Multiplies by a logistic gate";
  let description = [{
    `md(input * md(sigmoid(gate)))`; the gate has the input's shape, or the extent 1 on the last axis.

    Example:
    ```mlir
    %y = hybrid.gate %x by %g : tensor<?x?x8xf32>, tensor<?x?x1xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Activation:$gate);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `by` $gate attr-dict `:` type($input) `,` type($gate)";
  let hasVerifier = 1;
}

def DecayOp : Hybrid_PureOp<"decay"> {
  let summary = "Computes log decays";
  let description = [{
    Spec 3.5: `-exp(a_log) * softplus(input + dt_bias)` in float32, per head (last axis).

    Example:
    ```mlir
    %g = hybrid.decay %a, %l, %d : tensor<?x?x2xf32>, tensor<2xf32>, tensor<2xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Weight:$a_log, Weight:$dt_bias);
  let results = (outs Float32Tensor:$result);
  let assemblyFormat = "$input `,` $a_log `,` $dt_bias attr-dict `:` type($input) `,` type($a_log) `,` type($dt_bias)";
  let hasVerifier = 1;
}

def HeadsOp : Hybrid_PureOp<"heads"> {
  let summary = "Views part of the last axis as heads";
  let description = [{
    [..., c] to [..., heads, size]: `result[..., h, d] = input[..., offset + (h / repeat) * stride + d]`. Splits projections into
    heads, takes one kind of channel from a joint projection, and repeats key heads.

    Example:
    ```mlir
    %q = hybrid.heads %x offset 0 stride 4 size 4 heads 4 repeat 2 : tensor<?x?x16xf32>
    ```
  }];
  let arguments = (ins Activation:$input, I64Attr:$offset, I64Attr:$stride, I64Attr:$size, I64Attr:$heads, I64Attr:$repeat);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `offset` $offset `stride` $stride `size` $size `heads` $heads `repeat` $repeat attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def MergeHeadsOp : Hybrid_PureOp<"merge_heads"> {
  let summary = "Views heads as one axis";
  let description = [{
    [..., heads, size] to [..., heads * size].

    Example:
    ```mlir
    %y = hybrid.merge_heads %x : tensor<?x?x2x4xf32>
    ```
  }];
  let arguments = (ins Activation:$input);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def SwapHeadsOp : Hybrid_PureOp<"swap_heads"> {
  let summary = "Exchanges the sequence and head axes";
  let description = [{
    [B,S,H,D] to [B,H,S,D], or the other way round.

    Example:
    ```mlir
    %y = hybrid.swap_heads %x : tensor<?x?x2x4xf32>
    ```
  }];
  let arguments = (ins Activation:$input);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory of a sequence
//===----------------------------------------------------------------------===//

def MemoryOp : Hybrid_Op<"memory", [Pure]> {
  let summary = "Reads what earlier calls left";
  let description = [{
    The part `part` of the sequence's memory as it is before the call: [B,...], zeros for a fresh sequence. Caches of keys and values
    are [B,NK,capacity,D], of which the first `past[b]` places of a row are in use. `of_run`: not the sequence's, but left by the
    entry that encodes images before the first call.

    Example:
    ```mlir
    %s = hybrid.memory "layers[0].linear_attn.state" : tensor<?x2x4x4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$part, UnitAttr:$of_run);
  let results = (outs Activation:$result);
  let assemblyFormat = "$part (`of_run` $of_run^)? attr-dict `:` type($result)";
}

def RememberOp : Hybrid_Op<"remember"> {
  let summary = "Leaves a value to later calls";
  let description = [{
    `value` becomes the part `part` of the sequence's memory behind the call. `saved`: the run writes it out; `of_run` as in
    `hybrid.memory`. Not pure: what no later
    call and no file needs is dropped by `nnterp-taps-to-results`, which knows all calls.

    Example:
    ```mlir
    hybrid.remember %s as "layers[0].linear_attn.state" : tensor<?x2x4x4xf32>
    ```
  }];
  let arguments = (ins Activation:$value, StrAttr:$part, UnitAttr:$saved, UnitAttr:$of_run);
  let assemblyFormat = "$value `as` $part (`saved` $saved^)? (`of_run` $of_run^)? attr-dict `:` type($value)";
}

def KvAppendOp : Hybrid_SameTypeOp<"kv_append", [AllTypesMatch<["cache", "result"]>]> {
  let summary = "Appends keys or values to a cache";
  let description = [{
    `result[b,h,past[b]+i,d] = added[b,h,i,d]` for the row's `lengths[b]` tokens; the rest is `cache`. Without `past`: 0.

    Example:
    ```mlir
    %c1 = hybrid.kv_append %c, %k, %n past %p : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Activation:$cache, Activation:$added, Int64Tensor:$lengths, Optional<Int64Tensor>:$past);
  let results = (outs Activation:$result);
  let assemblyFormat = "$cache `,` $added `,` $lengths (`past` $past^)? attr-dict `:` type($cache) `,` type($added) `,` type($lengths) (`,` type($past)^)?";
  let hasVerifier = 1;
}

def KvViewOp : Hybrid_SameTypeOp<"kv_view", [AllTypesMatch<["cache", "result"]>]> {
  let summary = "Takes the part of a cache that is in use";
  let description = [{
    [B,NK,capacity,D] to [B,NK,T,D], T = `total[0]`: tokens of the longest row.

    Example:
    ```mlir
    %k = hybrid.kv_view %c, %t : tensor<?x2x?x8xf32>, tensor<1xi64>
    ```
  }];
  let arguments = (ins Activation:$cache, Int64Tensor:$total);
  let results = (outs Activation:$result);
  let assemblyFormat = "$cache `,` $total attr-dict `:` type($cache) `,` type($total)";
  let hasVerifier = 1;
}

def KvStoreOp : Hybrid_SameTypeOp<"kv_store", [AllTypesMatch<["cache", "view", "result"]>]> {
  let summary = "Puts an edited view back into its cache";
  let description = [{
    `cache` with its first T places replaced by `view`. Folds where the view was not edited.

    Example:
    ```mlir
    %c1 = hybrid.kv_store %c, %v : tensor<?x2x?x8xf32>
    ```
  }];
  let arguments = (ins Activation:$cache, Activation:$view);
  let results = (outs Activation:$result);
  let assemblyFormat = "$cache `,` $view attr-dict `:` type($cache)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Gated DeltaNet
//===----------------------------------------------------------------------===//

def InitialStateOp : Hybrid_PureOp<"initial_state"> {
  let summary = "Gives the memory a sequence starts from";
  let description = [{
    Zeros of shape [B, dims...] and type `element`: a fresh prompt. B is the extent of `lengths`.

    Example:
    ```mlir
    %s = hybrid.initial_state %lengths dims [2, 4, 4] as f32 : tensor<?xi64>
    ```
  }];
  let arguments = (ins Int64Tensor:$lengths, DenseI64ArrayAttr:$dims, TypeAttr:$element);
  let results = (outs Activation:$result);
  let assemblyFormat = "$lengths `dims` $dims `as` $element attr-dict `:` type($lengths)";
}

def PadDecayOp : Hybrid_SameTypeOp<"pad_decay", [AllTypesMatch<["state", "result"]>]> {
  let summary = "Decays a state over a row's pads";
  let description = [{
    A recurrent state that a sequence starts from stands before the pads of a left-padded row, and each of its `pads[b]` pads
    decays it by `exp(-exp(a_log) * softplus(dt_bias))` (what `hybrid.decay` gives for an input of zeros), as in the reference.
    `model` is the model dtype, to which rates and biases round. Zeros are not changed, and what a saved sequence left is behind its
    pads: `hybrid.initial_state` and `hybrid.memory` fold through, so only a state that a plan sets decays.

    Example:
    ```mlir
    %y = hybrid.pad_decay %s, %l, %d, %pads in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Float32Tensor:$state, Weight:$a_log, Weight:$dt_bias, Int64Tensor:$pads, TypeAttr:$model);
  let results = (outs Float32Tensor:$result);
  let assemblyFormat = "$state `,` $a_log `,` $dt_bias `,` $pads `in` $model attr-dict `:` type($state) `,` type($a_log) `,` type($dt_bias) `,` type($pads)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def ShortConvOp : Hybrid_PureOp<"short_conv"> {
  let summary = "Applies a causal depthwise convolution";
  let description = [{
    Spec 3.5 and 4.2: `result[b,t,c] = sum_j weight[c,0,j] * u[b, t-(KW-1)+j, c]`; columns before the call come from `state`
    ([B,CD,KW]: the last KW columns seen). `state_out` is the last KW columns up to the row's end.

    Example:
    ```mlir
    %y, %s1 = hybrid.short_conv %u, %w, %s0, %n : tensor<?x?x8xf32>, tensor<8x1x4xf32>, tensor<?x8x4xf32>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Activation:$input, Weight:$weight, Activation:$state, Int64Tensor:$lengths);
  let results = (outs Activation:$result, Activation:$state_out);
  let assemblyFormat = "$input `,` $weight `,` $state `,` $lengths attr-dict `:` type($input) `,` type($weight) `,` type($state) `,` type($lengths)";
  let hasVerifier = 1;
}

def DeltaRuleOp : Hybrid_Op<"delta_rule", [Pure, AttrSizedResultSegments]> {
  let summary = "Runs the gated delta rule over a sequence";
  let description = [{
    Spec 3.5, the token recurrence: per row and head, `Z = Z * exp(g); r = Z^T k; Z = Z + k (beta (v - r))^T; y = Z^T q`. Queries and
    keys are already normalised (`hybrid.l2_norm`). The state is float32 and stays as it is behind the row's end. `states` are
    the states after each token, `states_before` the same before the region. The optional region edits the state after one
    token, [B,1,HV,DK,DV], at position `t`; its result is what the token itself and all later ones read.

    Example:
    ```mlir
    %y, %z = hybrid.delta_rule %q, %k, %v, %g, %b, %s, %n : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
      tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>)
    ```
  }];
  let arguments = (ins Float32Tensor:$queries, Float32Tensor:$keys, Activation:$values, Float32Tensor:$decays,
                       Activation:$betas, Float32Tensor:$state, Int64Tensor:$lengths);
  let results = (outs Activation:$result, Float32Tensor:$state_out, Optional<Float32Tensor>:$states, Optional<Float32Tensor>:$states_before);
  let regions = (region MaxSizedRegion<1>:$on_state);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

def RopeOp : Hybrid_SameTypeOp<"rope", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["cosines", "sines"]>]> {
  let summary = "Rotates the first dims of each head";
  let description = [{
    Spec 3.4 and 5.3: pairs (i, i + R/2) of the first R dims of [B,S,H,D] turn by the angles of `cosines` and `sines` ([B,S,R/2]);
    two products, each rounded to the element type of the tables, and one sum. The other dims are untouched.

    Example:
    ```mlir
    %y = hybrid.rope %x, %c, %s : tensor<?x?x2x8xf32>, tensor<?x?x2xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Activation:$cosines, Activation:$sines);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $cosines `,` $sines attr-dict `:` type($input) `,` type($cosines)";
  let hasVerifier = 1;
}

def AttentionScoresOp : Hybrid_PureOp<"attention_scores"> {
  let summary = "Compares queries with keys";
  let description = [{
    Spec 3.3: `result[b,h,i,j] = md(md(sum_d q[b,h,i,d] * k[b,h/(N/NK),j,d]) * scale)` for j <= past[b] + i, the element type's lowest
    finite value for later keys. `past`: tokens of the row before the call; without it 0.

    Example:
    ```mlir
    %s = hybrid.attention_scores %q, %k scale 0.5 : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>
    ```
  }];
  let arguments = (ins Activation:$queries, Activation:$keys, Optional<Int64Tensor>:$past, F64Attr:$scale);
  let results = (outs Activation:$result);
  let assemblyFormat = "$queries `,` $keys (`past` $past^)? `scale` $scale attr-dict `:` type($queries) `,` type($keys) (`,` type($past)^)?";
  let hasVerifier = 1;
}

def SoftmaxOp : Hybrid_PureOp<"softmax"> {
  let summary = "Normalises exponentials";
  let description = [{
    Over the last axis, in float32, then rounded to `element`. `causal`: over entries j <= past[b] + i of a [B, ..., i, j] pattern, 0
    behind them (without `past`: 0); a query all of whose keys hold the lowest value attends to them evenly.

    Example:
    ```mlir
    %p = hybrid.softmax %s causal as f32 : tensor<?x4x?x?xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Optional<Int64Tensor>:$past, UnitAttr:$causal, TypeAttr:$element);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input (`causal` $causal^)? (`past` $past^)? `as` $element attr-dict `:` type($input) (`,` type($past)^)?";
  let hasVerifier = 1;
}

def AttentionMixOp : Hybrid_PureOp<"attention_mix"> {
  let summary = "Mixes values by attention probabilities";
  let description = [{
    Spec 3.3: `result[b,i,h,d] = sum_{j <= past[b] + i} p[b,h,i,j] * v[b,h/(N/NK),j,d]`, as [B,S,N,D]. Without `past`: 0.

    Example:
    ```mlir
    %y = hybrid.attention_mix %p, %v : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>
    ```
  }];
  let arguments = (ins Activation:$probabilities, Activation:$values, Optional<Int64Tensor>:$past);
  let results = (outs Activation:$result);
  let assemblyFormat = "$probabilities `,` $values (`past` $past^)? attr-dict `:` type($probabilities) `,` type($values) (`,` type($past)^)?";
  let hasVerifier = 1;
}

include "dialect/Hybrid/HybridImageOps.td"

//===----------------------------------------------------------------------===//
// Mixture of experts
//===----------------------------------------------------------------------===//

def RouterOp : Hybrid_PureOp<"router"> {
  let summary = "Chooses experts";
  let description = [{
    Spec 3.6: softmax over the experts in float32, the `k` most probable in descending order (equal: lower index first), weights
    renormalised and rounded to the model dtype. `forced` ([B,S,k], -1 behind its end) lists experts that take the first slots.

    Example:
    ```mlir
    %w, %i = hybrid.router %l top 2 : tensor<?x?x4xf32>
    ```
  }];
  let arguments = (ins Activation:$logits, Optional<Int64Tensor>:$forced, I64Attr:$k);
  let results = (outs Activation:$weights, Int64Tensor:$indices);
  let assemblyFormat = "$logits `top` $k (`forced` $forced^ `:` type($forced))? attr-dict `:` type($logits)";
  let hasVerifier = 1;
}

def ExpertsOp : Hybrid_PureOp<"experts"> {
  let summary = "Runs each token's experts";
  let description = [{
    Spec 3.6: per slot j with expert e, `md(md(down[e] * (silu(gate) * up)) * weights[b,s,j])`, gate and up being the two halves of
    `gate_up[e] * x`. [B,S,K,C].

    Example:
    ```mlir
    %y = hybrid.experts %x, %i, %w, %gu, %d : tensor<?x?x8xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32>, tensor<4x6x8xf32>, tensor<4x8x3xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Int64Tensor:$indices, Activation:$weights, Weight:$gate_up, Weight:$down);
  let results = (outs Activation:$result);
  let assemblyFormat = [{$input `,` $indices `,` $weights `,` $gate_up `,` $down attr-dict `:` type($input) `,` type($indices) `,`
                         type($weights) `,` type($gate_up) `,` type($down)}];
  let hasVerifier = 1;
}

def CombineOp : Hybrid_PureOp<"combine"> {
  let summary = "Sums expert slots";
  let description = [{
    [B,S,K,C] to [B,S,C], summed over the slots from the first to the last in float32.

    Example:
    ```mlir
    %y = hybrid.combine %o : tensor<?x?x2x8xf32>
    ```
  }];
  let arguments = (ins Activation:$input);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def LastTokenOp : Hybrid_PureOp<"last_token"> {
  let summary = "Takes each row's last real token";
  let description = [{
    [B,S,V] to [B,V]: `result[b] = input[b, lengths[b] - 1]`; of a row without tokens the first one.

    Example:
    ```mlir
    %y = hybrid.last_token %x, %n : tensor<?x?x8xf32>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Activation:$input, Int64Tensor:$lengths);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $lengths attr-dict `:` type($input) `,` type($lengths)";
  let hasVerifier = 1;
}

#endif
