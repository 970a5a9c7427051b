// RUN: nnterp-opt %s -nnterp-apply-plan --split-input-file | FileCheck %s
// A tap before an edit reads the point, a tap after it reads the edit; so does everything that follows.

// CHECK-LABEL: func @main
// CHECK-DAG: %[[SEQ:.*]] = nnterp.buffer "e0.seq"
// CHECK-DAG: %[[C:.*]] = nnterp.buffer "e0.c0"
// CHECK: %[[P:.*]] = nnterp.point %{{.*}} at "a"
// CHECK: nnterp.tap %[[P]] as "a@before"
// CHECK: %[[E:.*]] = nnterp.edit %[[P]] tables [1](%[[SEQ]] : tensor<?x?xi64>) sources [array<i64>](%[[C]] : tensor<f32>) entry 0
// CHECK: arith.addf
// CHECK: %[[G:.*]] = nnterp.gather %[[E]] tables [1]
// CHECK: nnterp.tap %[[G]] as "a"
// CHECK: hybrid.silu %[[E]]
func.func @main(%x: tensor<?x?x8xf32>) {
  %a = hybrid.sigmoid %x : tensor<?x?x8xf32>
  %p = nnterp.point %a at "a" layout "Residual" : tensor<?x?x8xf32>
  %b = hybrid.silu %p : tensor<?x?x8xf32>
  %q = nnterp.point %b at "b" layout "Residual" : tensor<?x?x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "t1.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "e0.c0" : tensor<f32>
  nnterp.plan_edit "add" at "a" entry 0 tables ["", "e0.seq", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  nnterp.plan_tap "a@before" at "a" before entry 0 tables ["", "", ""]
  nnterp.plan_tap "a" at "a" entry 1 tables ["", "t1.seq", ""]
}

// -----

// A source may stand later in the graph as long as it does not depend on the edit: ops are put in order.
// CHECK-LABEL: func @main
// CHECK: %[[B:.*]] = nnterp.point %{{.*}} at "b"
// CHECK: nnterp.edit %{{.*}} sources [array<i64: -2, -2, -2>](%[[B]] : tensor<?x?x8xf32>)
func.func @main(%x: tensor<?x?x8xf32>) {
  %a = hybrid.sigmoid %x : tensor<?x?x8xf32>
  %p = nnterp.point %a at "a" layout "Residual" : tensor<?x?x8xf32>
  %b = hybrid.silu %x : tensor<?x?x8xf32>
  %q = nnterp.point %b at "b" layout "Residual" : tensor<?x?x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_edit "replace" at "a" entry 0 tables ["", "", ""] {source = {kind = "place", at = "b", when = "after", tables = ["", "", ""], axes = ["=", "=", "="]}}
  nnterp.plan_tap "a" at "a" entry 0 tables ["", "", ""]
}

// -----

// Edits of per-token states go inside the recurrence.
// CHECK-LABEL: func @main
// CHECK: %{{.*}}, %{{.*}}, %[[STATES:.*]], %[[BEFORE:.*]] = hybrid.delta_rule {{.*}} states before
// CHECK: ^bb0(%[[Z:.*]]: tensor<?x1x2x4x4xf32>, %[[T:.*]]: index):
// CHECK: %[[E:.*]] = nnterp.edit %[[Z]] tables [1]({{.*}}) sources [] offset %[[T]] entry 0
// CHECK: hybrid.yield %[[E]]
// CHECK: nnterp.point %[[BEFORE]] at "states"
// CHECK: nnterp.tap %[[STATES]] as "states"
func.func @main(%k: tensor<?x?x2x4xf32>, %g: tensor<?x?x2xf32>, %s: tensor<?x2x4x4xf32>, %n: tensor<?xi64>) {
  %y, %z, %states = hybrid.delta_rule %k, %k, %k, %g, %g, %s, %n states : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
    tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>, tensor<?x?x2x4x4xf32>)
  %p = nnterp.point %states at "states" layout "States" : tensor<?x?x2x4x4xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_edit "zero" at "states" entry 0 tables ["", "e0.seq", "", "", ""]
  nnterp.plan_tap "states" at "states" entry 0 tables ["", "", "", "", ""]
}

// -----

// Forced experts reach the router alone; the tapped logits do not see them, nor their raising.
// CHECK-LABEL: func @main
// CHECK: %[[P:.*]] = nnterp.point %{{.*}} at "mlp.router_logits"
// CHECK-DAG: nnterp.tap %[[P]] as "logits"
// CHECK-DAG: %[[R:.*]] = nnterp.raise %[[P]]
// CHECK-DAG: %[[F:.*]] = nnterp.force %{{.*}} like %[[P]]
// CHECK: hybrid.router %[[R]] top 2 forced %[[F]]
func.func @main(%l: tensor<?x?x4xf32>) {
  %p = nnterp.point %l at "mlp.router_logits" layout "RouterLogits" : tensor<?x?x4xf32>
  %w, %i = hybrid.router %p top 2 : tensor<?x?x4xf32>
  %q = nnterp.point %w at "mlp.expert_weights" layout "ExpertWeights" : tensor<?x?x2xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.experts" : tensor<2xi64>
  nnterp.plan_edit "force" at "mlp.router_logits" entry 0 tables ["", "", ""] {experts = "e0.experts", raise}
  nnterp.plan_tap "logits" at "mlp.router_logits" entry 0 tables ["", "", ""]
  nnterp.plan_tap "weights" at "mlp.expert_weights" entry 1 tables ["", "", ""]
}
