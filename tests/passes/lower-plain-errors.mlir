// What the plain lowering refuses.
// RUN: nnterp-opt %s -nnterp-lower-plain --split-input-file --verify-diagnostics

func.func @structure() -> tensor<8xf32> {
  // expected-error @below {{has no plain lowering}}
  %w = hybrid.weight "model.norm.weight" : tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

func.func @no_frame(%x: tensor<?x?x8xf32>, %t: tensor<?x?xi64>, %d: tensor<8xf32>) -> tensor<?x?x8xf32> {
  // expected-error @below {{expects the run's frame as the function's first argument}}
  %y = nnterp.project_out %x tables [1] (%t : tensor<?x?xi64>) source [-2] %d : tensor<8xf32> entry 0 : tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
