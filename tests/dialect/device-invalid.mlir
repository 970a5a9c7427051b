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
  // expected-error @below {{expects its epilogue to yield one element per out of its domain}}
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

// -----

func.func @no_scattered_out(%x: tensor<4xf32>, %e: tensor<4xf32>) {
  %y = device.kernel "double" {} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) states() {
  ^bb0(%i: index, %acc: f32):
    // expected-error @below {{expects the number of a scattered out of its kernel}}
    device.scatter %acc to 0 [%i] : f32
    device.yield %acc : f32
  } -> tensor<4xf32>
  return
}

// -----

func.func @scattered_rank(%x: tensor<4xf32>, %e: tensor<4xf32>, %r: tensor<2x2xf32>) {
  %y:2 = device.kernel "double" {} ins(%x : tensor<4xf32>) outs(%e, %r : tensor<4xf32>, tensor<2x2xf32>) scattered 1 states() {
  ^bb0(%i: index, %acc: f32):
    // expected-error @below {{expects an element and an index of 'tensor<2x2xf32>'}}
    device.scatter %acc to 0 [%i] : f32
    device.yield %acc : f32
  } -> tensor<4xf32>, tensor<2x2xf32>
  return
}

// -----

func.func @view_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a result of its source's kind and element type}}
  %y = device.view %x at affine_map<(i, j) -> (i, j)> : tensor<4x8xf32> to tensor<4x8xbf16>
  return
}

// -----

func.func @view_rank(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a map from 3 indices to 2}}
  %y = device.view %x at affine_map<(i, j) -> (i, j)> : tensor<4x8xf32> to tensor<4x2x4xf32>
  return
}

// -----

func.func @view_extent(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects its dynamic axis 0 to be one of the source}}
  %y = device.view %x at affine_map<(i, j) -> (i floordiv 2, j)> : tensor<?x8xf32> to tensor<?x8xf32>
  return
}

// -----

func.func @view_round_up(%x: tensor<2x8xf32>) {
  // expected-error @below {{expects quotients that are rounded down}}
  %y = device.view %x at affine_map<(i, j) -> (i ceildiv 2, j)> : tensor<2x8xf32> to tensor<4x8xf32>
  return
}

// -----

func.func @edit(%s: memref<4xf32>) {
  // expected-error @below {{expects its state_edit to take indices and a value, and to yield such a value and a truth}}
  device.kernel "delta_rule" {} ins() outs() states(%s : memref<4xf32>) {
  } state_edit {
  ^bb0(%row: index, %token: index, %head: index, %old: f32):
    device.yield %old : f32
  }
  return
}
