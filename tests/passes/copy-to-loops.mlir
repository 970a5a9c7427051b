// RUN: nnterp-opt %s -pass-pipeline="builtin.module(func.func(nnterp-copy-to-loops,convert-linalg-to-loops))" | FileCheck %s

// CHECK-LABEL: func @strided
//   CHECK-NOT:   memref.copy
//       CHECK:   scf.for
//       CHECK:     scf.for
//       CHECK:       %[[X:.*]] = memref.load %{{.*}} : memref<?x4xf32, strided<[8, 1]>>
//       CHECK:       memref.store %[[X]], %{{.*}} : memref<?x4xf32>
func.func @strided(%a: memref<?x4xf32, strided<[8, 1]>>, %b: memref<?x4xf32>) {
  memref.copy %a, %b : memref<?x4xf32, strided<[8, 1]>> to memref<?x4xf32>
  return
}
