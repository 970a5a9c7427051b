// RUN: nnterp-opt %s -nnterp-expand-math -canonicalize -cse | FileCheck %s
// RUN: nnterp-opt %s -nnterp-expand-math | FileCheck %s --check-prefix=GONE

// GONE-NOT: math.{{(exp|log|log1p|tanh|erf|sin|cos|rsqrt)}}
// GONE-NOT: math.fma

// float32 is evaluated in float64 and rounded once, at the end.
// CHECK-LABEL: func @exp_f32
//  CHECK-SAME: (%[[X:.*]]: f32)
//       CHECK:   %[[WIDE:.*]] = arith.extf %[[X]] : f32 to f64
//   CHECK-NOT:   f32
//       CHECK:   %[[BIASED:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
//       CHECK:   %[[SHIFTED:.*]] = arith.shli %[[BIASED]]
//       CHECK:   %[[POWER:.*]] = arith.bitcast %[[SHIFTED]] : i64 to f64
//       CHECK:   %[[Y:.*]] = arith.mulf %{{.*}}, %[[POWER]] : f64
//       CHECK:   %[[R:.*]] = arith.truncf %[[Y]] : f64 to f32
//       CHECK:   return %[[R]]
func.func @exp_f32(%x: f32) -> f32 {
  %y = math.exp %x : f32
  return %y : f32
}

// float64 is not narrowed, and denormal results take the power of two in two steps.
// CHECK-LABEL: func @exp_f64
//   CHECK-NOT:   f32
//       CHECK:   arith.shrsi
//       CHECK:   arith.mulf
//       CHECK:   arith.mulf
//       CHECK:   return
func.func @exp_f64(%x: f64) -> f64 {
  %y = math.exp %x : f64
  return %y : f64
}

// CHECK-LABEL: func @vectors
//       CHECK:   arith.extf %{{.*}} : vector<4x2xf32> to vector<4x2xf64>
//       CHECK:   arith.bitcast %{{.*}} : vector<4x2xf64> to vector<4x2xi64>
//       CHECK:   arith.truncf %{{.*}} : vector<4x2xf64> to vector<4x2xf32>
//       CHECK:   arith.remsi
func.func @vectors(%x: vector<4x2xf32>, %i: i64) -> (vector<4x2xf32>, i64) {
  %y = math.erf %x : vector<4x2xf32>
  %unrelated = arith.remsi %i, %i : i64
  return %y, %unrelated : vector<4x2xf32>, i64
}

// CHECK-LABEL: func @all
func.func @all(%x: f32, %y: f64) -> (f32, f64) {
  %0 = math.exp %x : f32
  %1 = math.log %0 : f32
  %2 = math.log1p %1 : f32
  %3 = math.tanh %2 : f32
  %4 = math.erf %3 : f32
  %5 = math.sin %4 : f32
  %6 = math.cos %5 : f32
  %7 = math.rsqrt %6 : f32
  %8 = math.log %y : f64
  %9 = math.log1p %8 : f64
  %10 = math.tanh %9 : f64
  %11 = math.erf %10 : f64
  %12 = math.sin %11 : f64
  %13 = math.cos %12 : f64
  %14 = math.rsqrt %13 : f64
  return %7, %14 : f32, f64
}

// What every target has stays.
// CHECK-LABEL: func @native
//       CHECK:   math.sqrt
//       CHECK:   math.absf
func.func @native(%x: f32) -> f32 {
  %y = math.sqrt %x : f32
  %z = math.absf %y : f32
  return %z : f32
}

// CHECK-LABEL: func @widen_half
//   CHECK-NOT:   arith.extf {{.*}} f16
//       CHECK:   arith.bitcast %{{.*}} : f16 to i16
//       CHECK:   arith.extf %{{.*}} : f32 to f64
//       CHECK:   return
func.func @widen_half(%x: f16) -> f64 {
  %y = arith.extf %x : f16 to f64
  return %y : f64
}
