// Instructions of the GPU are intrinsics, so that the conversion to NVVM makes no calls of a library of them.
// RUN: nnterp-opt %s --pass-pipeline='builtin.module(gpu.module(nnterp-device-math))' | FileCheck %s

// CHECK-LABEL: gpu.func @f
// CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f64) -> f64
// CHECK: llvm.call_intrinsic "llvm.fabs"(%{{.*}}) : (f32) -> f32
// CHECK: llvm.call_intrinsic "llvm.fma"(%{{.*}}, %{{.*}}, %{{.*}}) : (f32, f32, f32) -> f32
// CHECK-NOT: math.
gpu.module @m {
  gpu.func @f(%x: f64, %y: f32) -> (f64, f32) {
    %a = math.sqrt %x : f64
    %b = math.absf %y : f32
    %c = math.fma %b, %y, %y : f32
    gpu.return %a, %c : f64, f32
  }
}
