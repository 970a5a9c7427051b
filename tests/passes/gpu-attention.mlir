// RUN: nnterp-opt %s -split-input-file -nnterp-gpu-to-launches | FileCheck %s
// Scores, softmax and mixing are one kernel: by segments of the keys for a single token, else block by block through all keys. A tap of the
// probabilities adds kernels and changes none; an edit of them makes attention go through memory.

// CHECK-LABEL: func.func private @
// CHECK: %[[SINGLE:.*]] = arith.cmpi eq, %{{.*}}, %c1 : index
// CHECK: scf.if %[[SINGLE]] {
// CHECK: gpu.launch_func @[[SEGMENTS:attention_segments_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[MERGE:attention_merge_[0-9a-f]+]]::
// CHECK: } else {
// CHECK: gpu.launch_func @[[WHOLE:attention_[0-9a-f]+]]::
// CHECK: }
// CHECK-NOT: gpu.launch_func
// CHECK: func.func @nnterp_main
// CHECK: gpu.module @[[SEGMENTS]] {
// CHECK: gpu.module @[[MERGE]] {
// The gate that reads the result, in both kernels that end it.
// CHECK: memref.store %{{.*}} : memref<?x?x4x8xf32
// CHECK: gpu.module @[[WHOLE]] {
// CHECK: gpu.shuffle xor
// CHECK: math.fma {{.*}} : f32
// CHECK-NOT: f64
// CHECK: gpu.return
// CHECK-NOT: gpu.module
func.func @main(%q: tensor<?x4x?x8xf32> {nnterp.input = "q"}, %k: tensor<?x2x?x8xf32> {nnterp.input = "k"},
                %v: tensor<?x2x?x8xf32> {nnterp.input = "v"}) {
  %s = hybrid.attention_scores %q, %k scale 0.5 {nnterp.block = 0 : i64} : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>
  %p = hybrid.softmax %s causal as f32 {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>
  %y = hybrid.attention_mix %p, %v {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>
  %t = nnterp.point %y at "y" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x4x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_tap "y" at "y" entry 0 tables ["", "", "", ""]
}

// -----

// CHECK-LABEL: func.func private @
// CHECK-DAG: gpu.launch_func @attention_scores_
// CHECK-DAG: gpu.launch_func @softmax_
// CHECK-DAG: gpu.launch_func @attention_segments_
// CHECK-DAG: gpu.launch_func @attention_merge_
// CHECK-DAG: gpu.launch_func @attention_{{[0-9a-f]+}}::
// CHECK: func.func @nnterp_main
func.func @main(%q: tensor<?x4x?x8xf32> {nnterp.input = "q"}, %k: tensor<?x2x?x8xf32> {nnterp.input = "k"},
                %v: tensor<?x2x?x8xf32> {nnterp.input = "v"}) {
  %s = hybrid.attention_scores %q, %k scale 0.5 {nnterp.block = 0 : i64} : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>
  %p = hybrid.softmax %s causal as f32 {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>
  %pp = nnterp.point %p at "p" layout "Pattern" {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>
  %y = hybrid.attention_mix %pp, %v {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>
  %t = nnterp.point %y at "y" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x4x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_tap "p" at "p" entry 0 tables ["", "", "", ""]
  nnterp.plan_tap "y" at "y" entry 1 tables ["", "", "", ""]
}

// -----

// CHECK-LABEL: func.func private @
// CHECK: gpu.launch_func @attention_scores_
// CHECK: gpu.launch_func @softmax_
// CHECK-NOT: gpu.launch_func @attention_segments_
// CHECK: gpu.launch_func @attention_mix_
// CHECK-NOT: gpu.launch_func
// CHECK: func.func @nnterp_main
func.func @main(%q: tensor<?x4x?x8xf32> {nnterp.input = "q"}, %k: tensor<?x2x?x8xf32> {nnterp.input = "k"},
                %v: tensor<?x2x?x8xf32> {nnterp.input = "v"}) {
  %s = hybrid.attention_scores %q, %k scale 0.5 {nnterp.block = 0 : i64} : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>
  %p = hybrid.softmax %s causal as f32 {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>
  %pp = nnterp.point %p at "p" layout "Pattern" {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>
  %y = hybrid.attention_mix %pp, %v {nnterp.block = 0 : i64} : tensor<?x4x?x?xf32>, tensor<?x2x?x8xf32>
  %t = nnterp.point %y at "y" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x4x8xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.c0" : tensor<f32>
  nnterp.plan_edit "add" at "p" entry 0 tables ["", "", "", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  nnterp.plan_tap "y" at "y" entry 1 tables ["", "", "", ""]
}

// -----

// bfloat16 is multiplied by matrix instructions: queries by keys, and exponentials, each the sum of two numbers, by values.
// CHECK-LABEL: func.func private @
// CHECK: gpu.module @attention_segments_
// CHECK: nvvm.mma.sync {{.*}} shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK: gpu.shuffle xor
// CHECK-COUNT-4: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.module @attention_merge_
func.func @main(%q: tensor<?x4x?x16xbf16> {nnterp.input = "q"}, %k: tensor<?x2x?x16xbf16> {nnterp.input = "k"},
                %v: tensor<?x2x?x16xbf16> {nnterp.input = "v"}) {
  %s = hybrid.attention_scores %q, %k scale 0.5 {nnterp.block = 0 : i64} : tensor<?x4x?x16xbf16>, tensor<?x2x?x16xbf16>
  %p = hybrid.softmax %s causal as bf16 {nnterp.block = 0 : i64} : tensor<?x4x?x?xbf16>
  %y = hybrid.attention_mix %p, %v {nnterp.block = 0 : i64} : tensor<?x4x?x?xbf16>, tensor<?x2x?x16xbf16>
  %t = nnterp.point %y at "y" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x4x16xbf16>
  return
}
nnterp.plan {
  nnterp.plan_tap "y" at "y" entry 0 tables ["", "", "", ""]
}
