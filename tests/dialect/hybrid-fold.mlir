// RUN: nnterp-opt %s -canonicalize | FileCheck %s
// Pads decay a state that was put there, not a fresh prompt's zeros.

// CHECK-LABEL: func @fresh
// CHECK: %[[S:.*]] = hybrid.initial_state
// CHECK-NOT: hybrid.pad_decay
// CHECK: return %[[S]]
func.func @fresh(%l: tensor<2xf32>, %n: tensor<?xi64>) -> tensor<?x2x4x4xf32> {
  %s = hybrid.initial_state %n dims [2, 4, 4] as f32 : tensor<?xi64>
  %y = hybrid.pad_decay %s, %l, %l, %n in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xi64>
  return %y : tensor<?x2x4x4xf32>
}

// CHECK-LABEL: func @edited
// CHECK: hybrid.pad_decay
func.func @edited(%s: tensor<?x2x4x4xf32>, %l: tensor<2xf32>, %n: tensor<?xi64>) -> tensor<?x2x4x4xf32> {
  %y = hybrid.pad_decay %s, %l, %l, %n in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xi64>
  return %y : tensor<?x2x4x4xf32>
}

// What a saved sequence left is behind its pads.
// CHECK-LABEL: func @remembered
// CHECK: %[[S:.*]] = hybrid.memory
// CHECK-NOT: hybrid.pad_decay
// CHECK: return %[[S]]
func.func @remembered(%l: tensor<2xf32>, %n: tensor<?xi64>) -> tensor<?x2x4x4xf32> {
  %s = hybrid.memory "layers[0].linear_attn.state" : tensor<?x2x4x4xf32>
  %y = hybrid.pad_decay %s, %l, %l, %n in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?xi64>
  return %y : tensor<?x2x4x4xf32>
}

// Only an edited view of a cache is put back.
// CHECK-LABEL: func @unedited
// CHECK-SAME: (%[[C:.*]]: tensor<?x2x?x8xf32>
// CHECK-NOT: hybrid.kv_store
// CHECK: return %[[C]]
func.func @unedited(%c: tensor<?x2x?x8xf32>, %t: tensor<1xi64>) -> tensor<?x2x?x8xf32> {
  %v = hybrid.kv_view %c, %t : tensor<?x2x?x8xf32>, tensor<1xi64>
  %y = hybrid.kv_store %c, %v : tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// CHECK-LABEL: func @of_another_cache
// CHECK: hybrid.kv_store
func.func @of_another_cache(%c: tensor<?x2x?x8xf32>, %d: tensor<?x2x?x8xf32>, %t: tensor<1xi64>) -> tensor<?x2x?x8xf32> {
  %v = hybrid.kv_view %d, %t : tensor<?x2x?x8xf32>, tensor<1xi64>
  %y = hybrid.kv_store %c, %v : tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}
