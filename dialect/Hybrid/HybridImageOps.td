// Ops of the image encoder. A part of HybridOps.td, which includes it behind its base classes.
//
// All patches of all images of an input are one packed row. Where patches stand: `patches` [6,P] int64 holds, per patch, its row and
// column in its image's grid, the grid's height and width, and the first and the end of the image's patches. `segments` [I+1] int64
// holds where each image's patches begin, and the end.

def PatchEmbedOp : Hybrid_PureOp<"patch_embed"> {
  let summary = "Embeds patches of pixels";
  let description = [{
    Spec 5.3: `result[0,p,g] = sum_k pixels[p,k] * weight[g,k] + bias[g]` with the weight [G,channels,frames,y,x] flattened in its stored
    order; pixels round to the model dtype `element` first.

    Example:
    ```mlir
    %e = hybrid.patch_embed %x, %w, %b as f32 : tensor<?x24xf32>, tensor<8x3x2x2x2xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Float32Tensor:$pixels, Weight:$weight, Weight:$bias, TypeAttr:$element);
  let results = (outs Activation:$result);
  let assemblyFormat = "$pixels `,` $weight `,` $bias `as` $element attr-dict `:` type($pixels) `,` type($weight) `,` type($bias)";
  let hasVerifier = 1;
}

def PosEmbedOp : Hybrid_PureOp<"pos_embed"> {
  let summary = "Interpolates a table of positions";
  let description = [{
    Spec 5.3: bilinear, corners aligned, from a square `table` [side*side,G] to each image's grid; the four weights are float32, their
    products with the entries are summed in the order of the specification and rounded once. [1,P,G].

    Example:
    ```mlir
    %p = hybrid.pos_embed %t, %places as f32 : tensor<36x8xf32>, tensor<6x?xi64>
    ```
  }];
  let arguments = (ins Weight:$table, Int64Tensor:$patches, TypeAttr:$element);
  let results = (outs Activation:$result);
  let assemblyFormat = "$table `,` $patches `as` $element attr-dict `:` type($table) `,` type($patches)";
  let hasVerifier = 1;
}

def PatchRopeTableOp : Hybrid_PureOp<"patch_rope_table"> {
  let summary = "Computes rotary angles of patches";
  let description = [{
    Spec 5.3: cosines and sines [1,P,R/2] in float32 of `row * inv_freq[i]` for the first half of the entries and `col * inv_freq[i]`
    for the second.

    Example:
    ```mlir
    %c, %s = hybrid.patch_rope_table %places freq array<f32: 1.0, 0.5> : tensor<6x?xi64>
    ```
  }];
  let arguments = (ins Int64Tensor:$patches, DenseF32ArrayAttr:$inv_freq);
  let results = (outs Float32Tensor:$cosines, Float32Tensor:$sines);
  let assemblyFormat = "$patches `freq` $inv_freq attr-dict `:` type($patches)";
}

def LayerNormOp : Hybrid_SameTypeOp<"layer_norm", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Normalises mean and variance";
  let description = [{
    Over the last axis: `md((x - mean) * rsqrt(mean((x - mean)^2) + eps) * weight + bias)`.

    Example:
    ```mlir
    %y = hybrid.layer_norm %x, %w, %b eps 1.0e-6 : tensor<1x?x8xf32>, tensor<8xf32>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Activation:$input, Weight:$weight, Weight:$bias, F64Attr:$eps);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $weight `,` $bias `eps` $eps attr-dict `:` type($input) `,` type($weight) `,` type($bias)";
  let hasVerifier = 1;
}

def GeluOp : Hybrid_SameTypeOp<"gelu", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Applies GELU";
  let description = [{
    `md(x/2 (1 + erf(x / sqrt 2)))`; `tanh`: the approximation `md(x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))))`.

    Example:
    ```mlir
    %y = hybrid.gelu %x tanh : tensor<1x?x8xf32>
    ```
  }];
  let arguments = (ins Activation:$input, UnitAttr:$tanh);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input (`tanh` $tanh^)? attr-dict `:` type($input)";
}

def SegmentAttentionOp : Hybrid_PureOp<"segment_attention", [AllTypesMatch<["queries", "keys", "values"]>]> {
  let summary = "Attends within each image";
  let description = [{
    Spec 5.3: every patch's query attends to all keys of its own image, without a mask. Queries, keys and values are [1,H,P,D], the
    result is [1,P,H,D]; nothing of the size of P x P is held.

    Example:
    ```mlir
    %y = hybrid.segment_attention %q, %k, %v, %places scale 0.5 : tensor<1x2x?x4xf32>, tensor<6x?xi64>
    ```
  }];
  let arguments = (ins Activation:$queries, Activation:$keys, Activation:$values, Int64Tensor:$patches, F64Attr:$scale);
  let results = (outs Activation:$result);
  let assemblyFormat = "$queries `,` $keys `,` $values `,` $patches `scale` $scale attr-dict `:` type($queries) `,` type($patches)";
  let hasVerifier = 1;
}

def SegmentScoresOp : Hybrid_PureOp<"segment_scores", [AllTypesMatch<["queries", "keys"]>]> {
  let summary = "Compares queries and keys of one image";
  let description = [{
    `md(md(q k^T) * scale)` of image `segment`: [1,H,n,n].

    Example:
    ```mlir
    %s = hybrid.segment_scores %q, %k, %bounds segment 1 scale 0.5 : tensor<1x2x?x4xf32>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Activation:$queries, Activation:$keys, Int64Tensor:$segments, I64Attr:$segment, F64Attr:$scale);
  let results = (outs Activation:$result);
  let assemblyFormat = "$queries `,` $keys `,` $segments `segment` $segment `scale` $scale attr-dict `:` type($queries) `,` type($segments)";
}

def SegmentMixOp : Hybrid_SameTypeOp<"segment_mix", [AllTypesMatch<["whole", "result"]>]> {
  let summary = "Mixes one image's values by its attention probabilities";
  let description = [{
    `whole` [1,P,H,D] with the patches of image `segment` replaced by `probabilities` [1,H,n,n] times the image's `values` ([1,H,P,D]).

    Example:
    ```mlir
    %y = hybrid.segment_mix %w, %p, %v, %bounds segment 1 : tensor<1x?x2x4xf32>, tensor<1x2x?x?xf32>, tensor<1x2x?x4xf32>, tensor<?xi64>
    ```
  }];
  let arguments = (ins Activation:$whole, Activation:$probabilities, Activation:$values, Int64Tensor:$segments, I64Attr:$segment);
  let results = (outs Activation:$result);
  let assemblyFormat = [{$whole `,` $probabilities `,` $values `,` $segments `segment` $segment attr-dict `:` type($whole) `,` type($probabilities) `,`
                         type($values) `,` type($segments)}];
}

def PatchRowsOp : Hybrid_PureOp<"patch_rows"> {
  let summary = "Drops the axis of packed rows";
  let description = [{
    [1,P,C] to [P,C].

    Example:
    ```mlir
    %y = hybrid.patch_rows %x : tensor<1x?x8xf32>
    ```
  }];
  let arguments = (ins Activation:$input);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def MergePatchesOp : Hybrid_PureOp<"merge_patches"> {
  let summary = "Joins neighbouring patches";
  let description = [{
    [P,C] to [P/n,n*C]: `n` consecutive patches, which are neighbours in their image, side by side.

    Example:
    ```mlir
    %y = hybrid.merge_patches %x by 4 : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Activation:$input, I64Attr:$n);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `by` $n attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def ScatterRowsOp : Hybrid_SameTypeOp<"scatter_rows", [AllTypesMatch<["input", "result"]>]> {
  let summary = "Puts rows at chosen tokens";
  let description = [{
    Spec 5.2: `result[b,s] = rows[places[b,s]]` where `places[b,s] >= 0`, else `input[b,s]`.

    Example:
    ```mlir
    %y = hybrid.scatter_rows %x, %f at %places : tensor<?x?x8xf32>, tensor<?x8xf32>, tensor<?x?xi64>
    ```
  }];
  let arguments = (ins Activation:$input, Activation:$rows, Int64Tensor:$places);
  let results = (outs Activation:$result);
  let assemblyFormat = "$input `,` $rows `at` $places attr-dict `:` type($input) `,` type($rows) `,` type($places)";
  let hasVerifier = 1;
}

def ImageMaskOp : Hybrid_SameTypeOp<"image_mask", [AllTypesMatch<["places", "result"]>]> {
  let summary = "Marks tokens that stand for images";
  let description = [{
    [B,S] int64: 1 where `places` is not negative, else 0.

    Example:
    ```mlir
    %m = hybrid.image_mask %places : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins Int64Tensor:$places);
  let results = (outs Int64Tensor:$result);
  let assemblyFormat = "$places attr-dict `:` type($places)";
}

