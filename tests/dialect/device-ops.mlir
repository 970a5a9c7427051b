// Round trip of the device dialect.
// RUN: nnterp-opt %s -verify-roundtrip | FileCheck %s

// CHECK-LABEL: @kernel
func.func @kernel(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>, %s: tensor<4xf32>) -> (tensor<?x8xf32>, tensor<4xf32>) {
  // CHECK: device.kernel "double" {size = 3 : i64} ins(%{{.*}} : tensor<?x8xf32>) outs(%{{.*}} : tensor<?x8xf32>) states(%{{.*}} : tensor<4xf32>)
  // CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index, %[[ACC:.*]]: f32):
  // CHECK-NEXT: device.yield %[[ACC]] : f32
  // CHECK: -> tensor<?x8xf32>, tensor<4xf32>
  %y:2 = device.kernel "double" {size = 3} ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) states(%s : tensor<4xf32>) {
  ^bb0(%i: index, %j: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<?x8xf32>, tensor<4xf32>
  return %y#0, %y#1 : tensor<?x8xf32>, tensor<4xf32>
}

// CHECK-LABEL: @on_memory
func.func @on_memory(%x: memref<?xf32>, %s: memref<4xf32>) {
  // CHECK: device.kernel "append" {} ins(%{{.*}} : memref<?xf32>) outs() states(%{{.*}} : memref<4xf32>) {
  device.kernel "append" {} ins(%x : memref<?xf32>) outs() states(%s : memref<4xf32>) {
  }
  return
}
