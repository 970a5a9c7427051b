// Norms, projections, elementwise ops and layouts become loops over tensors; sums are float64 in a float32 program and float32 in
// a bfloat16 program.
// RUN: nnterp-opt %s -nnterp-lower-plain -canonicalize -cse | FileCheck %s --implicit-check-not=hybrid.

// CHECK-LABEL: func @linear_f32
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>, %[[W:.*]]: tensor<4x8xbf16>
func.func @linear_f32(%x: tensor<?x?x8xf32>, %w: tensor<4x8xbf16>) -> tensor<?x?x4xf32> {
  // CHECK-DAG: %[[B:.*]] = tensor.dim %[[X]], %c0
  // CHECK-DAG: %[[S:.*]] = tensor.dim %[[X]], %c1
  // CHECK: %[[E:.*]] = tensor.empty(%[[B]], %[[S]]) : tensor<?x?x4xf32>
  // CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} outs(%[[E]] : tensor<?x?x4xf32>)
  // CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args({{.*}}) -> (f64)
  // CHECK-DAG: tensor.extract %[[X]][%{{.*}}, %{{.*}}, %[[K]]]
  // CHECK-DAG: tensor.extract %[[W]][%{{.*}}, %[[K]]]
  // CHECK: arith.mulf {{.*}} : f64
  // CHECK: arith.addf {{.*}} : f64
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK-NOT: arith.truncf
  %y = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<4x8xbf16>
  return %y : tensor<?x?x4xf32>
}

// A float32 weight of a bfloat16 program is rounded on reading.
// CHECK-LABEL: func @linear_bf16
func.func @linear_bf16(%x: tensor<?x?x8xbf16>, %w: tensor<4x8xf32>) -> tensor<?x?x4xbf16> {
  // CHECK: scf.for {{.*}} -> (f32)
  // CHECK: %[[V:.*]] = tensor.extract {{.*}} : tensor<4x8xf32>
  // CHECK: %[[R:.*]] = arith.truncf %[[V]] : f32 to bf16
  // CHECK: arith.extf %[[R]] : bf16 to f32
  // CHECK: arith.truncf {{.*}} : f32 to bf16
  // CHECK-NOT: f64
  %y = hybrid.linear %x, %w : tensor<?x?x8xbf16>, tensor<4x8xf32>
  return %y : tensor<?x?x4xbf16>
}

// float16 meets bfloat16 in float32.
// CHECK-LABEL: func @linear_f16
func.func @linear_f16(%x: tensor<?x?x8xbf16>, %w: tensor<4x8xf16>) -> tensor<?x?x4xbf16> {
  // CHECK: arith.extf {{.*}} : f16 to f32
  // CHECK: arith.truncf {{.*}} : f32 to bf16
  %y = hybrid.linear %x, %w : tensor<?x?x8xbf16>, tensor<4x8xf16>
  return %y : tensor<?x?x4xbf16>
}

// The gain is 1 + weight, and the result is rounded once.
// CHECK-LABEL: func @rms_norm
func.func @rms_norm(%x: tensor<?x?x8xf32>, %w: tensor<8xf32>) -> tensor<?x?x8xf32> {
  // CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?xf64>)
  // CHECK: linalg.generic
  // CHECK: arith.addf {{.*}}, %cst{{.*}} : f64
  // CHECK: tensor.extract %[[SQUARES]]
  // CHECK: math.sqrt {{.*}} : f64
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK-NOT: arith.truncf
  %y = hybrid.rms_norm %x, %w unit_offset eps 1.0e-6 : tensor<?x?x8xf32>, tensor<8xf32>
  return %y : tensor<?x?x8xf32>
}

// In bfloat16 the gated norm rounds before the gain, after it, and at the end.
// CHECK-LABEL: func @gated_rms_norm
func.func @gated_rms_norm(%x: tensor<?x?x2x4xbf16>, %z: tensor<?x?x2x4xbf16>, %w: tensor<4xbf16>) -> tensor<?x?x2x4xbf16> {
  // CHECK: math.sqrt
  // CHECK-COUNT-3: arith.truncf {{.*}} : f32 to bf16
  // CHECK-NOT: arith.truncf
  %y = hybrid.gated_rms_norm %x, %z, %w eps 1.0e-6 : tensor<?x?x2x4xbf16>, tensor<4xbf16>
  return %y : tensor<?x?x2x4xbf16>
}

// CHECK-LABEL: func @l2_norm
func.func @l2_norm(%x: tensor<?x?x2x4xbf16>) -> tensor<?x?x2x4xf32> {
  // CHECK-NOT: arith.truncf
  // CHECK: return {{.*}} : tensor<?x?x2x4xf32>
  %y = hybrid.l2_norm %x eps 1.0e-6 scale 0.5 : tensor<?x?x2x4xbf16>
  return %y : tensor<?x?x2x4xf32>
}

// The logistic function is rounded before it multiplies, in float32 too.
// CHECK-LABEL: func @gate
func.func @gate(%x: tensor<?x?x8xf32>, %g: tensor<?x?x1xf32>) -> tensor<?x?x8xf32> {
  // CHECK: %[[G:.*]] = tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %c0] : tensor<?x?x1xf32>
  // CHECK: %[[R:.*]] = arith.truncf {{.*}} : f64 to f32
  // CHECK: arith.mulf %{{.*}}, %[[R]] : f32
  %y = hybrid.gate %x by %g : tensor<?x?x8xf32>, tensor<?x?x1xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func @elementwise
func.func @elementwise(%a: tensor<?x?x8xf32>, %b: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  // CHECK: arith.addf {{.*}} : f32
  %s = hybrid.add %a, %b : tensor<?x?x8xf32>
  // CHECK: arith.mulf {{.*}} : f32
  %m = hybrid.mul %s, %b : tensor<?x?x8xf32>
  // CHECK: math.exp {{.*}} : f64
  // CHECK: arith.divf {{.*}} : f64
  %u = hybrid.silu %m : tensor<?x?x8xf32>
  // CHECK: math.exp {{.*}} : f64
  %v = hybrid.sigmoid %u : tensor<?x?x8xf32>
  return %v : tensor<?x?x8xf32>
}

// CHECK-LABEL: func @heads
func.func @heads(%x: tensor<?x?x16xf32>) -> (tensor<?x4x?x4xf32>, tensor<?x?x16xf32>) {
  // CHECK: arith.divui %{{.*}}, %c2
  // CHECK: arith.muli %{{.*}}, %c6
  // CHECK: arith.addi %{{.*}}, %c1
  %h = hybrid.heads %x offset 1 stride 6 size 4 heads 4 repeat 2 : tensor<?x?x16xf32>
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4x?x4xf32>)
  %s = hybrid.swap_heads %h : tensor<?x?x4x4xf32>
  // CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<?x?x4x4xf32> into tensor<?x?x16xf32>
  %m = hybrid.merge_heads %h : tensor<?x?x4x4xf32>
  return %s, %m : tensor<?x4x?x4xf32>, tensor<?x?x16xf32>
}

// CHECK-LABEL: func @inputs
func.func @inputs(%ids: tensor<?x?xi64>, %n: tensor<?xi64>, %w: tensor<6x8xf32>) -> (tensor<?x?xi64>, tensor<2xi64>, tensor<?x8xf32>, tensor<?x2x3xf32>) {
  // CHECK: arith.cmpi slt
  %m = hybrid.token_mask %ids, %n : tensor<?x?xi64>, tensor<?xi64>
  %z = hybrid.input_size %ids : tensor<?x?xi64>
  // CHECK: tensor.extract {{.*}} : tensor<6x8xf32>
  %e = hybrid.embedding %ids, %w as f32 : tensor<?x?xi64>, tensor<6x8xf32>
  %l = hybrid.last_token %e, %n : tensor<?x?x8xf32>, tensor<?xi64>
  %s = hybrid.initial_state %n dims [2, 3] as f32 : tensor<?xi64>
  return %m, %z, %l, %s : tensor<?x?xi64>, tensor<2xi64>, tensor<?x8xf32>, tensor<?x2x3xf32>
}
