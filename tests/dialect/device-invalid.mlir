// What the device dialect's verifiers refuse.
// RUN: nnterp-opt %s --split-input-file --verify-diagnostics

func.func @no_epilogue(%x: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error @below {{expects an epilogue, as it has outs}}
  %y = device.kernel "double" {} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) states() {
  } -> tensor<4xf32>
  return
}

// -----

func.func @too_few(%x: tensor<4xf32>, %e: tensor<4xf32>) {
  // expected-error @below {{expects its epilogue to yield one element per out}}
  %y = device.kernel "double" {} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) states() {
  ^bb0(%i: index, %acc: f32):
    device.yield
  } -> tensor<4xf32>
  return
}

// -----

func.func @other_element(%x: tensor<4xf32>, %e: tensor<4xbf16>) {
  // expected-error @below {{expects its epilogue to yield elements of its outs, but one is 'f32'}}
  %y = device.kernel "double" {} ins(%x : tensor<4xf32>) outs(%e : tensor<4xbf16>) states() {
  ^bb0(%i: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<4xbf16>
  return
}

// -----

func.func @results(%x: tensor<4xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{expects 1 results, one per destination that is a tensor}}
  device.kernel "append" {} ins(%x : tensor<4xf32>) outs() states(%s : tensor<4xf32>) {
  }
  return
}
