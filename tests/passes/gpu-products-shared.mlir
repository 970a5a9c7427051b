// RUN: nnterp-opt %s -nnterp-gpu-to-launches | FileCheck %s
// Products are the same kernel whatever their rows, columns and depth are: those are numbers that it is given, and so are the extents of
// what its epilogue reads. Only how a depth fits into what is read at once makes another kernel.

// CHECK-LABEL: func.func private @
// Depths of 512 and 1024.
// CHECK: gpu.launch_func @[[FEW:linear_few_[0-9a-f]+]]::{{.*}} blocks in (%c64, %{{.*}}, %c1)
// CHECK: gpu.launch_func @[[MANY:linear_[0-9a-f]+]]::{{.*}} blocks in (%c16, %{{.*}}, %c1)
// CHECK: gpu.launch_func @[[FEW]]::{{.*}} blocks in (%c2, %{{.*}}, %c1)
// CHECK: gpu.launch_func @[[MANY]]::{{.*}} blocks in (%c1, %{{.*}}, %c1)
// With a residual sum, of 24 and 32 columns.
// CHECK: gpu.launch_func @[[FEW_ADD:linear_few_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[MANY_ADD:linear_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[FEW_ADD]]::
// CHECK: gpu.launch_func @[[MANY_ADD]]::
// A depth of 32, three panels short of a stage, is another one for few rows alone.
// CHECK: gpu.launch_func @[[FEW_SHORT:linear_few_[0-9a-f]+]]::
// CHECK: gpu.launch_func @[[MANY]]::
// CHECK-NOT: gpu.launch_func
// CHECK: func.func @nnterp_main

// CHECK: gpu.module @[[FEW]] {
// Extents of the input, of the weights and of the result.
// CHECK: gpu.func @[[FEW]]({{%[^:]+}}: !llvm.ptr, {{%[^:]+}}: i64, {{%[^:]+}}: i64, {{(%[^:]+: (i64|!llvm.ptr)(, )?)+}}) workgroup
// CHECK-NOT: : index to i64 = 512
// CHECK: memref.store %{{.*}} : memref<?x?x?xbf16>
// CHECK: gpu.module @[[MANY]] {
// CHECK: gpu.module @[[FEW_ADD]] {
// CHECK: memref.load %{{.*}} : memref<?x?x?xbf16>
// CHECK: gpu.module @[[MANY_ADD]] {
// CHECK: gpu.module @[[FEW_SHORT]] {
// CHECK-NOT: gpu.module
func.func @main(%x: tensor<?x?x512xbf16> {nnterp.input = "x"}, %r: tensor<?x?x24xbf16> {nnterp.input = "r"}, %s: tensor<?x?x32xbf16> {nnterp.input = "s"}) {
  %w0 = hybrid.weight "w0" {nnterp.block = 0 : i64} : tensor<1024x512xbf16>
  %a = hybrid.linear %x, %w0 {nnterp.block = 0 : i64} : tensor<?x?x512xbf16>, tensor<1024x512xbf16>
  %w1 = hybrid.weight "w1" {nnterp.block = 0 : i64} : tensor<20x1024xbf16>
  %b = hybrid.linear %a, %w1 {nnterp.block = 0 : i64} : tensor<?x?x1024xbf16>, tensor<20x1024xbf16>
  %pb = nnterp.point %b at "b" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x20xbf16>
  %w2 = hybrid.weight "w2" {nnterp.block = 0 : i64} : tensor<24x512xbf16>
  %c = hybrid.linear %x, %w2 {nnterp.block = 0 : i64} : tensor<?x?x512xbf16>, tensor<24x512xbf16>
  %cr = hybrid.add %c, %r {nnterp.block = 0 : i64} : tensor<?x?x24xbf16>
  %pc = nnterp.point %cr at "c" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x24xbf16>
  %w3 = hybrid.weight "w3" {nnterp.block = 0 : i64} : tensor<32x1024xbf16>
  %d = hybrid.linear %a, %w3 {nnterp.block = 0 : i64} : tensor<?x?x1024xbf16>, tensor<32x1024xbf16>
  %ds = hybrid.add %d, %s {nnterp.block = 0 : i64} : tensor<?x?x32xbf16>
  %pd = nnterp.point %ds at "d" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x32xbf16>
  %w4 = hybrid.weight "w4" {nnterp.block = 0 : i64} : tensor<8x32xbf16>
  %e = hybrid.linear %s, %w4 {nnterp.block = 0 : i64} : tensor<?x?x32xbf16>, tensor<8x32xbf16>
  %pe = nnterp.point %e at "e" layout "Channels" {nnterp.block = 0 : i64} : tensor<?x?x8xbf16>
  return
}
nnterp.plan {
  nnterp.plan_tap "b" at "b" entry 0 tables ["", "", ""]
  nnterp.plan_tap "c" at "c" entry 1 tables ["", "", ""]
  nnterp.plan_tap "d" at "d" entry 2 tables ["", "", ""]
  nnterp.plan_tap "e" at "e" entry 3 tables ["", "", ""]
}
