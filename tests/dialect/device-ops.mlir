// Round trip of the device dialect.
// RUN: nnterp-opt %s -verify-roundtrip | FileCheck %s

// CHECK: #[[AT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 4 + d2)>

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

// CHECK-LABEL: @scattered
func.func @scattered(%x: tensor<?x8xf32>, %e: tensor<?x8xf32>, %r: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: device.kernel "double" {} ins({{.*}}) outs(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?xf32>) scattered 1 states() {
  // CHECK: device.scatter %{{.*}} to 0[%{{.*}}] : f32
  // CHECK-NEXT: device.yield %{{.*}} : f32
  %y:2 = device.kernel "double" {} ins(%x : tensor<?x8xf32>) outs(%e, %r : tensor<?x8xf32>, tensor<?xf32>) scattered 1 states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    device.scatter %acc to 0 [%i] : f32
    device.yield %acc : f32
  } -> tensor<?x8xf32>, tensor<?xf32>
  return %y#1 : tensor<?xf32>
}

// CHECK-LABEL: @view
func.func @view(%x: tensor<?x8xf32>, %m: memref<?x8xf32>) -> (tensor<2x?x4xf32>, memref<2x?x4xf32>) {
  // CHECK: device.view %{{.*}} at #[[AT]] : tensor<?x8xf32> to tensor<2x?x4xf32>
  %t = device.view %x at affine_map<(h, i, d) -> (i, h * 4 + d)> : tensor<?x8xf32> to tensor<2x?x4xf32>
  // CHECK: device.view %{{.*}} at #[[AT]] : memref<?x8xf32> to memref<2x?x4xf32>
  %n = device.view %m at affine_map<(h, i, d) -> (i, h * 4 + d)> : memref<?x8xf32> to memref<2x?x4xf32>
  return %t, %n : tensor<2x?x4xf32>, memref<2x?x4xf32>
}

// CHECK-LABEL: @edited
func.func @edited(%s: memref<?x2x4x3xf32>) {
  // CHECK: device.kernel "delta_rule" {} ins() outs() states(%{{.*}} : memref<?x2x4x3xf32>) {
  // CHECK-NEXT: } state_edit {
  // CHECK-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[OLD:.*]]: f32):
  // CHECK: device.yield %[[OLD]], %{{.*}} : f32, i1
  device.kernel "delta_rule" {} ins() outs() states(%s : memref<?x2x4x3xf32>) {
  } state_edit {
  ^bb0(%row: index, %token: index, %head: index, %d: index, %e: index, %old: f32):
    %never = arith.constant false
    device.yield %old, %never : f32, i1
  }
  return
}
