// RUN: nnterp-opt %s -nnterp-gpu-to-launches | FileCheck %s
// RUN: nnterp-opt %s -nnterp-gpu-to-llvm | FileCheck %s --check-prefix=LLVM
// A product is one kernel, written twice, for few rows and for many: the host chooses by extents. An edit of it, what taps it, and the
// activation that reads it stand in that kernel; a point that no plan names leaves nothing.

// CHECK-LABEL: func.func private @
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %{{.*}}, %c33 : index
// CHECK: scf.if %[[FEW]] {
// CHECK: gpu.launch_func @[[FEWER:linear_few_[0-9a-f]+]]::
// CHECK: } else {
// CHECK: gpu.launch_func @[[MANY:linear_[0-9a-f]+]]::
// CHECK: }
// CHECK-NOT: gpu.launch_func
// CHECK: func.func @nnterp_main

// CHECK: gpu.module @[[FEWER]] {
// CHECK: gpu.func @[[FEWER]](
// CHECK-SAME: workgroup(%[[M:[^ ]+]] : memref<2304xvector<4xi32>, #gpu.address_space<workgroup>>)
// CHECK: memref.store %{{.*}}, %[[M]]
// CHECK: gpu.barrier
// CHECK: nvvm.mma.sync
// CHECK: gpu.barrier
// The sum of the parts, rounded; then the edit; then what reads it.
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.addf
// CHECK: math.exp
// CHECK-COUNT-2: memref.store
// CHECK-NOT: memref.store
// CHECK: gpu.return

// CHECK: gpu.module @[[MANY]] {
// CHECK: workgroup(%{{[^ ]+}} : memref<1152xvector<4xi32>, #gpu.address_space<workgroup>>)
// CHECK: nvvm.mma.sync
// CHECK: math.exp
// CHECK-NOT: gpu.module

// Signatures are bare pointers and 64-bit integers; nothing outside is called.
// LLVM: gpu.module @linear_few_
// LLVM: llvm.func @linear_few_{{[0-9a-f]+}}(%arg0: !llvm.ptr, %arg1: i64{{(, %arg[0-9]+: (i64|!llvm.ptr))*}}) attributes
// LLVM-NOT: llvm.call @
func.func @main(%x: tensor<?x?x256xbf16> {nnterp.input = "x"}) {
  %w = hybrid.weight "w" {nnterp.block = 0 : i64} : tensor<64x256xbf16>
  %a = hybrid.linear %x, %w {nnterp.block = 0 : i64} : tensor<?x?x256xbf16>, tensor<64x256xbf16>
  %p = nnterp.point %a at "a" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x64xbf16>
  %s = hybrid.silu %p {nnterp.block = 0 : i64} : tensor<?x?x64xbf16>
  %q = nnterp.point %s at "s" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x64xbf16>
  %w2 = hybrid.weight "w2" {nnterp.block = 0 : i64} : tensor<8x64xbf16>
  %b = hybrid.linear %q, %w2 {nnterp.block = 0 : i64} : tensor<?x?x64xbf16>, tensor<8x64xbf16>
  %r = nnterp.point %b at "b" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x8xbf16>
  return
}
nnterp.plan {
  nnterp.plan_buffer "e0.seq" : tensor<?x?xi64>
  nnterp.plan_buffer "e0.c0" : tensor<f32>
  nnterp.plan_edit "add" at "a" entry 0 tables ["", "e0.seq", ""] {source = {kind = "number", buffer = "e0.c0", axes = []}}
  nnterp.plan_tap "a" at "a" entry 1 tables ["", "", ""]
  nnterp.plan_tap "s" at "s" entry 2 tables ["", "", ""]
}
