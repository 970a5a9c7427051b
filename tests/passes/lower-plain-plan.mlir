// What a plan does to values: tables are read entry by entry, and entries outside them stay.
// RUN: nnterp-opt %s -nnterp-lower-plain -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func @gather
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>, %[[T:.*]]: tensor<?x?xi64>
func.func @gather(%x: tensor<?x?x8xf32>, %t: tensor<?x?xi64>) -> tensor<?x1x8xf32> {
  // CHECK: %[[LENGTH:.*]] = tensor.dim %[[T]], %c1
  // CHECK: tensor.empty(%{{.*}}, %[[LENGTH]]) : tensor<?x?x8xf32>
  // CHECK: tensor.extract %[[T]]
  // CHECK: scf.if
  // CHECK: tensor.extract %[[X]]
  // CHECK: else
  // CHECK-NEXT: scf.yield %cst
  %y = nnterp.gather %x tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
  // CHECK: outs(%{{.*}} : tensor<?x1x8xf32>)
  // CHECK: scf.for {{.*}} -> (f64, f64)
  %m = nnterp.mean %y over [1] tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
  return %m : tensor<?x1x8xf32>
}

// The value itself is updated; the function is applied in float32.
// CHECK-LABEL: func @edit
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xbf16>
func.func @edit(%x: tensor<?x?x8xbf16>, %t: tensor<?x?xi64>, %s: tensor<?x?x1xbf16>, %p: tensor<?x?xi64>) -> tensor<?x?x8xbf16> {
  // CHECK: linalg.generic {{.*}} outs(%[[X]] : tensor<?x?x8xbf16>)
  // CHECK-NEXT: ^bb0(%[[OLD:.*]]: bf16):
  // CHECK: scf.if
  // CHECK: arith.extf %[[OLD]] : bf16 to f32
  // CHECK: arith.addf {{.*}} : f32
  // CHECK: arith.truncf {{.*}} : f32 to bf16
  // CHECK: else
  // CHECK-NEXT: scf.yield %[[OLD]]
  %y = nnterp.edit %x tables [1] (%t : tensor<?x?xi64>) sources [array<i64: -2, 0, -1>] (%s : tensor<?x?x1xbf16>)
      through (%p : tensor<?x?xi64>) entry 0 : tensor<?x?x8xbf16> {
  ^bb0(%v: f32, %a: f32):
    %r = arith.addf %v, %a : f32
    nnterp.yield %r : f32
  }
  return %y : tensor<?x?x8xbf16>
}

// Inside a delta rule the tables of axis 1 are read at the token's position.
// CHECK-LABEL: func @offset
// CHECK-SAME: %{{.*}}: tensor<?x1x2xf32>, %[[T:.*]]: tensor<?x?xi64>, %[[O:.*]]: index
func.func @offset(%x: tensor<?x1x2xf32>, %t: tensor<?x?xi64>, %o: index) -> tensor<?x1x2xf32> {
  // CHECK: tensor.extract %[[T]][%{{.*}}, %[[O]]]
  %y = nnterp.edit %x tables [1] (%t : tensor<?x?xi64>) sources [] offset %o entry 0 : tensor<?x1x2xf32> {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    nnterp.yield %z : f32
  }
  return %y : tensor<?x1x2xf32>
}

// CHECK-LABEL: func @causal
func.func @causal(%x: tensor<?x2x?x?xf32>, %t: tensor<?x?xi64>) -> tensor<?x2x?x?xf32> {
  // CHECK-DAG: %[[I:.*]] = linalg.index 2
  // CHECK-DAG: %[[J:.*]] = linalg.index 3
  // CHECK: arith.cmpi sge, %[[I]], %[[J]]
  %y = nnterp.edit %x causal tables [3] (%t : tensor<?x?xi64>) sources [] entry 0 : tensor<?x2x?x?xf32> {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    nnterp.yield %z : f32
  }
  return %y : tensor<?x2x?x?xf32>
}

// A direction of length zero is reported outside of tensor code.
// CHECK-LABEL: func @project_out
// CHECK-SAME: %[[FRAME:.*]]: !llvm.ptr
func.func @project_out(%frame: !llvm.ptr, %x: tensor<?x?x8xf32>, %t: tensor<?x?xi64>, %d: tensor<8xf32>) -> tensor<?x?x8xf32> {
  // CHECK: %[[NORMS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?xf64>)
  // CHECK: math.sqrt {{.*}} : f64
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: tensor.extract %[[NORMS]]
  // CHECK: scf.if
  // CHECK-NEXT: nnterp.fail %[[FRAME]], entry 3 reason 1
  // CHECK: outs(%{{.*}} : tensor<?x?xf32>)
  // CHECK: outs(%{{.*}} : tensor<?x?x8xf32>)
  // CHECK: arith.mulf {{.*}} : f32
  // CHECK: arith.subf {{.*}} : f32
  %y = nnterp.project_out %x tables [1] (%t : tensor<?x?xi64>) source [-2] %d : tensor<8xf32> entry 3 : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// CHECK-LABEL: func @routing
func.func @routing(%w: tensor<?x?x3xf32>, %i: tensor<?x?x3xi64>, %e: tensor<5xi64>, %l: tensor<?x?x5xbf16>, %k: tensor<2xi64>, %t: tensor<?x?xi64>)
    -> (tensor<?x?x3xf32>, tensor<?x?x5xbf16>, tensor<?x?x3xi64>) {
  // CHECK-DAG: arith.constant -3.389530e+38 : bf16
  // CHECK: outs(%{{.*}} : tensor<?x?x3xf32>)
  // CHECK: arith.divf {{.*}} : f32
  %a = nnterp.drop %w, %i, %e renormalise tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<?x?x3xf32>, tensor<?x?x3xi64>, tensor<5xi64>
  // CHECK: outs(%{{.*}} : tensor<?x?x5xbf16>)
  %b = nnterp.reroute %l, %e tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<?x?x5xbf16>, tensor<5xi64>
  // CHECK: outs(%{{.*}} : tensor<?x?xbf16>)
  // CHECK: outs(%{{.*}} : tensor<?x?x5xbf16>)
  %c = nnterp.raise %b, %k tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<?x?x5xbf16>, tensor<2xi64>
  // CHECK: outs(%{{.*}} : tensor<?x?x3xi64>)
  %f = nnterp.force %k like %l tables [1] (%t : tensor<?x?xi64>) entry 0 : tensor<2xi64>, tensor<?x?x5xbf16> -> tensor<?x?x3xi64>
  // CHECK: outs(%{{.*}} : tensor<?x?x3xi64>)
  %g = nnterp.force %k like %l after %f : tensor<?x?x3xi64> tables [1] (%t : tensor<?x?xi64>) entry 1 : tensor<2xi64>, tensor<?x?x5xbf16> -> tensor<?x?x3xi64>
  return %a, %c, %g : tensor<?x?x3xf32>, tensor<?x?x5xbf16>, tensor<?x?x3xi64>
}
