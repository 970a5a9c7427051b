// RUN: nnterp-opt %s -nnterp-outline-blocks --split-input-file | FileCheck %s
// A block of a world is a piece; equal pieces of two worlds, and of the two entries, share one function. A world's extents are
// those of its input.

// CHECK: module attributes {nnterp.blocks = 1 : i64
// CHECK: func.func private @block0(
// CHECK-SAME: nnterp.sites = dense<{{.*}}> : tensor<3x1xi64>
// CHECK-NOT: func.func private @block0_1
// CHECK: func.func @nnterp_main
// CHECK: %[[A:.*]] = nnterp.slot %{{.*}}, %{{.*}}[0] : memref<?x?xi64>
// CHECK: memref.dim %[[A]]
// CHECK: call @before(%{{.*}}, %c0
// CHECK: %[[B:.*]] = nnterp.slot %{{.*}}, %{{.*}}[1] : memref<?x?xi64>
// CHECK: memref.dim %[[B]]
// CHECK: call @before(%{{.*}}, %c1
// CHECK: memref.dim %[[A]]
// CHECK: call @block0(%{{.*}}, %c0
// CHECK: memref.dim %[[B]]
// CHECK: call @block0(%{{.*}}, %c1
// CHECK: func.func @nnterp_step
// CHECK: call @block0(%{{.*}}, %c2
func.func @main(%a: tensor<?x?xi64> {nnterp.input = "a/ids"}, %b: tensor<?x?xi64> {nnterp.input = "b/ids"}) -> (tensor<?x?x8xf32> {nnterp.key = "a/y"}, tensor<?x?x8xf32> {nnterp.key = "b/y"}) {
  %t = hybrid.weight "table" : tensor<4x8xf32>
  %xa = hybrid.embedding %a, %t as f32 {nnterp.block = -1 : i64, nnterp.world = 0 : i64} : tensor<?x?xi64>, tensor<4x8xf32>
  %xb = hybrid.embedding %b, %t as f32 {nnterp.block = -1 : i64, nnterp.world = 1 : i64} : tensor<?x?xi64>, tensor<4x8xf32>
  %w = hybrid.weight "w0" : tensor<8x8xf32>
  %la = hybrid.linear %xa, %w {nnterp.block = 0 : i64, nnterp.world = 0 : i64} : tensor<?x?x8xf32>, tensor<8x8xf32>
  %lb = hybrid.linear %xb, %w {nnterp.block = 0 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>, tensor<8x8xf32>
  %ya = hybrid.silu %la {nnterp.block = 1 : i64, nnterp.world = 0 : i64} : tensor<?x?x8xf32>
  %yb = hybrid.silu %lb {nnterp.block = 1 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>
  return %ya, %yb : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}
func.func @step(%a: tensor<?x?xi64> {nnterp.input = "a/ids@gen"}) -> (tensor<?x?x8xf32> {nnterp.key = "a/y@gen"}) {
  %t = hybrid.weight "table" : tensor<4x8xf32>
  %x = hybrid.embedding %a, %t as f32 {nnterp.block = -1 : i64} : tensor<?x?xi64>, tensor<4x8xf32>
  %w = hybrid.weight "w0" : tensor<8x8xf32>
  %l = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x?x8xf32>, tensor<8x8xf32>
  %y = hybrid.silu %l {nnterp.block = 1 : i64} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Worlds that read from each other within a block: as many pieces as that takes.
// CHECK: func.func @nnterp_main
// CHECK: call @before
// CHECK-COUNT-4: call @block0
// CHECK-NOT: call @block0
// CHECK: call @behind
func.func @main(%a: tensor<?x?xi64> {nnterp.input = "a/ids"}) -> (tensor<?x?x8xf32> {nnterp.key = "y"}) {
  %t = hybrid.weight "table" : tensor<4x8xf32>
  %x = hybrid.embedding %a, %t as f32 {nnterp.block = -1 : i64} : tensor<?x?xi64>, tensor<4x8xf32>
  %a1 = hybrid.silu %x {nnterp.block = 0 : i64, nnterp.world = 0 : i64} : tensor<?x?x8xf32>
  %b1 = hybrid.add %x, %a1 {nnterp.block = 0 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>
  %a2 = hybrid.mul %a1, %b1 {nnterp.block = 0 : i64, nnterp.world = 0 : i64} : tensor<?x?x8xf32>
  %b2 = hybrid.gate %b1 by %a2 {nnterp.block = 0 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>, tensor<?x?x8xf32>
  %y = hybrid.silu %b2 {nnterp.block = 1 : i64, nnterp.world = 1 : i64} : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// -----

// Memory that one piece alone reads is written in place: one slot, fetched once.
// CHECK: {kind = "state", name = "keys", type = tensor<?x2x?x8xf32>}
// CHECK: func.func private @behind
// CHECK: %[[M:.*]] = nnterp.slot %{{.*}}, %{{.*}}[{{[0-9]+}}] : memref<?x2x?x8xf32>
// CHECK: %[[C:.*]] = bufferization.to_tensor %[[M]] restrict writable
// CHECK: %[[N:.*]] = hybrid.kv_append %[[C]]
// CHECK: bufferization.materialize_in_destination %[[N]] in restrict writable %[[M]]
func.func @main(%ids: tensor<?x?xi64> {nnterp.input = "ids"}, %n: tensor<?xi64> {nnterp.input = "lengths"}) -> (tensor<?x2x?x8xf32> {nnterp.key = "keys", nnterp.kind = "state"}) {
  %t = hybrid.weight "table" : tensor<4x16xf32>
  %x = hybrid.embedding %ids, %t as f32 {nnterp.block = 0 : i64} : tensor<?x?xi64>, tensor<4x16xf32>
  %h = hybrid.heads %x offset 0 stride 8 size 8 heads 2 repeat 1 {nnterp.block = 0 : i64} : tensor<?x?x16xf32>
  %k = hybrid.swap_heads %h {nnterp.block = 0 : i64} : tensor<?x?x2x8xf32>
  %c = hybrid.memory "keys" {nnterp.block = 0 : i64} : tensor<?x2x?x8xf32>
  %c1 = hybrid.kv_append %c, %k, %n {nnterp.block = 0 : i64} : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  return %c1 : tensor<?x2x?x8xf32>
}

// -----

// What is remembered and read by another piece too is stored as a copy: its memory is still being read. (Symptom: "cannot avoid
// RaW conflict" when a state came from another world's state of the same block.)
// CHECK: func.func private @block0
// CHECK: %[[V:.*]] = hybrid.silu
// CHECK: %[[C:.*]] = nnterp.gather %[[V]] tables []
// CHECK: bufferization.materialize_in_destination %[[V]] in %{{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: bufferization.materialize_in_destination %[[C]] in restrict writable
func.func @main(%ids: tensor<?x?xi64> {nnterp.input = "ids"}) -> (tensor<?x8xf32> {nnterp.key = "a", nnterp.kind = "state"}, tensor<?x8xf32> {nnterp.key = "y"}) {
  %m = hybrid.memory "a" {nnterp.block = 0 : i64} : tensor<?x8xf32>
  %v = hybrid.silu %m {nnterp.block = 0 : i64} : tensor<?x8xf32>
  %y = hybrid.sigmoid %v {nnterp.block = 1 : i64} : tensor<?x8xf32>
  return %v, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
