// RUN: nnterp-opt %s -nnterp-taps-to-results -nnterp-erase-points -nnterp-prune-unused -cse | FileCheck %s
// Taps become results under their keys; points and what nobody reads are gone: no head, no per-token states.

// CHECK-LABEL: func @main(%arg0: tensor<?x?x2x4xf32>
// CHECK-SAME: -> (tensor<?x?x2x4xf32> {nnterp.key = "y"})
// CHECK-NOT: nnterp.point
// CHECK-NOT: nnterp.tap
// CHECK-NOT: states
// CHECK-NOT: hybrid.silu
// CHECK: %[[Y:.*]], %{{.*}} = hybrid.delta_rule
// CHECK: return %[[Y]]
// CHECK-NOT: nnterp.plan
func.func @main(%k: tensor<?x?x2x4xf32>, %g: tensor<?x?x2xf32>, %s: tensor<?x2x4x4xf32>, %n: tensor<?xi64>) {
  %y, %z, %states = hybrid.delta_rule %k, %k, %k, %g, %g, %s, %n states : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>,
    tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x4xf32>, tensor<?xi64>) -> (tensor<?x?x2x4xf32>, tensor<?x2x4x4xf32>, tensor<?x?x2x4x4xf32>)
  %p = nnterp.point %states at "states" layout "States" : tensor<?x?x2x4x4xf32>
  %q = nnterp.point %y at "y" layout "LinearV" : tensor<?x?x2x4xf32>
  %h = hybrid.silu %q : tensor<?x?x2x4xf32>
  %r = nnterp.point %h at "head" layout "LinearV" : tensor<?x?x2x4xf32>
  nnterp.tap %q as "y" : tensor<?x?x2x4xf32>
  return
}
nnterp.plan {
  nnterp.plan_tap "y" at "y" entry 0 tables ["", "", "", ""]
}
