// A launch is a call of the host's table: number, geometry, addresses of parameters.
// RUN: nnterp-opt %s --nnterp-lower-slots --nnterp-lower-launches --canonicalize | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @first {
    gpu.func @first() kernel {
      gpu.return
    }
  }
  gpu.module @second {
    gpu.func @second(%p: !llvm.ptr, %n: i64) kernel {
      gpu.return
    }
  }
  // The arrays are made once per call of the function, not once per launch of a loop.
  // CHECK-LABEL: func.func @host
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[N:.*]]: i64, %[[G:.*]]: index)
  // CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK-DAG: %[[SEVEN:.*]] = llvm.mlir.constant(7 : i64)
  // CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i64)
  // CHECK-DAG: %[[PARAMETERS:.*]] = llvm.alloca %[[TWO]] x i64
  // CHECK-DAG: %[[GEOMETRY:.*]] = llvm.alloca %[[SEVEN]] x i64
  // CHECK-DAG: %[[VALUES:.*]] = llvm.alloca %[[TWO]] x i64
  // CHECK-DAG: llvm.store %[[P]], %{{.*}} : !llvm.ptr, !llvm.ptr
  // CHECK-DAG: llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
  // CHECK: llvm.getelementptr %{{.*}}[48]
  // CHECK: llvm.call %{{.*}}(%{{.*}}, %[[ONE]], %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
  // CHECK-NOT: gpu.launch_func
  func.func @host(%p: !llvm.ptr, %n: i64, %g: index) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @second::@second blocks in (%g, %c1, %c1) threads in (%c128, %c1, %c1) args(%p : !llvm.ptr, %n : i64)
    return
  }
}
