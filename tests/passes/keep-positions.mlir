// RUN: nnterp-opt %s -nnterp-keep-positions --split-input-file | FileCheck %s
// Positions are taken before the projection that nothing else reads.

// CHECK-LABEL: func @main
// CHECK: %[[L:.*]] = hybrid.last_token %[[X:.*]], %{{.*}} : tensor<?x?x8xf32>, tensor<?xi64>
// CHECK: %[[A:.*]] = hybrid.linear %[[L]], %{{.*}} : tensor<?x8xf32>, tensor<4x8xf32>
// CHECK: %[[G:.*]] = nnterp.gather %[[X]] tables [1]
// CHECK: %[[B:.*]] = hybrid.linear %[[G]], %{{.*}} : tensor<?x?x8xf32>, tensor<4x8xf32>
// CHECK: return %[[A]], %[[B]]
func.func @main(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %n: tensor<?xi64>, %t: tensor<?x?xi64>) -> (tensor<?x4xf32>, tensor<?x?x4xf32>) {
  %y = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<4x8xf32>
  %a = hybrid.last_token %y, %n : tensor<?x?x4xf32>, tensor<?xi64>
  %b = nnterp.gather %y tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x4xf32>
  return %a, %b : tensor<?x4xf32>, tensor<?x?x4xf32>
}

// -----

// Not where the whole value is read, nor where channels are selected.
// CHECK-LABEL: func @main
// CHECK: %[[Y:.*]] = hybrid.linear
// CHECK: hybrid.last_token %[[Y]]
// CHECK: hybrid.silu %[[Y]]
// CHECK: %[[Z:.*]] = hybrid.linear
// CHECK: nnterp.gather %[[Z]] tables [2]
func.func @main(%x: tensor<?x?x8xf32>, %w: tensor<4x8xf32>, %n: tensor<?xi64>, %t: tensor<?xi64>) -> (tensor<?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x?xf32>) {
  %y = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<4x8xf32>
  %a = hybrid.last_token %y, %n : tensor<?x?x4xf32>, tensor<?xi64>
  %b = hybrid.silu %y : tensor<?x?x4xf32>
  %z = hybrid.linear %x, %w : tensor<?x?x8xf32>, tensor<4x8xf32>
  %c = nnterp.gather %z tables [2] (%t : tensor<?xi64>) : tensor<?x?x4xf32>
  return %a, %b, %c : tensor<?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x?xf32>
}
