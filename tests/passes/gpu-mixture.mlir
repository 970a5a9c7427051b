// RUN: nnterp-opt %s -nnterp-gpu-to-launches | FileCheck %s
// The mixture of experts: the choice, the sort by experts, two grouped products. Grids depend on extents alone: the host reads no memory.
// The tap of the slots' outputs stands in the kernel that computes them; the sum over slots is a kernel of its own.

// CHECK-LABEL: func.func private @
// CHECK-NOT: memref.load
// CHECK: gpu.launch_func @[[ROUTER:router_[0-9a-f]+]]::
// CHECK: %[[TILE:.*]] = arith.select %{{.*}}, %c16, %c64 : index
// CHECK: gpu.launch_func @[[SORT:experts_sort_[0-9a-f]+]]::{{.*}} blocks in (%c5, %c1, %c1)
// CHECK: scf.if
// CHECK: gpu.launch_func @experts_up_few_
// CHECK: gpu.launch_func @[[UP:experts_up_[0-9a-f]+]]::
// CHECK: scf.if
// CHECK: gpu.launch_func @experts_down_few_
// CHECK: gpu.launch_func @[[DOWN:experts_down_[0-9a-f]+]]::
// CHECK: gpu.launch_func @combine_
// CHECK-NOT: gpu.launch_func
// CHECK-NOT: memref.load
// CHECK: func.func @nnterp_main

// A warp per token.
// CHECK: gpu.module @[[ROUTER]] {
// CHECK: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK: gpu.module @[[SORT]] {
// CHECK: memref.atomic_rmw addi
// CHECK: gpu.module @[[UP]] {
// CHECK: nvvm.mma.sync
// Both numbers of a neuron, rounded, from one tile.
// CHECK: math.exp
// CHECK: memref.store %{{.*}} : memref<?x?xbf16>
// CHECK: gpu.module @[[DOWN]] {
// CHECK: nvvm.mma.sync
// The routing weight, then the slot's output and its tap.
// CHECK: arith.mulf
// CHECK-COUNT-2: memref.store %{{.*}} : memref<?x?x?x?xbf16>
// CHECK: gpu.return
func.func @main(%x: tensor<?x?x32xbf16> {nnterp.input = "x"}, %l: tensor<?x?x4xbf16> {nnterp.input = "l"}) {
  %g = hybrid.weight "g" {nnterp.block = 0 : i64} : tensor<4x32x32xbf16>
  %d = hybrid.weight "d" {nnterp.block = 0 : i64} : tensor<4x32x16xbf16>
  %w, %i = hybrid.router %l top 2 {nnterp.block = 0 : i64} : tensor<?x?x4xbf16>
  %o = hybrid.experts %x, %i, %w, %g, %d {nnterp.block = 0 : i64} : tensor<?x?x32xbf16>, tensor<?x?x2xi64>, tensor<?x?x2xbf16>, tensor<4x32x32xbf16>, tensor<4x32x16xbf16>
  %p = nnterp.point %o at "experts" layout "ExpertSlots" {nnterp.block = 0 : i64} : tensor<?x?x2x32xbf16>
  %y = hybrid.combine %p {nnterp.block = 0 : i64} : tensor<?x?x2x32xbf16>
  %q = nnterp.point %y at "y" layout "Residual" {nnterp.block = 0 : i64} : tensor<?x?x32xbf16>
  return
}
nnterp.plan {
  nnterp.plan_tap "experts" at "experts" entry 0 tables ["", "", "", ""]
  nnterp.plan_tap "y" at "y" entry 1 tables ["", "", ""]
}
