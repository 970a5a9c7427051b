// RUN: nnterp-opt %s -nnterp-apply-plan --split-input-file --verify-diagnostics

func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  // expected-error @below {{the graph has no value named 'b'}}
  nnterp.plan_edit "zero" at "b" entry 0 tables ["", ""]
}

// -----

func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  // expected-error @below {{the graph has no value named 'b'}}
  nnterp.plan_tap "b" at "b" entry 0 tables ["", ""]
}

// -----

func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" read_only : tensor<?x8xf32>
  return
}
nnterp.plan {
  // expected-error @below {{'a' is read-only}}
  nnterp.plan_edit "zero" at "a" entry 0 tables ["", ""]
}

// -----

func.func @main(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  %y = hybrid.silu %p : tensor<?x8xf32>
  %q = nnterp.point %y at "b" layout "Residual" : tensor<?x8xf32>
  return
}
nnterp.plan {
  // expected-error @below {{NNT0805: the edit's source depends on what it edits ('a')}}
  // expected-note @below {{values on the cycle: b -> b}}
  nnterp.plan_edit "replace" at "a" entry 0 tables ["", ""] {source = {kind = "place", at = "b", when = "after", tables = ["", ""], axes = ["=", "="]}}
  nnterp.plan_tap "b" at "b" entry 0 tables ["", ""]
}
