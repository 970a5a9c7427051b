// RUN: nnterp-opt %s -nnterp-apply-plan -nnterp-check-dead-edits --split-input-file --verify-diagnostics

// Reaches a tap: nothing to say.
func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  %y = hybrid.silu %p : tensor<?x8xf32>
  %q = nnterp.point %y at "b" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_edit "zero" at "a" entry 0 tables ["", ""]
  nnterp.plan_tap "b" at "b" entry 0 tables ["", ""]
}

// -----

// The tap stands before the edit.
func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  %y = hybrid.silu %p : tensor<?x8xf32>
  %q = nnterp.point %y at "b" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  // expected-error @below {{NNT0806: the edit at 'b' reaches no output of this run}}
  // expected-note @below {{tap a value that depends on it, such as 'logits' or the value itself}}
  nnterp.plan_edit "zero" at "b" entry 0 tables ["", ""]
  nnterp.plan_tap "a" at "a" entry 0 tables ["", ""]
}

// -----

// One entry at two points is alive when one of them reaches a tap.
func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  %y = hybrid.silu %p : tensor<?x8xf32>
  %q = nnterp.point %y at "b" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_edit "zero" at "a" entry 0 tables ["", ""]
  nnterp.plan_edit "zero" at "b" entry 0 tables ["", ""]
  nnterp.plan_tap "a" at "a" entry 0 tables ["", ""]
}

// -----

// What only later tokens read is dead in a run that generates none.
func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "layers[3].self_attn.past_keys" layout "Memory" : tensor<?x8xf32>
  %q = nnterp.point %x at "b" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  // expected-error @below {{NNT0806: the edit at 'layers[3].self_attn.past_keys' reaches no output of this run}}
  // expected-note @below {{it is read by later tokens only, and this run generates none that would}}
  nnterp.plan_edit "zero" at "layers[3].self_attn.past_keys" entry 0 tables ["", ""]
  nnterp.plan_tap "b" at "b" entry 0 tables ["", ""]
}
