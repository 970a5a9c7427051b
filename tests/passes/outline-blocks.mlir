// RUN: nnterp-opt %s -nnterp-outline-blocks | FileCheck %s
// Two blocks that differ in their weights share one function; each call site has its own row of slots.

// CHECK: module attributes {nnterp.blocks = 2 : i64
// CHECK-SAME: {kind = "weight", name = "w0"
// CHECK: func.func private @block0(%[[F:.*]]: !llvm.ptr, %[[S:.*]]: i64, %[[X:.*]]: tensor<?x?x8xf32> {bufferization.writable = false}, %[[D:.*]]: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {nnterp.sites = dense<{{\[\[}}[[A:[0-9]+]]], {{\[}}[[B:[0-9]+]]]]>
// CHECK: %[[M:.*]] = nnterp.slot %[[F]], %[[S]][0] : memref<8x8xf32>
// CHECK: bufferization.to_tensor %[[M]] restrict
// CHECK: %[[Y:.*]] = hybrid.linear %[[X]]
// CHECK: bufferization.materialize_in_destination %[[Y]] in %[[D]]
// CHECK-NOT: func.func private @block1
// CHECK: func.func private @behind
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %{{.*}} : (tensor<?x?x8xf32>, memref<?x?x8xf32>)
// CHECK: func.func @nnterp_main(%{{.*}}: !llvm.ptr)
// CHECK: call @block0(%{{.*}}, %c0
// CHECK: nnterp.progress %{{.*}}, 2 of 4
// CHECK: call @block0(%{{.*}}, %c1
// CHECK: call @behind
// CHECK-NOT: func.func @main
func.func @main(%ids: tensor<?x?xi64> {nnterp.input = "ids"}) -> (tensor<?x?x8xf32> {nnterp.key = "y"}) {
  %t = hybrid.weight "table" {nnterp.block = -1 : i64} : tensor<4x8xf32>
  %x = hybrid.embedding %ids, %t as f32 {nnterp.block = -1 : i64} : tensor<?x?xi64>, tensor<4x8xf32>
  %w0 = hybrid.weight "w0" {nnterp.block = 0 : i64} : tensor<8x8xf32>
  %a = hybrid.linear %x, %w0 {nnterp.block = 0 : i64} : tensor<?x?x8xf32>, tensor<8x8xf32>
  %w1 = hybrid.weight "w1" {nnterp.block = 1 : i64} : tensor<8x8xf32>
  %b = hybrid.linear %a, %w1 {nnterp.block = 1 : i64} : tensor<?x?x8xf32>, tensor<8x8xf32>
  %y = hybrid.silu %b {nnterp.block = 2 : i64} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
