// RUN: nnterp-opt %s -nnterp-apply-plan -nnterp-check-dead-edits --split-input-file --verify-diagnostics
// RUN: nnterp-opt %s -nnterp-taps-to-results --split-input-file | FileCheck %s
// Memory is needed where a later call that is itself needed reads it, or where it is saved.

// CHECK-LABEL: func @main
// CHECK-SAME: -> (tensor<?x2x4xf32> {nnterp.key = "a", nnterp.kind = "state"}, tensor<?x2x4xf32> {nnterp.key = "k", nnterp.kind = "kept"})
func.func @main(%x: tensor<?x2x4xf32>) {
  %p = nnterp.point %x at "conv_state" layout "ConvState" : tensor<?x2x4xf32>
  hybrid.remember %p as "a" : tensor<?x2x4xf32>
  hybrid.remember %x as "b" : tensor<?x2x4xf32>
  nnterp.tap %x as "k" kept : tensor<?x2x4xf32>
  nnterp.tap %x as "unread" kept : tensor<?x2x4xf32>
  return
}
// CHECK-LABEL: func @step
// CHECK-SAME: -> (tensor<?x2x4xf32> {nnterp.key = "y"})
// CHECK-NOT: hybrid.remember
func.func @step() {
  %a = hybrid.memory "a" : tensor<?x2x4xf32>
  %k = nnterp.buffer "k" kept : tensor<?x2x4xf32>
  %y = hybrid.add %a, %k : tensor<?x2x4xf32>
  nnterp.tap %y as "y" : tensor<?x2x4xf32>
  %b = hybrid.memory "b" : tensor<?x2x4xf32>
  hybrid.remember %b as "b" : tensor<?x2x4xf32>
  return
}
nnterp.plan { // alive: the step reads it
  nnterp.plan_edit "zero" at "conv_state" entry 0 tables ["", "", ""]
}

// -----

// CHECK-LABEL: func @main
// CHECK-NOT: nnterp.kind
func.func @main(%x: tensor<?x2x4xf32>) {
  %p = nnterp.point %x at "conv_state" layout "ConvState" : tensor<?x2x4xf32>
  hybrid.remember %p as "a" : tensor<?x2x4xf32>
  return
}
nnterp.plan {
  // expected-error @below {{NNT0806: the edit at 'conv_state' reaches no output of this run}}
  // expected-note @below {{it is read by later tokens only, and this run generates none that would}}
  nnterp.plan_edit "zero" at "conv_state" entry 0 tables ["", "", ""]
}

// -----

// CHECK-LABEL: func @main
// CHECK-SAME: -> (tensor<?x2x4xf32> {nnterp.key = "a", nnterp.kind = "state"})
func.func @main(%x: tensor<?x2x4xf32>) {
  %p = nnterp.point %x at "conv_state" layout "ConvState" : tensor<?x2x4xf32>
  hybrid.remember %p as "a" saved : tensor<?x2x4xf32>
  return
}
nnterp.plan {
  nnterp.plan_edit "zero" at "conv_state" entry 0 tables ["", "", ""]
}
