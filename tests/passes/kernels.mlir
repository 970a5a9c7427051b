// RUN: nnterp-opt %s -pass-pipeline='builtin.module(func.func(nnterp-form-kernels))' | FileCheck %s --check-prefix=FORM
// RUN: nnterp-opt %s -pass-pipeline='builtin.module(func.func(nnterp-form-kernels,nnterp-open-kernels))' | FileCheck %s --check-prefix=OPEN
// An op of the model, its edits and its taps are one kernel; the plain lowering opens it again.

// FORM-LABEL: func @f
// FORM: %[[K:.*]]:2 = hybrid.kernel "hybrid.silu"
// FORM: %[[Y:.*]] = hybrid.silu
// FORM: %[[E:.*]] = nnterp.edit %[[Y]]
// FORM: %[[G:.*]] = nnterp.gather %[[E]]
// FORM: hybrid.yield %[[E]], %[[G]]
// FORM: hybrid.kernel "hybrid.sigmoid"
// OPEN-LABEL: func @f
// OPEN-NOT: hybrid.kernel
// OPEN: hybrid.silu
// OPEN: nnterp.edit
// OPEN: nnterp.gather
// OPEN: hybrid.sigmoid
func.func @f(%x: tensor<?x?x8xf32>, %t: tensor<?x?xi64>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>) {
  %y = hybrid.silu %x : tensor<?x?x8xf32>
  %e = nnterp.edit %y tables [1] (%t : tensor<?x?xi64>) sources [] entry 0 : tensor<?x?x8xf32> {
  ^bb0(%v: f32):
    nnterp.yield %v : f32
  }
  %g = nnterp.gather %e tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
  %z = hybrid.sigmoid %e : tensor<?x?x8xf32>
  return %z, %g : tensor<?x?x8xf32>, tensor<?x?x8xf32>
}
