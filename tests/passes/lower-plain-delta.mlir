// The delta rule is the token recurrence: one loop over tokens that carries the state.
// RUN: nnterp-opt %s -nnterp-lower-plain -canonicalize -cse | FileCheck %s --implicit-check-not=hybrid.

// CHECK-LABEL: func @decay
func.func @decay(%a: tensor<?x?x2xf32>, %l: tensor<2xf32>, %d: tensor<2xf32>) -> tensor<?x?x2xf32> {
  // CHECK: %[[X:.*]] = arith.addf {{.*}} : f64
  // CHECK-DAG: arith.cmpf olt, %cst{{.*}}, %[[X]] : f64
  // CHECK-DAG: %[[E:.*]] = math.exp %[[X]] : f64
  // CHECK-DAG: math.log1p %[[E]] : f64
  // CHECK: arith.select
  // CHECK: arith.negf {{.*}} : f64
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK-NOT: arith.truncf
  %y = hybrid.decay %a, %l, %d : tensor<?x?x2xf32>, tensor<2xf32>, tensor<2xf32>
  return %y : tensor<?x?x2xf32>
}

// Columns before the call come from the state, by a branch: they are not there to be read.
// CHECK-LABEL: func @short_conv
// CHECK-SAME: %[[U:.*]]: tensor<?x?x8xf32>, %[[W:.*]]: tensor<8x1x4xf32>, %[[ST:.*]]: tensor<?x8x4xf32>, %[[N:.*]]: tensor<?xi64>
func.func @short_conv(%u: tensor<?x?x8xf32>, %w: tensor<8x1x4xf32>, %s: tensor<?x8x4xf32>, %n: tensor<?xi64>) -> (tensor<?x?x8xf32>, tensor<?x8x4xf32>) {
  // CHECK: scf.for {{.*}} = %c0 to %c4 {{.*}} -> (f64)
  // CHECK: scf.if
  // CHECK: tensor.extract %[[ST]]
  // CHECK: else
  // CHECK: tensor.extract %[[U]]
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8x4xf32>)
  // CHECK: tensor.extract %[[N]]
  %y, %t = hybrid.short_conv %u, %w, %s, %n : tensor<?x?x8xf32>, tensor<8x1x4xf32>, tensor<?x8x4xf32>, tensor<?xi64>
  return %y, %t : tensor<?x?x8xf32>, tensor<?x8x4xf32>
}

// CHECK-LABEL: func @delta_rule
// CHECK-SAME: %[[Q:[^:]*]]: {{.*}}, %[[K:[^:]*]]: {{.*}}, %[[V:[^:]*]]: {{.*}}, %[[G:[^:]*]]: {{.*}}, %[[BETA:[^:]*]]: {{.*}}, %[[S0:[^:]*]]: {{.*}}, %[[N:[^:]*]]: tensor<?xi64>
func.func @delta_rule(%q: tensor<?x?x2x4xf32>, %k: tensor<?x?x2x4xf32>, %v: tensor<?x?x2x3xf32>, %g: tensor<?x?x2xf32>,
                      %b: tensor<?x?x2xf32>, %s: tensor<?x2x4x3xf32>, %n: tensor<?xi64>)
    -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>, tensor<?x?x2x4x3xf32>) {
  // Decays are exponentiated once per token and head.
  // CHECK: math.exp {{.*}} : f64
  // CHECK-NOT: math.exp
  // CHECK: %[[S:.*]] = tensor.dim %[[V]], %c1
  // CHECK: scf.for %[[T:.*]] = %c0 to %[[S]] step %c1 iter_args({{.*}}, %[[Z:[^ ]*]] = {{.*}}) -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>, tensor<?x?x2x4x3xf32>)
  // The corrections:
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2x3xf64>)
  // The state, in place, rounded to float32, unless the row has ended:
  // CHECK: %[[FRESH:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2x4x3xf32>)
  // CHECK: arith.truncf {{.*}} : f64 to f32
  // CHECK: arith.cmpi slt, %[[T]]
  // CHECK: arith.select
  // The states before the region; then the region, then what reads its result.
  // CHECK: tensor.insert_slice
  // CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[FRESH]] {{\[}}[0, 1], [2], [3], [4]]
  // CHECK: %[[EDITED:.*]] = linalg.generic {{.*}} outs(%[[WIDE]] : tensor<?x1x2x4x3xf32>)
  // CHECK: %[[STATE:.*]] = tensor.collapse_shape %[[EDITED]]
  // CHECK: linalg.generic
  // CHECK: tensor.extract %[[STATE]]
  // CHECK: tensor.insert_slice
  // CHECK: tensor.insert_slice
  // CHECK: scf.yield %{{.*}}, %[[STATE]]
  %y, %z, %st, %be = hybrid.delta_rule %q, %k, %v, %g, %b, %s, %n states before : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
      tensor<?x?x2x3xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x3xf32>, tensor<?xi64>)
      -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>, tensor<?x?x2x4x3xf32>) {
  ^bb0(%a: tensor<?x1x2x4x3xf32>, %t: index):
    %e = nnterp.edit %a tables [] sources [] entry 0 : tensor<?x1x2x4x3xf32> {
    ^bb0(%o: f32):
      %r = arith.addf %o, %o : f32
      nnterp.yield %r : f32
    }
    hybrid.yield %e : tensor<?x1x2x4x3xf32>
  }
  return %y, %z, %st, %be : tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>, tensor<?x?x2x4x3xf32>
}
