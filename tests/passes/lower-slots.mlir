// RUN: nnterp-opt %s -nnterp-lower-slots -canonicalize -cse | FileCheck %s

// The pointer the executor sets, and allocation through it.
//       CHECK: llvm.mlir.global external @nnterp_host()
// CHECK-LABEL: llvm.func internal @_mlir_memref_to_llvm_alloc
//  CHECK-SAME:   (%[[BYTES:.*]]: i64) -> (!llvm.ptr {llvm.noalias})
//       CHECK:   %[[ADDRESS:.*]] = llvm.mlir.addressof @nnterp_host
//       CHECK:   %[[HOST:.*]] = llvm.load %[[ADDRESS]]
//       CHECK:   %[[ALLOCATE:.*]] = llvm.getelementptr %[[HOST]][16]
//       CHECK:   %[[CALLEE:.*]] = llvm.load %[[ALLOCATE]]
//       CHECK:   llvm.getelementptr %[[HOST]][8]
//       CHECK:   llvm.call %[[CALLEE]](%{{.*}}, %[[BYTES]]) : !llvm.ptr, (!llvm.ptr, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func internal @_mlir_memref_to_llvm_aligned_alloc
//  CHECK-SAME:   (%{{.*}}: i64, %[[ALIGNED:.*]]: i64)
//       CHECK:   llvm.call %{{.*}}(%{{.*}}, %[[ALIGNED]])
// CHECK-LABEL: llvm.func internal @_mlir_memref_to_llvm_free
//       CHECK:   llvm.getelementptr %{{.*}}[24]

// Outlined functions are neither exported nor inlined; a slot is found by call site and parameter.
//       CHECK: llvm.mlir.global internal constant @two_sites.sites(dense<{{\[\[}}7, 3], [9, 4]]> : tensor<2x2xi64>)
// CHECK-LABEL: func.func private @two_sites
//  CHECK-SAME:   (%[[FRAME:.*]]: !llvm.ptr, %[[SITE:.*]]: i64)
//  CHECK-SAME:   attributes {llvm.linkage = #llvm.linkage<internal>
//  CHECK-SAME:   no_inline
//       CHECK:   %[[TABLE:.*]] = llvm.mlir.addressof @two_sites.sites
//       CHECK:   %[[ENTRY:.*]] = llvm.getelementptr %[[TABLE]][0, %[[SITE]], 1]
//       CHECK:   %[[NUMBER:.*]] = llvm.load %[[ENTRY]] invariant {alignment = 8 : i64} : !llvm.ptr -> i64
//       CHECK:   %[[SLOTS:.*]] = llvm.load %[[FRAME]] invariant
//       CHECK:   %[[SLOT:.*]] = llvm.getelementptr %[[SLOTS]][%[[NUMBER]]] : {{.*}} !llvm.array<56 x i8>
//       CHECK:   %[[DATA:.*]] = llvm.load %[[SLOT]] invariant
//       CHECK:   llvm.getelementptr %[[SLOT]][16]
//       CHECK:   %[[ROWS:.*]] = llvm.load
//       CHECK:   builtin.unrealized_conversion_cast {{.*}} to memref<4x?x8xf32>
func.func private @two_sites(%frame: !llvm.ptr, %site: i64) -> f32 attributes {nnterp.sites = dense<[[7, 3], [9, 4]]> : tensor<2x2xi64>} {
  %m = nnterp.slot %frame, %site [1] : memref<4x?x8xf32>
  %i = arith.constant 0 : index
  %x = memref.load %m[%i, %i, %i] : memref<4x?x8xf32>
  return %x : f32
}

// CHECK-LABEL: func.func @nnterp_main
//   CHECK-NOT:   nnterp.
//       CHECK:   %[[HOST:.*]] = llvm.load
//       CHECK:   llvm.getelementptr %[[HOST]][32]
//       CHECK:   llvm.call %{{.*}}(%{{.*}}, %[[ONE:.*]], %[[EIGHT:.*]]) : !llvm.ptr, (!llvm.ptr, i64, i64) -> ()
//       CHECK:   llvm.getelementptr %{{.*}}[40]
//       CHECK:   llvm.call
func.func @nnterp_main(%frame: !llvm.ptr) {
  nnterp.progress %frame, 1 of 8
  nnterp.fail %frame, entry 2 reason 1
  return
}
