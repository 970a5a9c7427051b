// RUN: nnterp-opt %s -nnterp-to-bufferized | FileCheck %s
// A cache is appended to where it lies: no memory of its size is allocated, nothing is copied but the new tokens, though its
// view is read by attention.

// CHECK: func.func private @before(
// CHECK: %[[M:.*]] = nnterp.slot %{{.*}}, %{{.*}}[{{[0-9]+}}] : memref<?x2x?x8xf32>
// CHECK: %[[K:.*]] = memref.alloc({{.*}} : memref<?x2x?x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: %[[FROM:.*]] = memref.subview %[[K]]{{.*}}[1, 2, 1, 8]
// CHECK: %[[TO:.*]] = memref.subview %[[M]]{{.*}}[1, 2, 1, 8]
// CHECK: memref.store %{{.*}}, %[[TO]]
// CHECK: %[[V:.*]] = memref.subview %[[M]]
// CHECK: memref.load %[[V]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.store %{{.*}}, %[[M]]
// CHECK: return
func.func @step(%ids: tensor<?x?xi64> {nnterp.input = "ids"}, %n: tensor<?xi64> {nnterp.input = "lengths"}, %past: tensor<?xi64> {nnterp.input = "past"},
                %total: tensor<1xi64> {nnterp.input = "total"}) {
  %t = hybrid.weight "table" : tensor<4x16xf32>
  %x = hybrid.embedding %ids, %t as f32 : tensor<?x?xi64>, tensor<4x16xf32>
  %h = hybrid.heads %x offset 0 stride 8 size 8 heads 2 repeat 1 : tensor<?x?x16xf32>
  %k = hybrid.swap_heads %h : tensor<?x?x2x8xf32>
  %c = hybrid.memory "keys" : tensor<?x2x?x8xf32>
  %c1 = hybrid.kv_append %c, %k, %n past %past : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>, tensor<?xi64>
  %v = hybrid.kv_view %c1, %total : tensor<?x2x?x8xf32>, tensor<1xi64>
  %p = nnterp.point %v at "past_keys" layout "Memory" : tensor<?x2x?x8xf32>
  %c2 = hybrid.kv_store %c1, %p : tensor<?x2x?x8xf32>
  hybrid.remember %c2 as "keys" : tensor<?x2x?x8xf32>
  %s = hybrid.attention_scores %k, %v past %past scale 0.5 : tensor<?x2x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?xi64>
  %q = nnterp.point %s at "scores" layout "Pattern" : tensor<?x2x?x?xf32>
  return
}
nnterp.plan of "step" {
  nnterp.plan_tap "scores" at "scores" entry 0 tables ["", "", "", ""]
}
