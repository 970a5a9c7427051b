// Attention reads no key later than its query; rotary angles are float64.
// RUN: nnterp-opt %s -nnterp-lower-plain -canonicalize -cse | FileCheck %s --implicit-check-not=hybrid.

// CHECK-LABEL: func @rope_table
func.func @rope_table(%p: tensor<3x?x?xi64>) -> (tensor<?x?x4xbf16>, tensor<?x?x4xbf16>) {
  // CHECK-DAG: %[[F:.*]] = arith.constant dense<[1.000000e+00, 5.000000e-01, 2.500000e-01, 1.250000e-01]> : tensor<4xf32>
  // CHECK: arith.remui %{{.*}}, %c3
  // CHECK: arith.sitofp {{.*}} : i64 to f64
  // CHECK: arith.mulf {{.*}} : f64
  // CHECK: math.cos {{.*}} : f64
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK: arith.truncf {{.*}} : f32 to bf16
  // CHECK: math.sin {{.*}} : f64
  %c, %s = hybrid.rope_table %p sections [2, 1, 1] inv_freq [1.0, 0.5, 0.25, 0.125] as bf16 : tensor<3x?x?xi64>
  return %c, %s : tensor<?x?x4xbf16>, tensor<?x?x4xbf16>
}

// Two rounded products and one sum; dims behind the rotated ones are copied.
// CHECK-LABEL: func @rope
// CHECK-SAME: %[[X:.*]]: tensor<?x?x2x10xf32>
func.func @rope(%x: tensor<?x?x2x10xf32>, %c: tensor<?x?x4xf32>, %s: tensor<?x?x4xf32>) -> tensor<?x?x2x10xf32> {
  // CHECK: scf.if
  // CHECK-COUNT-2: arith.mulf {{.*}} : f32
  // CHECK: arith.addf {{.*}} : f32
  // CHECK: else
  // CHECK-NEXT: tensor.extract %[[X]]
  %y = hybrid.rope %x, %c, %s : tensor<?x?x2x10xf32>, tensor<?x?x4xf32>
  return %y : tensor<?x?x2x10xf32>
}

// CHECK-LABEL: func @scores
func.func @scores(%q: tensor<?x4x?x8xbf16>, %k: tensor<?x2x?x8xbf16>) -> tensor<?x4x?x?xbf16> {
  // CHECK-DAG: %[[LOW:.*]] = arith.constant -3.389530e+38 : bf16
  // CHECK: scf.if
  // CHECK: arith.divui %{{.*}}, %c2
  // CHECK: scf.for {{.*}} -> (f32)
  // CHECK-COUNT-2: arith.truncf {{.*}} : f32 to bf16
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[LOW]]
  %s = hybrid.attention_scores %q, %k scale 0.5 : tensor<?x4x?x8xbf16>, tensor<?x2x?x8xbf16>
  return %s : tensor<?x4x?x?xbf16>
}

// Peak and total per query first.
// CHECK-LABEL: func @softmax
func.func @softmax(%s: tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32> {
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x4x?xf64>)
  // CHECK: %[[OWN:.*]] = arith.addi %{{.*}}, %c1
  // A query behind its row's end may stand behind all keys.
  // CHECK: %[[BEHIND:.*]] = arith.cmpi slt, %[[ALL:.*]], %[[OWN]]
  // CHECK: %[[END:.*]] = arith.select %[[BEHIND]], %[[ALL]], %[[OWN]]
  // CHECK: scf.for {{.*}} = %c0 to %[[END]]
  // CHECK: outs(%{{.*}} : tensor<?x4x?xf64>)
  // CHECK: outs(%{{.*}} : tensor<?x4x?x?xf32>)
  // CHECK: arith.divf {{.*}} : f64
  %p = hybrid.softmax %s causal as f32 : tensor<?x4x?x?xf32>
  return %p : tensor<?x4x?x?xf32>
}

// CHECK-LABEL: func @mix
func.func @mix(%p: tensor<?x4x?x?xf32>, %v: tensor<?x2x?x8xf32>) -> tensor<?x?x4x8xf32> {
  // CHECK: outs(%{{.*}} : tensor<?x?x4x8xf32>)
  // CHECK: %[[OWN:.*]] = arith.addi %{{.*}}, %c1
  // CHECK: %[[END:.*]] = arith.select %{{.*}}, %{{.*}}, %[[OWN]]
  // CHECK: scf.for {{.*}} = %c0 to %[[END]] {{.*}} -> (f64)
  %y = hybrid.attention_mix %p, %v : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>
  return %y : tensor<?x?x4x8xf32>
}
