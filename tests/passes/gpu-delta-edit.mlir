// Edits of states are part of the kernel of the delta rule, and of those that make the states again for who looks at them: no loop over tokens
// is left on the host. Edits that look across a state's entries are none of these.
// RUN: split-file %s %t
// RUN: nnterp-opt %t/edit.mlir -nnterp-gpu-to-bufferized | FileCheck %s --check-prefix=OP
// RUN: nnterp-opt %t/edit.mlir -nnterp-gpu-to-launches | FileCheck %s --check-prefix=LAUNCH
// RUN: nnterp-opt %t/project.mlir -nnterp-gpu-to-bufferized | FileCheck %s --check-prefix=PROJECT

// The edits of the state stand beside the epilogue, into which an edit of the result has moved.
// OP-LABEL: func.func private @
// OP-DAG: %[[TOKENS:.*]] = nnterp.slot {{.*}} : memref<?x?xi64>
// OP-DAG: %[[DIMS:.*]] = nnterp.slot {{.*}} : memref<4xi64>
// OP-NOT: scf.for
// OP: device.kernel "delta_states" {{.*}}
// OP: device.kernel "delta_states_before" {{.*}}
// OP: device.kernel "delta_rule" {{.*}}
// OP-NEXT: ^bb0(%{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index, %[[ACC:.*]]: f32):
// OP: arith.mulf %[[ACC]]
// OP: } state_edit {
// OP-NEXT: ^bb0(%[[ROW:.*]]: index, %[[TOKEN:.*]]: index, %{{.*}}: index, %[[D:.*]]: index, %{{.*}}: index, %[[OLD:.*]]: f32):
// Whether a head is edited at a token is known without the entry.
// OP: memref.load %[[TOKENS]][%[[ROW]], %[[TOKEN]]]
// OP: %[[SOME:.*]] = arith.cmpi sge
// OP: memref.load %[[DIMS]][%[[D]]]
// OP: %[[NEW:.*]] = scf.if
// OP: arith.mulf %[[OLD]]
// OP: device.yield %[[NEW]], %[[SOME]] : f32, i1

// LAUNCH-LABEL: func.func private @
// LAUNCH-NOT: scf.for
// LAUNCH: gpu.launch_func @[[STATES:delta_states_[0-9a-f]+]]::
// LAUNCH: gpu.launch_func @[[BEFORE:delta_states_before_[0-9a-f]+]]::
// LAUNCH-NOT: delta_chunks
// LAUNCH: gpu.launch_func @[[STEPS:delta_steps_[0-9a-f]+]]::
// LAUNCH-NOT: gpu.launch_func
// LAUNCH: func.func @nnterp_main
// LAUNCH: gpu.module @[[STATES]] {
// LAUNCH: gpu.module @[[STEPS]] {
// A token's update; a branch around all of the edit; the result.
// LAUNCH: scf.for
// LAUNCH: gpu.shuffle xor
// LAUNCH: %{{.*}} = scf.if %{{.*}} -> (f32) {
// LAUNCH: memref.store %{{.*}} : memref<1x128xf32, #gpu.address_space<workgroup>>
// LAUNCH: scf.for
// LAUNCH: gpu.shuffle xor
// LAUNCH-NOT: gpu.barrier

// PROJECT-NOT: device.kernel "delta
// PROJECT: scf.for
// PROJECT: return

//--- edit.mlir
func.func @main(%q: tensor<?x?x2x4xf32> {nnterp.input = "q"}, %v: tensor<?x?x2x3xf32> {nnterp.input = "v"}, %g: tensor<?x?x2xf32> {nnterp.input = "g"},
                %s: tensor<?x2x4x3xf32> {nnterp.input = "s"}, %n: tensor<?xi64> {nnterp.input = "lengths"}) {
  %h, %z, %t = hybrid.delta_rule %q, %q, %v, %g, %g, %s, %n states {nnterp.block = 0 : i64} : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x3xf32>, tensor<?xi64>) -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>)
  %hp = nnterp.point %h at "h" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x2x3xf32>
  %tp = nnterp.point %t at "t" layout "States" {nnterp.block = 0 : i64} : tensor<?x?x2x4x3xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "e0.dims" : tensor<4xi64>
  nnterp.plan_buffer "e0.c0" : tensor<f32>
  nnterp.plan_edit "scale" at "t" entry 0 tables ["", "e0.seq", "", "e0.dims", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  nnterp.plan_edit "scale" at "h" entry 1 tables ["", "", "", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  nnterp.plan_tap "h" at "h" entry 2 tables ["", "", "", ""]
  nnterp.plan_tap "t" at "t" entry 3 tables ["", "", "", "", ""]
  nnterp.plan_tap "t@before" at "t" before entry 3 tables ["", "", "", "", ""]
}

//--- project.mlir
func.func @main(%q: tensor<?x?x2x4xf32> {nnterp.input = "q"}, %v: tensor<?x?x2x3xf32> {nnterp.input = "v"}, %g: tensor<?x?x2xf32> {nnterp.input = "g"},
                %s: tensor<?x2x4x3xf32> {nnterp.input = "s"}, %n: tensor<?xi64> {nnterp.input = "lengths"}) {
  %h, %z, %t = hybrid.delta_rule %q, %q, %v, %g, %g, %s, %n states {nnterp.block = 0 : i64} : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x3xf32>, tensor<?xi64>) -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>)
  %hp = nnterp.point %h at "h" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x2x3xf32>
  %tp = nnterp.point %t at "t" layout "States" {nnterp.block = 0 : i64} : tensor<?x?x2x4x3xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "e0.v" : tensor<3xf32>
  nnterp.plan_edit "project_out" at "t" entry 0 tables ["", "e0.seq", "", "", ""] {source = {kind = "value", buffer = "e0.v", axes = ["="]}}
  nnterp.plan_tap "h" at "h" entry 2 tables ["", "", "", ""]
}
