// RUN: nnterp-opt %s -nnterp-make-worlds | FileCheck %s
// One copy per world: names begin with the world's, arguments with the input's, and worlds on one input share them.

// CHECK-LABEL: func @main(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xi64> {nnterp.input = "clean/ids"}, %[[B:.*]]: tensor<?x?xi64> {nnterp.input = "corrupt/ids"}
// CHECK: hybrid.embedding %[[A]]
// CHECK: nnterp.point %{{.*}} at "clean/x"
// CHECK: hybrid.remember %{{.*}} as "clean/m"
// CHECK: hybrid.embedding %[[B]], %{{.*}} as f32 {nnterp.world = 1 : i64}
// CHECK: nnterp.point %{{.*}} at "corrupt/x"
// CHECK: hybrid.memory "corrupt/m"
// CHECK: hybrid.embedding %[[A]], %{{.*}} as f32 {nnterp.world = 2 : i64}
// CHECK: nnterp.point %{{.*}} at "patched/x"
// CHECK: return
func.func @main(%ids: tensor<?x?xi64> {nnterp.input = "ids"}) {
  %w = hybrid.weight "table" : tensor<4x8xf32>
  %x = hybrid.embedding %ids, %w as f32 : tensor<?x?xi64>, tensor<4x8xf32>
  %p = nnterp.point %x at "x" layout "Residual" : tensor<?x?x8xf32>
  %m = hybrid.memory "m" : tensor<?x2x4xf32>
  hybrid.remember %m as "m" : tensor<?x2x4xf32>
  return
}
nnterp.plan {
  nnterp.plan_world "clean" input "clean"
  nnterp.plan_world "corrupt" input "corrupt"
  nnterp.plan_world "patched" input "clean"
}

// A plan without worlds leaves its function alone.
// CHECK-LABEL: func @step(
// CHECK-SAME: %[[I:.*]]: tensor<?x?xi64> {nnterp.input = "ids@gen"})
// CHECK: nnterp.point %{{.*}} at "x" layout "Tokens"
func.func @step(%ids: tensor<?x?xi64> {nnterp.input = "ids@gen"}) {
  %p = nnterp.point %ids at "x" layout "Tokens" : tensor<?x?xi64>
  return
}
nnterp.plan of "step" {
}
