// A loop nest that one later kernel reads element by element is part of its epilogue; one that others read, or that is read elsewhere, is not.
// RUN: nnterp-opt %s --nnterp-inline-loops --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @inlined
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[S:.*]]: tensor<?x4x8xf32>
// CHECK-NOT: linalg.generic
// CHECK: device.kernel "linear"
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %[[J:.*]]: index, %[[ACC:.*]]: f32):
// CHECK: %[[SUM:.*]] = scf.for %[[K:[a-z0-9]+]] =
// CHECK: tensor.extract %[[S]][%[[I]], %[[K]], %[[J]]]
// CHECK: %[[Y:.*]] = arith.addf %[[ACC]], %[[SUM]]
// CHECK: device.yield %[[Y]]
func.func @inlined(%x: tensor<?x8xf32>, %s: tensor<?x4x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x8xf32>
  %sum = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %total = scf.for %k = %c0 to %c4 step %c1 iter_args(%t = %zero) -> (f32) {
      %v = tensor.extract %s[%i, %k, %j] : tensor<?x4x8xf32>
      %n = arith.addf %t, %v : f32
      scf.yield %n : f32
    }
    linalg.yield %total : f32
  } -> tensor<?x8xf32>
  %e2 = tensor.empty(%d) : tensor<?x8xf32>
  %y = device.kernel "linear" {} ins(%x : tensor<?x8xf32>) outs(%e2 : tensor<?x8xf32>) states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    %v = tensor.extract %sum[%i, %j] : tensor<?x8xf32>
    %n = arith.addf %acc, %v : f32
    device.yield %n : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @left
// CHECK-COUNT-2: linalg.generic
func.func @left(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x8xf32>
  %tapped = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<?x8xf32>
    linalg.yield %v : f32
  } -> tensor<?x8xf32>
  %elsewhere = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%i, %j] : tensor<?x8xf32>
    %n = arith.addf %v, %v : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  %e2 = tensor.empty(%d) : tensor<?x8xf32>
  %y = device.kernel "linear" {} ins(%x : tensor<?x8xf32>) outs(%e2 : tensor<?x8xf32>) states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    %v = tensor.extract %tapped[%i, %j] : tensor<?x8xf32>
    %w = tensor.extract %elsewhere[%i, %c0] : tensor<?x8xf32>
    %n = arith.addf %v, %w : f32
    device.yield %n : f32
  } -> tensor<?x8xf32>
  return %y, %tapped : tensor<?x8xf32>, tensor<?x8xf32>
}
