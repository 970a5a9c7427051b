// RUN: nnterp-opt %s -canonicalize | FileCheck %s
// Pads decay a state that was put there, not a fresh prompt's zeros.

// CHECK-LABEL: func @fresh
// CHECK: %[[S:.*]] = hybrid.initial_state
// CHECK-NOT: hybrid.pad_decay
// CHECK: return %[[S]]
func.func @fresh(%l: tensor<2xf32>, %ids: tensor<?x?xi64>, %n: tensor<?xi64>) -> tensor<?x2x4x4xf32> {
  %s = hybrid.initial_state %n dims [2, 4, 4] as f32 : tensor<?xi64>
  %y = hybrid.pad_decay %s, %l, %l, %ids, %n in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x?xi64>, tensor<?xi64>
  return %y : tensor<?x2x4x4xf32>
}

// CHECK-LABEL: func @edited
// CHECK: hybrid.pad_decay
func.func @edited(%s: tensor<?x2x4x4xf32>, %l: tensor<2xf32>, %ids: tensor<?x?xi64>, %n: tensor<?xi64>) -> tensor<?x2x4x4xf32> {
  %y = hybrid.pad_decay %s, %l, %l, %ids, %n in f32 : tensor<?x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<?x?xi64>, tensor<?xi64>
  return %y : tensor<?x2x4x4xf32>
}
