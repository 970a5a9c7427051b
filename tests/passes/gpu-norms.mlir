// RUN: nnterp-opt %s -nnterp-gpu-to-launches | FileCheck %s
// RUN: nnterp-opt %s -nnterp-gpu-to-llvm | FileCheck %s --check-prefix=LLVM
// A norm is one kernel that reads each entry once. Rows of many entries have a block each, short ones a warp; edits and taps of the result
// stand in the kernel.

// CHECK-LABEL: func.func private @
// CHECK: gpu.launch_func @[[RMS:rms_norm_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[L2:l2_norm_[0-9a-f]+]]::
// CHECK-NOT: gpu.launch_func
// CHECK: func.func @nnterp_main

// CHECK: gpu.module @[[RMS]] {
// CHECK: workgroup(%{{[^ ]+}} : memref<8xf64, #gpu.address_space<workgroup>>)
// Two entries per thread, the second of which not every thread has.
// CHECK-COUNT-2: memref.load %{{.*}} : memref<?x?x300xf32
// CHECK-NOT: memref.load %{{.*}} : memref<?x?x300xf32
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// CHECK: gpu.module @[[L2]] {
// CHECK-NOT: workgroup
// CHECK-NOT: gpu.barrier
// CHECK: gpu.shuffle xor
// CHECK: arith.addf {{.*}} : f32
// CHECK-COUNT-2: memref.store
// CHECK-NOT: memref.store
// CHECK: gpu.return

// LLVM: nvvm.shfl.sync bfly
// LLVM-NOT: llvm.call @
func.func @main(%x: tensor<?x?x300xf32> {nnterp.input = "x"}, %k: tensor<?x?x20xf32> {nnterp.input = "k"}) {
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<300xbf16>
  %y = hybrid.rms_norm %x, %w unit_offset eps 1.0e-6 {nnterp.block = 0 : i64} : tensor<?x?x300xf32>, tensor<300xbf16>
  %p = nnterp.point %y at "y" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x300xf32>
  %l = hybrid.l2_norm %k eps 1.0e-6 scale 0.5 {nnterp.block = 0 : i64} : tensor<?x?x20xf32>
  %q = nnterp.point %l at "l" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x20xf32>
  %s = hybrid.silu %q {nnterp.block = 0 : i64} : tensor<?x?x20xf32>
  %r = nnterp.point %s at "s" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x20xf32>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.c0" : tensor<f32>
  nnterp.plan_edit "add" at "l" entry 0 tables ["", "", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  nnterp.plan_tap "y" at "y" entry 1 tables ["", "", ""]
  nnterp.plan_tap "l" at "l" entry 2 tables ["", "", ""]
  nnterp.plan_tap "s" at "s" entry 3 tables ["", "", ""]
}
