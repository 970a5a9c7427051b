// RUN: nnterp-opt %s -nnterp-share-worlds | FileCheck %s
// What two worlds have in common is computed once and keeps the mark of the first; behind a difference each has its own.

// CHECK-LABEL: func @main
// CHECK: %[[X:.*]] = hybrid.silu %{{.*}} {nnterp.block = 0 : i64, nnterp.world = 0 : i64}
// CHECK-NOT: hybrid.silu
// CHECK: %[[A:.*]] = hybrid.sigmoid %[[X]] {nnterp.block = 1 : i64, nnterp.world = 0 : i64}
// CHECK: %[[Z:.*]] = hybrid.add %[[X]], %{{.*}} {nnterp.block = 0 : i64, nnterp.world = 1 : i64}
// CHECK: %[[B:.*]] = hybrid.sigmoid %[[Z]] {nnterp.block = 1 : i64, nnterp.world = 1 : i64}
// CHECK: return %[[A]], %[[B]]
func.func @main(%x: tensor<?x?x8xf32>, %v: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %a = hybrid.silu %x {nnterp.block = 0 : i64, nnterp.world = 0 : i64} : tensor<?x?x8xf32>
  %b = hybrid.sigmoid %a {nnterp.block = 1 : i64, nnterp.world = 0 : i64} : tensor<?x?x8xf32>
  %c = hybrid.silu %x {nnterp.block = 0 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>
  %e = hybrid.add %c, %v {nnterp.block = 0 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>
  %d = hybrid.sigmoid %e {nnterp.block = 1 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>
  return %b, %d : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}
