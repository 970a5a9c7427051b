// Elementwise readers move into the kernel that computes what they read; other readers do not.
// RUN: nnterp-opt %s --nnterp-fuse-epilogues --canonicalize --split-input-file -allow-unregistered-dialect | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// An edit in place of a kernel's result: it gets the element as it would have been stored.
// CHECK-LABEL: @edit
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xbf16>, %[[TABLE:.*]]: tensor<?xbf16>
// CHECK: %[[Y:.*]] = device.kernel "linear" {} ins(%[[X]] : tensor<?x8xbf16>) outs(%{{.*}} : tensor<?x8xbf16>)
// CHECK-NEXT: ^bb0(%[[I:.*]]: index, %{{.*}}: index, %[[ACC:.*]]: f32):
// CHECK-NEXT: %[[OLD:.*]] = arith.truncf %[[ACC]] : f32 to bf16
// CHECK-NEXT: %[[ADDED:.*]] = tensor.extract %[[TABLE]][%[[I]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[OLD]], %[[ADDED]] : bf16
// CHECK-NEXT: device.yield %[[NEW]] : bf16
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]
func.func @edit(%x: tensor<?x8xbf16>, %table: tensor<?xbf16>) -> tensor<?x8xbf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8xbf16>
  %e = tensor.empty(%d) : tensor<?x8xbf16>
  %y = device.kernel "linear" {} ins(%x : tensor<?x8xbf16>) outs(%e : tensor<?x8xbf16>) states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    %r = arith.truncf %acc : f32 to bf16
    device.yield %r : bf16
  } -> tensor<?x8xbf16>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<?x8xbf16>) {
  ^bb0(%old: bf16):
    %i = linalg.index 0 : index
    %v = tensor.extract %table[%i] : tensor<?xbf16>
    %n = arith.addf %old, %v : bf16
    linalg.yield %n : bf16
  } -> tensor<?x8xbf16>
  return %z : tensor<?x8xbf16>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// A value that others read as well stays an output; the reader becomes a second one.
// CHECK-LABEL: @two_outputs
// CHECK: %[[R:.*]]:2 = device.kernel "linear" {} ins(%{{.*}}) outs(%{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: device.yield %[[ACC:.*]], %{{.*}} : f32, f32
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @two_outputs(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x8xf32>
  %y = device.kernel "linear" {} ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<?x8xf32>
  // The reader's extents are those of the value, which are those of its memory.
  %dy = tensor.dim %y, %c0 : tensor<?x8xf32>
  %e2 = tensor.empty(%dy) : tensor<?x8xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<?x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %y[%i, %j] : tensor<?x8xf32>
    %n = arith.mulf %v, %v : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Reads of other elements, and other domains, stay kernels of their own.
// CHECK-LABEL: @apart
// CHECK: device.kernel
// CHECK-NEXT: ^bb0
// CHECK-NEXT: device.yield %{{.*}} : f32
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @apart(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x8xf32>) {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %y = device.kernel "linear" {} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<4x8xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %y[%i, %c0] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<4x8xf32>
  %e2 = tensor.empty() : tensor<2x8xf32>
  %w = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<2x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %y[%i, %j] : tensor<4x8xf32>
    linalg.yield %v : f32
  } -> tensor<2x8xf32>
  return %z, %w : tensor<4x8xf32>, tensor<2x8xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// Two plain loop nests become one. The first does not move behind the op that reads it in between: the second moves up.
// CHECK-LABEL: @loops
// CHECK: %[[R:.*]]:2 = linalg.generic
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK: %[[S:.*]] = "test.reads"(%[[R]]#0)
// CHECK: return %[[S]], %[[R]]#1
func.func @loops(%x: tensor<8xf32>) -> (f32, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %x[%i] : tensor<8xf32>
    %n = arith.addf %v, %v : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  %s = "test.reads"(%y) : (tensor<8xf32>) -> f32
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %y[%i] : tensor<8xf32>
    %n = arith.mulf %v, %v : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %s, %z : f32, tensor<8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// Extents are followed through values that are only grouped in another way: both are those of the argument.
// CHECK-LABEL: @grouped
// CHECK: %[[Y:.*]] = device.kernel "linear"
// CHECK: arith.addf
// CHECK: return %[[Y]]
func.func @grouped(%x: tensor<?x2x4xf32>, %r: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %r, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x2x4xf32>
  %h = device.kernel "norm" {} ins(%x : tensor<?x2x4xf32>) outs(%e : tensor<?x2x4xf32>) states() {
  ^bb0(%i: index, %j: index, %k: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<?x2x4xf32>
  %m = tensor.collapse_shape %h [[0], [1, 2]] : tensor<?x2x4xf32> into tensor<?x8xf32>
  %dm = tensor.dim %m, %c0 : tensor<?x8xf32>
  %e2 = tensor.empty(%dm) : tensor<?x8xf32>
  %y = device.kernel "linear" {} ins(%m : tensor<?x8xf32>) outs(%e2 : tensor<?x8xf32>) states() {
  ^bb0(%i: index, %j: index, %acc: f32):
    device.yield %acc : f32
  } -> tensor<?x8xf32>
  %e3 = tensor.empty(%d) : tensor<?x8xf32>
  %z = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e3 : tensor<?x8xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %y[%i, %j] : tensor<?x8xf32>
    %w = tensor.extract %r[%i, %j] : tensor<?x8xf32>
    %n = arith.addf %v, %w : f32
    linalg.yield %n : f32
  } -> tensor<?x8xf32>
  return %z : tensor<?x8xf32>
}
