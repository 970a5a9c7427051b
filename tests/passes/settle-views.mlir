// Who reads single elements of a view reads its source; who takes it whole takes a copy; who edits it writes elsewhere.
// RUN: nnterp-opt %s --nnterp-choose-device-kernels --nnterp-lower-plain=device --nnterp-settle-views --canonicalize --split-input-file | FileCheck %s

// Heads that are repeated are normalised once, and what reads them finds its own.
// CHECK-DAG: #[[ONCE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 4 + d3 + 2)>
// CHECK-DAG: #[[REPEATED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1 floordiv 2, d3)>
// CHECK-LABEL: func @repeated
// CHECK-SAME: %[[X:.*]]: tensor<?x?x16xf32>
// CHECK: %[[H:.*]] = device.view %[[X]] at #[[ONCE]] : tensor<?x?x16xf32> to tensor<?x?x2x4xf32>
// CHECK: %[[N:.*]] = device.kernel "l2_norm" {{.*}} ins(%[[H]] : tensor<?x?x2x4xf32>)
// CHECK: %[[V:.*]] = device.view %[[N]] at #[[REPEATED]] : tensor<?x?x2x4xf32> to tensor<?x4x?x4xf32>
// CHECK-NOT: linalg.generic
// CHECK: device.kernel "kv_append" {} ins(%[[V]], %{{.*}}, %{{.*}} :
func.func @repeated(%x: tensor<?x?x16xf32>, %cache: tensor<?x4x?x4xf32>, %lengths: tensor<?xi64>, %past: tensor<?xi64>) -> tensor<?x4x?x4xf32> {
  %h = hybrid.heads %x offset 2 stride 4 size 4 heads 4 repeat 2 : tensor<?x?x16xf32>
  %n = hybrid.l2_norm %h eps 1.0e-6 scale 1.0 : tensor<?x?x4x4xf32>
  %s = hybrid.swap_heads %n : tensor<?x?x4x4xf32>
  %r = hybrid.kv_append %cache, %s, %lengths past %past : tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>, tensor<?xi64>, tensor<?xi64>
  return %r : tensor<?x4x?x4xf32>
}

// -----

// A loop reads the source at the view's index.
// CHECK-LABEL: func @loop
// CHECK-NOT: device.view
// CHECK: linalg.generic
// CHECK: %[[OWN:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: tensor.extract %arg0[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<?x?x8xf32>
func.func @loop(%x: tensor<?x?x8xf32>) -> tensor<?x?x2x4xf32> {
  %h = hybrid.heads %x offset 0 stride 4 size 4 heads 2 repeat 1 : tensor<?x?x8xf32>
  %y = hybrid.silu %h : tensor<?x?x2x4xf32>
  return %y : tensor<?x?x2x4xf32>
}

// -----

// What leaves the function is memory of its own.
// CHECK-LABEL: func @whole
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[COPY:.*]] = linalg.generic {{.*}} outs(%[[E]] : tensor<?x?x2x4xf32>)
// CHECK: return %[[COPY]]
func.func @whole(%x: tensor<?x?x8xf32>) -> tensor<?x?x2x4xf32> {
  %h = hybrid.heads %x offset 0 stride 4 size 4 heads 2 repeat 1 : tensor<?x?x8xf32>
  return %h : tensor<?x?x2x4xf32>
}

// -----

// An edit writes to fresh memory: the source, which others may read, stays as it is.
// CHECK-LABEL: func @edit
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[E]] : tensor<?x?x2x4xf32>)
// CHECK: tensor.extract %arg0
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @edit(%x: tensor<?x?x8xf32>, %t: tensor<?xi64>) -> tensor<?x?x2x4xf32> {
  %h = hybrid.heads %x offset 0 stride 4 size 4 heads 2 repeat 1 : tensor<?x?x8xf32>
  %y = nnterp.edit %h tables [2] (%t : tensor<?xi64>) sources [] entry 0 : tensor<?x?x2x4xf32> {
  ^bb0(%v: f32):
    %z = arith.addf %v, %v : f32
    nnterp.yield %z : f32
  }
  return %y : tensor<?x?x2x4xf32>
}
