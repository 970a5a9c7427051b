// Ops with a builder become kernels before they are lowered; what a kernel stands for besides them is gone; the others are left.
// RUN: nnterp-opt %s --nnterp-choose-device-kernels | FileCheck %s

// CHECK-LABEL: func @append
// CHECK-SAME: (%[[CACHE:.*]]: tensor<?x2x?x8xf32>, %[[ADDED:.*]]: tensor<?x2x?x8xf32>, %[[LENGTHS:.*]]: tensor<?xi64>, %[[PAST:.*]]: tensor<?xi64>)
// CHECK-NOT: hybrid.kv_append
// CHECK: device.kernel "kv_append" {} ins(%[[ADDED]], %[[LENGTHS]], %[[PAST]] : {{.*}}) outs() states(%[[CACHE]] : tensor<?x2x?x8xf32>)
func.func @append(%cache: tensor<?x2x?x8xf32>, %added: tensor<?x2x?x8xf32>, %lengths: tensor<?xi64>, %past: tensor<?xi64>) -> tensor<?x2x?x8xf32> {
  %r = hybrid.kv_append %cache, %added, %lengths past %past : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>, tensor<?xi64>
  return %r : tensor<?x2x?x8xf32>
}

// CHECK-LABEL: func @silu
// CHECK: hybrid.silu
// CHECK-NOT: device.kernel
func.func @silu(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %y = hybrid.silu %x : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
