// Loops over memory become kernels; the host keeps allocations, calls and loops that start kernels.
// RUN: nnterp-opt %s --nnterp-make-launches --canonicalize --cse --split-input-file | FileCheck %s

// A thread per element; memory is a bare pointer with its dynamic extents, numbers are 64-bit.
// CHECK-LABEL: func.func @elements
// CHECK-SAME: (%[[X:.*]]: memref<?x8xf32>, %[[Y:.*]]: memref<?x8xf32>)
// CHECK-DAG: %[[D:.*]] = memref.dim %[[X]]
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: gpu.launch_func @[[K:parallel_[0-9a-f]+]]::@[[K]] blocks in (%{{.*}}, %c1, %c1) threads in (%c128, %c1, %c1)  args(%{{.*}} : !llvm.ptr, %{{.*}} : i64, %{{.*}} : !llvm.ptr, %{{.*}} : i64)
// CHECK-NOT: scf.parallel
// CHECK: gpu.module @[[K]]
// CHECK: gpu.func @[[K]](%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %{{.*}}: i64) kernel attributes {known_block_size = array<i32: 128, 1, 1>, nvvm.minctasm = 1 : i32}
// CHECK: arith.cmpi ult
// CHECK: memref.load
// CHECK: memref.store
func.func @elements(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %d = memref.dim %x, %c0 : memref<?x8xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%d, %c8) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x8xf32>
    memref.store %v, %y[%i, %j] : memref<?x8xf32>
    scf.reduce
  }
  return
}

// -----

// Equal kernels are one, whatever they are launched on.
// CHECK-LABEL: func.func @twice
// CHECK: gpu.launch_func @[[K:.*]]::@
// CHECK: gpu.launch_func @[[K]]::@
// CHECK-COUNT-1: gpu.module
// CHECK-NOT: gpu.module
func.func @twice(%x: memref<8xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %z, %x[%i] : memref<8xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %z, %y[%i] : memref<8xf32>
    scf.reduce
  }
  return
}

// -----

// A loop that starts kernels stays on the host; its index is a number for the kernel. What the host would read, the kernel reads.
// CHECK-LABEL: func.func @tokens
// CHECK: scf.for %[[T:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK: %[[N:.*]] = arith.index_cast %[[T]] : index to i64
// CHECK: gpu.launch_func {{.*}}%[[N]] : i64
// CHECK-NOT: memref.load
// CHECK: gpu.module
// CHECK: memref.load %{{.*}} : memref<?xi64>
func.func @tokens(%x: memref<?xf32>, %lengths: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = memref.dim %x, %c0 : memref<?xf32>
  %l = memref.load %lengths[%c0] : memref<?xi64>
  %f = arith.sitofp %l : i64 to f32
  scf.for %t = %c0 to %d step %c1 {
    scf.parallel (%i) = (%c0) to (%t) step (%c1) {
      memref.store %f, %x[%i] : memref<?xf32>
      scf.reduce
    }
  }
  return
}

// -----

// What has an order runs in one thread. A failure is stored where the executor looks.
// CHECK-LABEL: func.func @ordered
// CHECK-SAME: (%[[FRAME:.*]]: !llvm.ptr
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[FRAME]][8]
// CHECK: %[[FAILURES:.*]] = llvm.load %[[PLACE]]
// CHECK: gpu.launch_func {{.*}} blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)  args({{.*}}%[[FAILURES]] : !llvm.ptr
// CHECK: gpu.module
// CHECK: %[[REASON:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: scf.for
// CHECK: scf.if
// CHECK: %[[ENTRY:.*]] = llvm.getelementptr %{{.*}}[3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.store %[[REASON]], %[[ENTRY]]
func.func @ordered(%frame: !llvm.ptr, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %d = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %d step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %bad = arith.cmpf oeq, %v, %z : f32
    scf.if %bad {
      nnterp.fail %frame, entry 3 reason 1
    }
  }
  return
}

// -----

// A table of the program travels with each kernel that reads it.
// CHECK: gpu.module @[[K:.*]] {
// CHECK: memref.global "private" constant @[[K]]_table0 : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK: memref.get_global @[[K]]_table0
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
func.func @tables(%y: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %table = memref.get_global @table : memref<2xf32>
  scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    %v = memref.load %table[%i] : memref<2xf32>
    memref.store %v, %y[%i] : memref<2xf32>
    scf.reduce
  }
  return
}

// -----

// A kernel that is written for no extents has all of memory's as parameters. A view of memory is memory too where its elements stand as
// close; another one is made inside, of memory with the extents that its type follows from.
// CHECK-LABEL: func.func @views
// CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<?x20xf32>
// CHECK: gpu.launch_func @[[K:linear_few_[0-9a-f]+]]::@[[K]]
// CHECK: gpu.module @[[K]]
// CHECK: %[[TABLE:.*]] = memref.cast %{{.*}} : memref<?x?xf32> to memref<?x40xf32>
// CHECK: %[[SLICE:.*]] = memref.subview %[[TABLE]][0, 4] [%{{.*}}, 20] [1, 1] : memref<?x40xf32> to memref<?x20xf32, strided<[40, 1], offset: 4>>
// CHECK: memref.load %{{.*}} : memref<?x?xf32>
// CHECK: memref.load %[[SLICE]]{{.*}} : memref<?x20xf32, strided<[40, 1], offset: 4>>
// CHECK: memref.store %{{.*}} : memref<?x?xf32>
func.func @views(%x: memref<?x48xf32>, %w: memref<20x48xf32>, %flat: memref<?x4x5xf32>, %table: memref<?x40xf32>, %y: memref<?x20xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %x, %c0 : memref<?x48xf32>
  %same = memref.collapse_shape %flat [[0], [1, 2]] : memref<?x4x5xf32> into memref<?x20xf32>
  %slice = memref.subview %table[0, 4] [%d, 20] [1, 1] : memref<?x40xf32> to memref<?x20xf32, strided<[40, 1], offset: 4>>
  device.kernel "linear" {} ins(%x, %w : memref<?x48xf32>, memref<20x48xf32>) outs(%y : memref<?x20xf32>) states() {
  ^bb0(%i: index, %j: index, %sum: f32):
    %a = memref.load %same[%i, %j] : memref<?x20xf32>
    %b = memref.load %slice[%i, %j] : memref<?x20xf32, strided<[40, 1], offset: 4>>
    %ab = arith.addf %a, %b : f32
    %v = arith.addf %sum, %ab : f32
    device.yield %v : f32
  }
  return
}
