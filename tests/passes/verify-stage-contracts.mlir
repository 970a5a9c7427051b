// RUN: nnterp-opt %s --split-input-file --verify-diagnostics -nnterp-verify-stage=stage=import

func.func @tap(%x: tensor<?x8xf32>) {
  // expected-error @below {{stage import: 'nnterp.tap' appears only when a plan is applied}}
  nnterp.tap %x as "a" : tensor<?x8xf32>
  return
}

// -----

func.func @names(%x: tensor<?x8xf32>) {
  %p = nnterp.point %x at "a" layout "Residual" : tensor<?x8xf32>
  // expected-error @below {{stage import: two points are named 'a'}}
  %q = nnterp.point %p at "a" layout "Residual" : tensor<?x8xf32>
  return
}

// -----

func.func @attribute(%x: tensor<?x8xf32>) {
  // expected-error @below {{stage import: unknown attribute 'epss'}}
  %p = nnterp.point %x at "a" layout "Residual" {epss = 1} : tensor<?x8xf32>
  return
}
