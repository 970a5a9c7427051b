// RUN: nnterp-opt %s -nnterp-lower-slots -split-input-file -verify-diagnostics

func.func private @no_table(%frame: !llvm.ptr, %site: i64) {
  // expected-error @below {{'nnterp.slot' op stands in a function without the table nnterp.sites}}
  %m = nnterp.slot %frame, %site [0] : memref<f32>
  return
}

// -----

func.func private @flat_table(%frame: !llvm.ptr, %site: i64) attributes {nnterp.sites = dense<[1, 2]> : tensor<2xi64>} {
  // expected-error @below {{needs nnterp.sites to be a tensor of call sites x parameters, i64, but it is 'tensor<2xi64>'}}
  %m = nnterp.slot %frame, %site [0] : memref<f32>
  return
}

// -----

func.func private @beyond_table(%frame: !llvm.ptr, %site: i64) attributes {nnterp.sites = dense<[[1, 2]]> : tensor<1x2xi64>} {
  // expected-error @below {{has parameter 2, but the table has 2}}
  %m = nnterp.slot %frame, %site [2] : memref<f32>
  return
}

// -----

func.func private @strided(%frame: !llvm.ptr, %site: i64) attributes {nnterp.sites = dense<[[1]]> : tensor<1x1xi64>} {
  // expected-error @below {{is dense row-major memory of rank 6 or less, but has type 'memref<4xf32, strided<[2]>>'}}
  %m = nnterp.slot %frame, %site [0] : memref<4xf32, strided<[2]>>
  return
}

// -----

func.func private @too_many_axes(%frame: !llvm.ptr, %site: i64) attributes {nnterp.sites = dense<[[1]]> : tensor<1x1xi64>} {
  // expected-error @below {{is dense row-major memory of rank 6 or less}}
  %m = nnterp.slot %frame, %site [0] : memref<1x1x1x1x1x1x1xf32>
  return
}
