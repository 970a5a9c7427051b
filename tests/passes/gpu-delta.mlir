// RUN: nnterp-opt %s -nnterp-gpu-to-launches | FileCheck %s
// The delta rule of several tokens goes in chunks, that of rows of one token step by step; who looks at the states gets them from a kernel of
// their own. The short convolution makes its result before it moves its state on.

// CHECK-LABEL: func.func private @
// CHECK: gpu.launch_func @[[CONV:short_conv_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[MOVE:short_conv_state_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[STATES:delta_states_[0-9a-f]+]]::
// CHECK: %[[SEVERAL:.*]] = arith.cmpi ugt, %{{.*}}, %c1 : index
// CHECK: scf.if %[[SEVERAL]] {
// CHECK: gpu.launch_func @[[CHUNKS:delta_chunks_[0-9a-f]+]]::
// CHECK-NOT: else
// CHECK: }
// CHECK: gpu.launch_func @[[STEPS:delta_steps_[0-9a-f]+]]::
// CHECK: func.func @nnterp_main

// The activation behind the convolution stands in its kernel.
// CHECK: gpu.module @[[CONV]] {
// CHECK: math.exp
// CHECK: gpu.module @[[MOVE]] {
// CHECK-COUNT-4: memref.load %{{.*}} : memref<?x12x4xf32
// CHECK-COUNT-4: memref.store %{{.*}} : memref<?x12x4xf32
// CHECK: gpu.module @[[STATES]] {
// CHECK: gpu.module @[[CHUNKS]] {
// Only what is not masked is exponentiated, and products are float32.
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: gpu.barrier
// CHECK: math.fma {{.*}} : f32
// CHECK: gpu.module @[[STEPS]] {
// CHECK-NOT: gpu.barrier
// CHECK: gpu.shuffle xor
func.func @main(%u: tensor<?x?x12xf32> {nnterp.input = "u"}, %q: tensor<?x?x2x4xf32> {nnterp.input = "q"},
                %v: tensor<?x?x2x3xf32> {nnterp.input = "v"}, %g: tensor<?x?x2xf32> {nnterp.input = "g"},
                %c: tensor<?x12x4xf32> {nnterp.input = "c"}, %s: tensor<?x2x4x3xf32> {nnterp.input = "s"},
                %n: tensor<?xi64> {nnterp.input = "lengths"}) {
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<12x1x4xf32>
  %y, %cs = hybrid.short_conv %u, %w, %c, %n {nnterp.block = 0 : i64} : tensor<?x?x12xf32>, tensor<12x1x4xf32>, tensor<?x12x4xf32>, tensor<?xi64>
  %a = hybrid.silu %y {nnterp.block = 0 : i64} : tensor<?x?x12xf32>
  %p = nnterp.point %a at "a" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x12xf32>
  %cp = nnterp.point %cs at "c" layout "ConvState" {nnterp.block = 0 : i64} : tensor<?x12x4xf32>
  %h, %z, %t = hybrid.delta_rule %q, %q, %v, %g, %g, %s, %n states {nnterp.block = 0 : i64} : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x3xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x2x4x3xf32>, tensor<?xi64>) -> (tensor<?x?x2x3xf32>, tensor<?x2x4x3xf32>, tensor<?x?x2x4x3xf32>)
  %hp = nnterp.point %h at "h" layout "Heads" {nnterp.block = 0 : i64} : tensor<?x?x2x3xf32>
  %tp = nnterp.point %t at "t" layout "TokenStates" {nnterp.block = 0 : i64} : tensor<?x?x2x4x3xf32>
  return
}
nnterp.plan {
  nnterp.plan_tap "a" at "a" entry 0 tables ["", "", ""]
  nnterp.plan_tap "c" at "c" entry 1 tables ["", "", ""]
  nnterp.plan_tap "h" at "h" entry 2 tables ["", "", "", ""]
  nnterp.plan_tap "t" at "t" entry 3 tables ["", "", "", "", ""]
}
