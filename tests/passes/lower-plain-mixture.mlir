// Experts are chosen slot after slot; the sum over slots is float32 in every program.
// RUN: nnterp-opt %s -nnterp-lower-plain -canonicalize -cse | FileCheck %s --implicit-check-not=hybrid.

// CHECK-LABEL: func @router
// CHECK-SAME: %[[L:.*]]: tensor<?x?x5xf32>, %[[F:.*]]: tensor<?x?x3xi64>
func.func @router(%l: tensor<?x?x5xf32>, %f: tensor<?x?x3xi64>) -> (tensor<?x?x3xf32>, tensor<?x?x3xi64>) {
  // CHECK: scf.for %[[ROW:.*]] = %c0
  // CHECK: scf.for %[[TOKEN:.*]] = %c0
  // CHECK: scf.for %[[SLOT:.*]] = %c0 to %c3
  // CHECK: %[[FORCED:.*]] = tensor.extract %[[F]][%[[ROW]], %[[TOKEN]], %[[SLOT]]]
  // CHECK: %[[CHOSEN:.*]] = scf.if
  // CHECK: scf.for {{.*}} = %c0 to %c5
  // CHECK: scf.for {{.*}} = %c0 to %[[SLOT]]
  // CHECK: tensor.insert %[[CHOSEN]] into %{{.*}}[%[[ROW]], %[[TOKEN]], %[[SLOT]]]
  // CHECK: outs(%{{.*}} : tensor<?x?x3xf32>)
  // CHECK: arith.truncf {{.*}} : f64 to f32
  %w, %i = hybrid.router %l top 3 forced %f : tensor<?x?x3xi64> : tensor<?x?x5xf32>
  return %w, %i : tensor<?x?x3xf32>, tensor<?x?x3xi64>
}

// An index outside the experts contributes zero; in float32 nothing is rounded before the weighted result.
// CHECK-LABEL: func @experts_f32
func.func @experts_f32(%x: tensor<?x?x8xf32>, %i: tensor<?x?x2xi64>, %w: tensor<?x?x2xf32>, %g: tensor<5x6x8xf32>, %d: tensor<5x8x3xbf16>) -> tensor<?x?x2x8xf32> {
  // CHECK: outs(%{{.*}} : tensor<?x?x2x3xf64>)
  // CHECK: arith.cmpi slt, %{{.*}}, %c5
  // CHECK: scf.if
  // CHECK-NOT: arith.truncf
  // CHECK: outs(%{{.*}} : tensor<?x?x2x8xf32>)
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK-NOT: arith.truncf
  %o = hybrid.experts %x, %i, %w, %g, %d : tensor<?x?x8xf32>, tensor<?x?x2xi64>, tensor<?x?x2xf32>, tensor<5x6x8xf32>, tensor<5x8x3xbf16>
  return %o : tensor<?x?x2x8xf32>
}

// gate, up, silu, their product; the down projection, its weighted value.
// CHECK-LABEL: func @experts_bf16
func.func @experts_bf16(%x: tensor<?x?x8xbf16>, %i: tensor<?x?x2xi64>, %w: tensor<?x?x2xbf16>, %g: tensor<5x6x8xbf16>, %d: tensor<5x8x3xbf16>) -> tensor<?x?x2x8xbf16> {
  // CHECK: outs(%{{.*}} : tensor<?x?x2x3xbf16>)
  // CHECK-COUNT-4: arith.truncf {{.*}} : f32 to bf16
  // CHECK: outs(%{{.*}} : tensor<?x?x2x8xbf16>)
  // CHECK-COUNT-2: arith.truncf {{.*}} : f32 to bf16
  // CHECK-NOT: arith.truncf
  %o = hybrid.experts %x, %i, %w, %g, %d : tensor<?x?x8xbf16>, tensor<?x?x2xi64>, tensor<?x?x2xbf16>, tensor<5x6x8xbf16>, tensor<5x8x3xbf16>
  return %o : tensor<?x?x2x8xbf16>
}

// CHECK-LABEL: func @combine
func.func @combine(%o: tensor<?x?x2x8xf32>) -> tensor<?x?x8xf32> {
  // CHECK: scf.for {{.*}} = %c0 to %c2 {{.*}} -> (f32)
  // CHECK: arith.addf {{.*}} : f32
  // CHECK-NOT: f64
  %y = hybrid.combine %o : tensor<?x?x2x8xf32>
  return %y : tensor<?x?x8xf32>
}
