// RUN: nnterp-opt %s --verify-roundtrip | FileCheck %s
// Every op of the nnterp dialect round-trips.

// CHECK-LABEL: func @edits
func.func @edits(%x: tensor<?x?x8xf32>, %w: tensor<?x?x2xf32>, %i: tensor<?x?x2xi64>, %l: tensor<?x?x4xf32>) -> tensor<?x1x8xf32> {
  // CHECK: nnterp.point %{{.*}} at "layers[0].layer_output" layout "Residual" : tensor<?x?x8xf32>
  %p = nnterp.point %x at "layers[0].layer_output" layout "Residual" : tensor<?x?x8xf32>
  // CHECK: nnterp.point %{{.*}} at "input_ids" layout "Tokens" read_only : tensor<?x?x2xi64>
  %q = nnterp.point %i at "input_ids" layout "Tokens" read_only : tensor<?x?x2xi64>
  // CHECK: nnterp.buffer "e0.seq" : tensor<?x?xi64>
  %t = nnterp.buffer "e0.seq" : tensor<?x?xi64>
  %c = nnterp.buffer "e0.c0" : tensor<f32>
  %d = nnterp.buffer "e1.src" : tensor<8xf32>
  %e = nnterp.buffer "e2.experts" : tensor<4xi64>
  %f = nnterp.buffer "e3.experts" : tensor<2xi64>
  // CHECK: nnterp.edit %{{.*}} tables [1](%{{.*}} : tensor<?x?xi64>) sources [array<i64>](%{{.*}} : tensor<f32>) entry 0 : tensor<?x?x8xf32>
  %y = nnterp.edit %p tables [1] (%t : tensor<?x?xi64>) sources [array<i64>] (%c : tensor<f32>) entry 0 : tensor<?x?x8xf32> {
  ^bb0(%v: f32, %s: f32):
    %r = arith.mulf %v, %s : f32
    // CHECK: nnterp.yield %{{.*}} : f32
    nnterp.yield %r : f32
  }
  // CHECK: nnterp.project_out %{{.*}} tables [1](%{{.*}} : tensor<?x?xi64>) source [-2] %{{.*}} : tensor<8xf32> entry 1 : tensor<?x?x8xf32>
  %z = nnterp.project_out %y tables [1] (%t : tensor<?x?xi64>) source [-2] %d : tensor<8xf32> entry 1 : tensor<?x?x8xf32>
  // CHECK: nnterp.drop %{{.*}}, %{{.*}}, %{{.*}} renormalise tables [1](%{{.*}} : tensor<?x?xi64>) entry 2
  %dr = nnterp.drop %w, %i, %e renormalise tables [1] (%t : tensor<?x?xi64>) entry 2 : tensor<?x?x2xf32>, tensor<?x?x2xi64>, tensor<4xi64>
  // CHECK: nnterp.reroute
  %re = nnterp.reroute %l, %e tables [1] (%t : tensor<?x?xi64>) entry 3 : tensor<?x?x4xf32>, tensor<4xi64>
  // CHECK: nnterp.raise
  %ra = nnterp.raise %re, %f tables [1] (%t : tensor<?x?xi64>) entry 4 : tensor<?x?x4xf32>, tensor<2xi64>
  // CHECK: nnterp.force
  %fo = nnterp.force %f like %ra tables [1] (%t : tensor<?x?xi64>) entry 4 : tensor<2xi64>, tensor<?x?x4xf32> -> tensor<?x?x2xi64>
  // CHECK: nnterp.gather %{{.*}} tables [1](%{{.*}} : tensor<?x?xi64>) : tensor<?x?x8xf32>
  %g = nnterp.gather %z tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
  // CHECK: nnterp.mean %{{.*}} over [1] tables [1](%{{.*}} : tensor<?x?xi64>) : tensor<?x?x8xf32>
  %m = nnterp.mean %g over [1] tables [1] (%t : tensor<?x?xi64>) : tensor<?x?x8xf32>
  // CHECK: nnterp.tap %{{.*}} as "logits" : tensor<?x?x8xf32>
  nnterp.tap %g as "logits" : tensor<?x?x8xf32>
  return %m : tensor<?x1x8xf32>
}

// CHECK-LABEL: func private @memory
func.func private @memory(%frame: !llvm.ptr, %site: i64) attributes {nnterp.sites = dense<[[7], [9]]> : tensor<2x1xi64>} {
  // CHECK: nnterp.slot %{{.*}}, %{{.*}}[0] : memref<?x8xf32>
  %m = nnterp.slot %frame, %site [0] : memref<?x8xf32>
  // CHECK: nnterp.fail %{{.*}}, entry 3 reason 1
  nnterp.fail %frame, entry 3 reason 1
  // CHECK: nnterp.progress %{{.*}}, 1 of 8
  nnterp.progress %frame, 1 of 8
  return
}

// CHECK: nnterp.plan {
nnterp.plan {
  // CHECK: nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "e0.c0" : tensor<f32>
  // CHECK: nnterp.plan_edit "add" at "layers[0].layer_output" entry 0 tables ["", "e0.seq", ""]
  nnterp.plan_edit "add" at "layers[0].layer_output" entry 0 tables ["", "e0.seq", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  // CHECK: nnterp.plan_tap "logits@before" at "logits" before entry 0 tables ["", "e0.seq", ""]
  nnterp.plan_tap "logits@before" at "logits" before entry 0 tables ["", "e0.seq", ""]
}
