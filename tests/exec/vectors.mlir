// Every lane of an expanded function has the bits of the scalar function: main counts lanes that differ.
// RUN: nnterp-opt %s -nnterp-expand-math -convert-to-llvm -reconcile-unrealized-casts | mlir-runner -e main -entry-point-result=i32 | FileCheck %s

// CHECK: {{^0$}}
func.func private @differ(%a: f64, %b: f64) -> i32 {
  %x = arith.bitcast %a : f64 to i64
  %y = arith.bitcast %b : f64 to i64
  %d = arith.cmpi ne, %x, %y : i64
  %n = arith.extui %d : i1 to i32
  return %n : i32
}
func.func private @lanes(%x: vector<2xf64>, %y: vector<2xf64>) -> i32 {
  %x0 = vector.extract %x[0] : f64 from vector<2xf64>
  %x1 = vector.extract %x[1] : f64 from vector<2xf64>
  %y0 = vector.extract %y[0] : f64 from vector<2xf64>
  %y1 = vector.extract %y[1] : f64 from vector<2xf64>
  %n0 = call @differ(%x0, %y0) : (f64, f64) -> i32
  %n1 = call @differ(%x1, %y1) : (f64, f64) -> i32
  %n = arith.addi %n0, %n1 : i32
  return %n : i32
}
func.func @main() -> i32 {
  %a = arith.constant 0.73 : f64
  %b = arith.constant -12.5 : f64
  %v = vector.from_elements %a, %b : vector<2xf64>

  %exp = math.exp %v : vector<2xf64>
  %expA = math.exp %a : f64
  %expB = math.exp %b : f64
  %expAB = vector.from_elements %expA, %expB : vector<2xf64>
  %n0 = call @lanes(%exp, %expAB) : (vector<2xf64>, vector<2xf64>) -> i32

  %cos = math.cos %v : vector<2xf64>
  %cosA = math.cos %a : f64
  %cosB = math.cos %b : f64
  %cosAB = vector.from_elements %cosA, %cosB : vector<2xf64>
  %n1 = call @lanes(%cos, %cosAB) : (vector<2xf64>, vector<2xf64>) -> i32

  // Through float32, as its own expansion does.
  %narrow = arith.truncf %v : vector<2xf64> to vector<2xf32>
  %erf32 = math.erf %narrow : vector<2xf32>
  %erf = arith.extf %erf32 : vector<2xf32> to vector<2xf64>
  %a32 = arith.truncf %a : f64 to f32
  %b32 = arith.truncf %b : f64 to f32
  %erfA32 = math.erf %a32 : f32
  %erfB32 = math.erf %b32 : f32
  %erfA = arith.extf %erfA32 : f32 to f64
  %erfB = arith.extf %erfB32 : f32 to f64
  %erfAB = vector.from_elements %erfA, %erfB : vector<2xf64>
  %n2 = call @lanes(%erf, %erfAB) : (vector<2xf64>, vector<2xf64>) -> i32

  %n01 = arith.addi %n0, %n1 : i32
  %n = arith.addi %n01, %n2 : i32
  return %n : i32
}
